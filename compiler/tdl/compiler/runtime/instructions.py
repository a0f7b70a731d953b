"""What a schedule's intrinsics ask of this machine: features that it must have, texts that LLVM must take.

A schedule whose intrinsics this machine cannot run is passed over for the next that holds; where there is none, the
call is refused with what is missing, rather than run in another way than was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tdl.compiler.backends.llvm.invoke import complaint
from tdl.compiler.backends.llvm.target import host
from tdl.compiler.schedule.choose import choose
from tdl.compiler.schedule.hardware import uses_of
from tdl.compiler.schedule.tree import Nest
from tdl.compiler.schedule.walk import loops_of
from tdl.language.diagnostic import Diagnostic
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration, closest
from tdl.language.tree import Program


@cache
def host_features() -> frozenset[str]:
    """The features of this machine, as LLVM names them."""
    return frozenset(each[1:] for each in host().features.split(",") if each.startswith("+"))


def chosen(
    schedules: Iterable[Declaration],
    program: Program,
    sizes: Mapping[Symbol, int],
    targets: Iterable[str],
    *,
    is_open: bool = False,
) -> Declaration | None:
    """The schedule that holds and that this machine can run; where it can run none of them, the first that holds."""
    kept, line = list(schedules), list(targets)
    able = [each for each in kept if next(missing_features(each), None) is None]
    found = choose(able, program, sizes, line, is_open=is_open)
    return found if found is not None or len(able) == len(kept) else choose(kept, program, sizes, line, is_open=is_open)


def missing_features(schedule: Declaration) -> Iterator[Diagnostic]:
    """What the schedule's intrinsics need and this machine does not have, on the lines that use them."""
    for intrinsic, span in uses_of(schedule):
        for feature in intrinsic.features:
            if feature not in host_features():
                message = f"`{intrinsic.name}` needs the feature `{feature}`, which this machine does not have"
                suggestion = closest(feature, host_features())
                notes = [] if suggestion is None else [f"LLVM calls a feature that it has `{suggestion}`"]
                notes.append("a schedule that does without it is taken instead, where one is declared")
                yield Diagnostic("tensorize", message, span, tuple(notes))


def refused_texts(nest: Nest) -> Iterator[tuple[Declaration, Diagnostic]]:
    """The intrinsics of a nest whose text LLVM does not take: where each is declared, and what is wrong there."""
    for intrinsic in dict.fromkeys(loop.intrinsic for loop in loops_of(nest.body) if loop.intrinsic is not None):
        found = complaint(intrinsic)
        if found is not None:
            message = f"LLVM does not take this text of `{intrinsic.name}`"
            notes = (found, "an input is the value `%name`, and the text gives `%name` of the output")
            yield intrinsic.declaration, Diagnostic("tensorize", message, intrinsic.emits["llvm"].span, notes)
