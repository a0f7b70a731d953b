"""The program that a job is about, as it stands in the editor."""

from __future__ import annotations

from typing import Any

from tdl.compiler.schedule.check import diagnose
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse, read_import
from tdl.language.cases import Case, check_case
from tdl.language.scope import Declaration
from tdl.language.source import Source


class Failed(Exception):
    """Why a job has no result: something about the program, in words for whoever wrote it."""


def analysis_of(payload: dict[str, Any]) -> Analysis:
    """The analysis of the text of a job; modules that are open in the editor are as they stand there."""
    texts: dict[str, str] = payload["texts"]
    path: str = payload["path"]

    def read(other: str) -> Source | str | None:
        return Source(other, texts[other]) if other in texts else read_import(other)

    return analyse(Source(path, texts[path]), read)


def sound_analysis(payload: dict[str, Any]) -> Analysis:
    """The same of a program that can be run: one without errors, schedules included."""
    analysis = analysis_of(payload)
    for diagnostic in diagnose(analysis):
        if diagnostic.severity == "error":
            line = analysis.source.position(diagnostic.primary.start).line
            raise Failed(f"line {line} has an error: {diagnostic.message}")
    return analysis


def case_of(analysis: Analysis, name: str, kind: type[syntax.Test] | type[syntax.Bench]) -> Case:
    """The test or bench of a name."""
    word = "test" if kind is syntax.Test else "bench"
    for entry in analysis.module.entries:
        item = entry.placed.item
        if isinstance(item, kind) and item.name.text == name:
            case = check_case(entry.declaration).case
            if case is not None:
                return case
            raise Failed(f"the {word} `{name}` has errors")
    raise Failed(f"there is no {word} `{name}`")


def op_of(analysis: Analysis, name: str) -> Declaration:
    """The op of a name, the module's own or one it imports."""
    op = analysis.module.ops.get(name)
    if op is None:
        raise Failed(f"there is no op `{name}`")
    return op
