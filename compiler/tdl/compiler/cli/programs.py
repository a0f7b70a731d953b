"""A file that a command is to run: read, checked, and refused with its errors shown where it has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from tdl.compiler.cli.fault import ERRORS
from tdl.compiler.cli.files import read_text
from tdl.compiler.cli.screen import Color, stderr

if TYPE_CHECKING:
    from tdl.language.analysis import Analysis
    from tdl.language.source import Source


def checked_file(path: str, color: Color = Color.auto) -> Analysis:
    """The analysis of a file without errors; those of one that has some are shown, and the command ends."""
    from tdl.compiler.schedule.check import check_schedules

    analysis = checked_program(path, color)
    refused = check_schedules(analysis)
    stderr(color).diagnostics(refused, analysis.source, find_source)
    if any(each.severity == "error" for each in refused):
        raise typer.Exit(ERRORS)
    return analysis


def checked_program(path: str, color: Color = Color.auto) -> Analysis:
    """The same with schedules whose lines may be refused."""
    return checked_source(read_text(path), color)


def checked_source(source: Source, color: Color = Color.auto) -> Analysis:
    """The same of a text that was read."""
    from tdl.language.analysis import analyse

    analysis = analyse(source)
    stderr(color).diagnostics(analysis.diagnostics, analysis.source, find_source)
    if analysis.has_errors:
        raise typer.Exit(ERRORS)
    return analysis


def find_source(path: str) -> Source | None:
    """The text of a module that a diagnostic speaks of: of the standard library, or on disk."""
    from tdl.language.analysis import read_file, standard

    return standard(path[1:-1]) if path.startswith("<std") else read_file(path)
