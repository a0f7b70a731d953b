"""`tdlc test`: run the `test` lines of files and sample their reducers, and show what is not as it should be."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from tdl.compiler.cli.duration import duration
from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.files import find_sources
from tdl.compiler.cli.programs import checked_file, checked_program
from tdl.compiler.cli.progress import Bar
from tdl.compiler.cli.screen import Color, shown, stdout
from tdl.compiler.cli.trials import Trial, trials_of
from tdl.language.frame import Fragment, Line, Style

WIDEST = 40
"""Of the column of arguments; longer ones push the time to the right."""


def run_tests(
    files: Annotated[
        list[str], typer.Argument(help="Files or directories; `-` is standard input.", metavar="FILES...")
    ],
    name: Annotated[str | None, typer.Option("-k", metavar="NAME", help="Only tests with this in their name.")] = None,
    seed: Annotated[int, typer.Option(help="Which random inputs to take.", min=0)] = 0,
    scheduled: Annotated[
        bool, typer.Option("--schedule/--no-schedule", help="Under the file's schedules, or as without any.")
    ] = True,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Run tests: compiled code must equal the reference evaluator, and both what a test expects."""
    screen = stdout(color)
    read = checked_file if scheduled else checked_program
    every = [trial for path in find_sources(files) for trial in trials_of(read(path, color), scheduled)]
    trials = [trial for trial in every if name is None or name in trial.name]
    if not trials:
        raise Fault("there is no test" + (f" with `{name}` in its name" if name else " in what was given"))
    widths, failed, path = _widths(trials), 0, ""
    bar = Bar("testing", len(trials))
    for trial in bar.over(trials):
        start = time.perf_counter()
        wrong = trial.attempt(seed)
        seconds = time.perf_counter() - start
        bar.clear()
        if trial.path != path:
            path = trial.path
            screen.write([(Fragment(shown(path), "message"),)])
        screen.write(_lines(trial, wrong, seconds, widths, screen.colored))
        sys.stdout.flush()
        failed += bool(wrong)
    screen.write([_summary(len(trials) - failed, failed)])
    if failed:
        raise typer.Exit(ERRORS)


def _widths(trials: Sequence[Trial]) -> tuple[int, int, int]:
    """Of the columns: names, what they are about, arguments."""
    names, subjects, arguments = (
        max(map(len, column)) for column in zip(*((each.name, each.subject, each.arguments) for each in trials))
    )
    return names, subjects, min(arguments, WIDEST)


def _lines(
    trial: Trial, wrong: Sequence[Line], seconds: float, widths: tuple[int, int, int], boxed: bool
) -> Iterator[Line]:
    good, bad = ("✓", "✗") if boxed else ("ok  ", "FAIL")
    style: Style = "error" if wrong else "good"
    yield (
        Fragment(f"  {bad if wrong else good} ", style),
        Fragment(trial.name.ljust(widths[0]), "error" if wrong else ""),
        Fragment(f"  {trial.subject.ljust(widths[1])}  ", "place"),
        Fragment(f"{trial.arguments.ljust(widths[2])}  {duration(seconds):>7}", "dim"),
    )
    indent = Fragment(" " * (6 if boxed else 9))
    for line in wrong:
        yield (indent, *line)
    if wrong:
        yield (indent, Fragment(f"{shown(trial.path)}:{trial.line}", "place"))


def _summary(passed: int, failed: int) -> Line:
    if not failed:
        return (Fragment(f"{passed} passed", "good"),)
    return (Fragment(f"{passed} passed, "), Fragment(f"{failed} failed", "error"))
