"""`tdlc test`: run the `test` lines of files, and say where a result is not what it should be."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from tdl.compiler.cli.duration import duration
from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.files import find_sources
from tdl.compiler.cli.programs import checked_file
from tdl.compiler.cli.progress import track
from tdl.compiler.cli.screen import Color, Screen, shown, stdout
from tdl.language.frame import Fragment, Line, Style

if TYPE_CHECKING:
    from tdl.compiler.trial import Verdict
    from tdl.language.analysis import Analysis
    from tdl.language.cases import Case


@dataclass(frozen=True)
class Trial:
    """One test of a file, and the place of its line."""

    path: str
    line: int
    case: Case


def run_tests(
    files: Annotated[
        list[str], typer.Argument(help="Files or directories; `-` is standard input.", metavar="FILES...")
    ],
    name: Annotated[str | None, typer.Option("-k", metavar="NAME", help="Only tests with this in their name.")] = None,
    seed: Annotated[int, typer.Option(help="Which random inputs to take.")] = 0,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Run tests: compiled code must equal the reference evaluator, and both what a test expects."""
    from tdl.compiler.trial import try_case

    screen = stdout(color)
    trials = [
        trial for path in find_sources(files) for trial in _trials(checked_file(path, color)) if _wanted(trial, name)
    ]
    if not trials:
        raise Fault("there is no test" + (f" with `{name}` in its name" if name else " in what was given"))
    widths = _widths(trials)
    failed, path = 0, ""
    for trial in track(trials, "testing"):
        if trial.path != path:
            path = trial.path
            screen.write([(Fragment(shown(path), "message"),)])
        start = time.perf_counter()
        verdict = try_case(trial.case, seed)
        screen.write(_lines(trial, verdict, time.perf_counter() - start, widths, screen))
        sys.stdout.flush()
        failed += not verdict.is_good
    screen.write([_summary(len(trials) - failed, failed)])
    if failed:
        raise typer.Exit(ERRORS)


def _trials(analysis: Analysis) -> Iterator[Trial]:
    from tdl.language import syntax
    from tdl.language.cases import check_case

    for entry in analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Test):
            case = check_case(entry.declaration).case
            if case is not None:
                line = analysis.source.position(entry.placed.offset + entry.placed.item.span.start).line
                yield Trial(analysis.source.path, line, case)


def _widths(trials: Sequence[Trial]) -> tuple[int, int, int]:
    """Of the columns: names, ops, arguments; the last within reason."""
    columns = zip(*((len(trial.case.name), len(trial.case.op.name), len(_arguments(trial.case))) for trial in trials))
    names, ops, arguments = map(max, columns)
    return names, ops, min(arguments, 40)


def _wanted(trial: Trial, name: str | None) -> bool:
    return name is None or name in trial.case.name


# ---- what is printed


def _lines(
    trial: Trial, verdict: Verdict, seconds: float, widths: tuple[int, int, int], screen: Screen
) -> Iterator[Line]:
    boxed = screen.colored
    good, bad = ("✓", "✗") if boxed else ("ok  ", "FAIL")
    style: Style = "good" if verdict.is_good else "error"
    case = trial.case
    yield (
        Fragment(f"  {good if verdict.is_good else bad} ", style),
        Fragment(case.name.ljust(widths[0]), "" if verdict.is_good else "error"),
        Fragment(f"  {case.op.name.ljust(widths[1])}  ", "place"),
        Fragment(f"{_arguments(case).ljust(widths[2])}  {duration(seconds):>7}", "dim"),
    )
    if verdict.failure is None:
        return
    indent = " " * (6 if boxed else 9)
    yield (Fragment(f"{indent}{verdict.failure}", "message"),)
    difference = verdict.difference
    if difference is None:
        return
    element = f"{difference.tensor}[{', '.join(map(str, difference.index))}]" if difference.index else difference.tensor
    yield (
        Fragment(f"{indent}{element} is "),
        Fragment(_value(difference.found, case, difference.tensor), "removed"),
        Fragment(", not "),
        Fragment(_value(difference.wanted, case, difference.tensor), "added"),
        Fragment(f", and {difference.tolerance:.2g} is tolerated" if difference.tolerance else ""),
    )
    yield (
        Fragment(f"{indent}{difference.count} of {difference.size} elements differ   {trial.path}:{trial.line}", "dim"),
    )


def _value(value: float, case: Case, tensor: str) -> str:
    """A number with the digits that its dtype has."""
    dtype = case.bound.program.tensors[tensor].dtype
    return f"{value:.7g}" if dtype.is_float and dtype.name != "f64" else str(value)


def _arguments(case: Case) -> str:
    """`M=7 S=[3, 50] stride=2`: sizes, packs as lists, and the parameters that the test gives."""
    packs: dict[str, list[int]] = {name: [] for name in case.bound.program.packs}
    sizes: dict[str, object] = {}
    for symbol, size in case.bound.sizes.items():
        pack = symbol.name.rpartition(".")[0]
        if pack in packs:
            packs[pack].append(size)
            sizes[pack] = packs[pack]
        else:
            sizes[symbol.name] = size
    values = {name: value for name, value in case.bound.program.parameters.items() if value is not None}
    return " ".join(f"{name}={value}" for name, value in {**sizes, **values}.items())


def _summary(passed: int, failed: int) -> Line:
    parts: Iterable[Fragment] = [
        Fragment(f"{passed} passed", "good" if not failed else ""),
        *([Fragment(", "), Fragment(f"{failed} failed", "error")] if failed else []),
    ]
    return tuple(parts)
