"""`tdlc check`: everything that is wrong with some files."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated

import typer
from tdl.compiler.cli.fault import ERRORS
from tdl.compiler.cli.files import find_sources, read_source
from tdl.compiler.cli.formats import Found, as_github, as_json
from tdl.compiler.cli.programs import find_source
from tdl.compiler.cli.screen import Color, Screen, stdout
from tdl.language.frame import Fragment, Line, Style
from tdl.language.source import Source


class Format(str, Enum):
    """The values of `--format`."""

    text = "text"
    json = "json"
    github = "github"


def check(
    files: Annotated[
        list[str], typer.Argument(help="Files or directories; `-` is standard input.", metavar="FILES...")
    ],
    format: Annotated[Format, typer.Option(help="How to print what is found.")] = Format.text,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Check programs and report what is wrong with them. Silent when all is well."""
    paths = find_sources(files)
    found = [entry for path in paths for entry in examine(path)]
    screen = stdout(color)
    match format:
        case Format.json:
            screen.print(as_json(found))
        case Format.github:
            screen.print(as_github(found))
        case Format.text:
            _report(found, len(paths), screen)
    if any(diagnostic.severity == "error" for _, diagnostic in found):
        raise typer.Exit(ERRORS)


def examine(path: str) -> list[Found]:
    """The diagnostics of one file, in its order."""
    source, fault = read_source(path)
    if fault is not None:
        return [(source, fault)]
    from tdl.compiler.schedule.check import diagnose
    from tdl.language.analysis import analyse

    return [(source, diagnostic) for diagnostic in diagnose(analyse(source))]


def _report(found: Sequence[Found], files: int, screen: Screen) -> None:
    for source, diagnostic in found:
        screen.diagnostics([diagnostic], source, find_source)
    if found:
        screen.write([summary(found, files)])


def summary(found: Sequence[Found], files: int) -> Line:
    """`2 errors and 1 warning in 3 files checked`."""
    counts = [
        _counted(sum(diagnostic.severity == kind for _, diagnostic in found), kind)
        for kind in ("error", "warning", "note")
    ]
    parts = [count for count in counts if count]
    wrong: set[Source] = {source for source, _ in found}
    where = _counted(len(wrong), "file") + (f" of {files}" if files > len(wrong) else "")
    style: Style = "error" if counts[0] else "warning"
    return (Fragment(" and ".join(parts), style), Fragment(f" in {where}"))


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""
