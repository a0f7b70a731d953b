"""An op at a stage, at sizes, after so many lines of its schedule: the text, and what each line of it came from.

Sizes are those of a case of the op, given ones, or left open. Dtypes that nothing fixes are the plainest of their kind.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_args

from tdl.compiler.assembly import hot_loop
from tdl.compiler.cli.trials import arguments_of
from tdl.compiler.linked import LinkedLine, linked_lines
from tdl.compiler.preview import Stage
from tdl.compiler.schedule.choose import schedules_of
from tdl.compiler.steps import Steps, steps_of
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.binding import BindError
from tdl.language.cases import Case, check_case, settings_of
from tdl.language.scope import Declaration
from tdl.lsp.worker.texts import Failed, analysis_of, op_of

PLAIN: dict[str, object] = {"float": "f32", "number": "f32", "dtype": "f32", "integer": "i32", "int": 1}
"""The value of a parameter of a kind, where nothing says another."""

_ALIGNED = re.compile(r" {2,}# ")


@dataclass(frozen=True)
class Settings:
    """Everything that the code of an op depends on but the op and its schedules. Hashable: results are kept by it."""

    parameters: tuple[tuple[str, object], ...]
    sizes: tuple[tuple[str, int | tuple[int, ...]], ...]
    words: str

    @classmethod
    def of(cls, parameters: Mapping[str, object], sizes: Mapping[str, Any], words: str) -> Settings:
        fixed = ((name, tuple(size) if isinstance(size, list | tuple) else size) for name, size in sizes.items())
        return cls(tuple(parameters.items()), tuple(fixed), words)


def preview(payload: dict[str, Any], progress: object) -> dict[str, Any]:
    """`{"title", "lines", "links", ...}`: links are `[line, start, end, schedule line]`, spans relative to the op."""
    analysis = analysis_of(payload)
    op = op_of(analysis, payload["op"])
    settings = _settings(analysis, op, payload["sizes"])
    schedules = tuple(schedules_of(op, analysis.module.schedules))
    stage, step = payload["stage"], payload.get("step")
    if stage not in get_args(Stage):
        raise Failed(f"there is no stage `{stage}` (there are {', '.join(get_args(Stage))})")
    try:
        steps = _steps(op, schedules, settings)
        lines = _lines(op, schedules, settings, stage, step)
        before = _lines(op, schedules, settings, stage, step - 1) if stage == "nest" and step else ()
    except (BindError, ValueError) as error:
        raise Failed(str(error)) from None
    text = [line.text for line in lines]
    return {
        "words": settings.words,
        "lines": text,
        "links": [list(link) for link in _links(lines)],
        "changes": _changes([line.text for line in before], text) if before else None,
        "hotLoop": _hot_loop(text) if stage == "asm" else None,
        "op": {"path": op.path, "offset": op.offset},
        "schedule": _schedule(steps, schedules),
        "refused": [
            {"line": number - 1, "message": each.refusal.message}
            for number, each in enumerate(steps.steps)
            if each.refusal is not None
        ],
    }


# ---- what the code depends on


def _settings(analysis: Analysis, op: Declaration, wanted: str | dict[str, Any]) -> Settings:
    if isinstance(wanted, dict):
        return Settings.of(_plain_parameters(op), wanted, " ".join(f"{name}={size}" for name, size in wanted.items()))
    case = None if wanted == "open" else _case(analysis, op, wanted)
    if case is None:
        return Settings.of(_plain_parameters(op), {}, "open sizes")
    parameters, sizes = settings_of(case)
    return Settings.of(parameters, sizes, arguments_of(case))


def _case(analysis: Analysis, op: Declaration, wanted: str) -> Case | None:
    """The first bench of an op, or the first test, whichever is wanted if there is one; or the one of a name."""
    found: dict[str, list[Case]] = {"bench": [], "test": []}
    for entry in analysis.module.entries:
        item = entry.placed.item
        if isinstance(item, syntax.Test | syntax.Bench):
            case = check_case(entry.declaration).case
            if case is not None and case.op == op:
                found["bench" if isinstance(item, syntax.Bench) else "test"].append(case)
    if wanted in found:
        other = "test" if wanted == "bench" else "bench"
        return next(iter((*found[wanted], *found[other])), None)
    named = next((case for cases in found.values() for case in cases if case.name == wanted), None)
    if named is None:
        raise Failed(f"`{op.name}` has no test or bench `{wanted}`")
    return named


def _plain_parameters(op: Declaration) -> dict[str, object]:
    """Values for the compile-time parameters that have no default: code is made for one value of each."""
    item = op.item
    assert isinstance(item, syntax.Op)
    found: dict[str, object] = {}
    for parameter in item.params:
        kind = "" if parameter.kind is None else parameter.kind.text
        if parameter.default is None and kind in PLAIN:
            found[parameter.name.text] = PLAIN[kind]
    return found


# ---- what it comes to


@lru_cache(maxsize=64)
def _steps(op: Declaration, schedules: tuple[Declaration, ...], settings: Settings) -> Steps:
    return steps_of(op, schedules, parameters=dict(settings.parameters), sizes=dict(settings.sizes))


@lru_cache(maxsize=128)
def _lines(
    op: Declaration, schedules: tuple[Declaration, ...], settings: Settings, stage: Stage, step: int | None
) -> tuple[LinkedLine, ...]:
    return linked_lines(_steps(op, schedules, settings).nest(step), stage)


def _links(lines: tuple[LinkedLine, ...]) -> list[tuple[int, int, int, int]]:
    found = []
    for number, line in enumerate(lines):
        origin = line.origin
        if origin is not None and (origin.definition >= 0 or origin.line >= 0):
            start, end = (origin.span.start, origin.span.end) if origin.definition >= 0 else (-1, -1)
            found.append((number, start, end, origin.line))
    return found


def _schedule(steps: Steps, schedules: tuple[Declaration, ...]) -> dict[str, Any] | None:
    """The schedule's item with the spans of its lines, which are relative to it.

    The one in the file as it is now: what is remembered may have stood elsewhere.
    """
    schedule = next((each for each in schedules if each == steps.schedule), None)
    if schedule is None:
        return None
    assert isinstance(schedule.item, syntax.Schedule)
    spans = [[line.span.start, line.span.end] for line in schedule.item.body]
    return {"path": schedule.path, "offset": schedule.offset, "spans": spans}


def _changes(before: list[str], after: list[str]) -> dict[str, Any]:
    """The numbers of the lines that came, and those that went with where they stood; blanks are no change."""
    old, new = ([_ALIGNED.sub("  # ", line).strip() for line in lines] for lines in (before, after))
    added, removed = [], []
    for kind, first, last, start, end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "equal":
            added += list(range(start, end))
            removed += [{"before": start, "text": line} for line in before[first:last]]
    return {"added": added, "removed": removed}


def _hot_loop(lines: list[str]) -> dict[str, Any] | None:
    loop = hot_loop("\n".join(lines))
    if loop is None:
        return None
    counts = dict(loop.counts)
    return {
        "startLine": loop.first,
        "endLine": loop.last,
        "counts": counts,
        "spills": counts.get("spill", 0),
        "vectorBits": loop.width,
        "summary": loop.summary(),
    }
