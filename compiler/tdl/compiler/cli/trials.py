"""What `tdlc test` tries in a file: its `test` lines, and the promises of its reducers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tdl.language import syntax
from tdl.language.frame import Fragment, Line

if TYPE_CHECKING:
    from tdl.language.analysis import Analysis
    from tdl.language.cases import Case
    from tdl.language.scope import Declaration

Attempt = Callable[[int], tuple[Line, ...]]
"""Tries with a seed; the lines say what is wrong, and there are none where all is well."""


@dataclass(frozen=True)
class Trial:
    """One thing to try: its place, its name, the op or kind of thing it is about, and with what."""

    path: str
    line: int
    name: str
    subject: str
    arguments: str
    attempt: Attempt


def trials_of(analysis: Analysis, scheduled: bool = True) -> Iterator[Trial]:
    """Everything to try in a checked file, in its order; ops as its schedules say, or as without any."""
    from tdl.language.cases import check_case

    for entry in analysis.module.entries:
        item = entry.placed.item
        place = analysis.source.path, analysis.source.position(entry.placed.offset + item.span.start).line
        if isinstance(item, syntax.Reducer):
            yield Trial(*place, item.name.text, "reducer", "random values", partial(_sample, item, analysis))
        elif isinstance(item, syntax.Test):
            case = check_case(entry.declaration).case
            if case is not None:
                attempt = partial(_compare, case, analysis.module.schedules if scheduled else ())
                yield Trial(*place, case.name, case.op.name, arguments_of(case), attempt)


def _sample(reducer: syntax.Reducer, analysis: Analysis, seed: int) -> tuple[Line, ...]:
    from tdl.compiler.laws import find_breach

    breach = find_breach(reducer, analysis, seed)
    if breach is None:
        return ()
    words = f"the reducer `{reducer.name.text}` {breach.words}"
    return ((Fragment(words, "message"),), (Fragment(breach.example),))


def _compare(case: Case, schedules: Sequence[Declaration], seed: int) -> tuple[Line, ...]:
    from tdl.compiler.trial import try_case

    verdict = try_case(case, seed, schedules)
    if verdict.failure is None:
        return ()
    head, *more = ((Fragment(line, "message"),) for line in verdict.failure.splitlines())
    difference = verdict.difference
    if difference is None:
        return (head, *more)
    index = f"[{', '.join(map(str, difference.index))}]" if difference.index else ""
    found, wanted = (_value(value, case, difference.tensor) for value in (difference.found, difference.wanted))
    return (
        head,
        (
            Fragment(f"{difference.tensor}{index} is "),
            Fragment(found, "removed"),
            Fragment(", not "),
            Fragment(wanted, "added"),
            Fragment(f", and {difference.tolerance:.2g} is tolerated" if difference.tolerance else ""),
        ),
        (Fragment(f"{difference.count} of {difference.size} elements differ", "dim"),),
    )


def _value(value: float, case: Case, tensor: str) -> str:
    """A number with the digits that its dtype has."""
    dtype = case.bound.program.tensors[tensor].dtype
    return f"{value:.7g}" if dtype.is_float and dtype.name != "f64" else str(value)


def arguments_of(case: Case) -> str:
    """`M=7 S=[3, 50] stride=2`: sizes, packs as lists, and compile-time parameters."""
    from tdl.language.cases import settings_of

    parameters, sizes = settings_of(case)
    return " ".join(f"{name}={value}" for name, value in {**sizes, **parameters}.items())
