"""Which intrinsics a schedule may use, and which features of a machine it asks for by using them.

An intrinsic is used in schedules for its own target, or for one that is a kind of it. Whether a machine has its
features is asked when a schedule is chosen for that machine, not where it is read: it can be checked anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tdl.compiler.schedule.choose import ancestors
from tdl.compiler.schedule.refusal import Refusal
from tdl.language import syntax
from tdl.language.intrinsics import Intrinsic, intrinsic_of
from tdl.language.schedules.tactics import expanded
from tdl.language.scope import Declaration, Environment
from tdl.language.source import Span


def usable(declaration: Declaration, schedule: Declaration) -> Intrinsic:
    """The intrinsic of a declaration. Refused where it is not for the schedule's target, or stands for no code."""
    intrinsic = intrinsic_of(declaration)
    if intrinsic is None:
        raise Refusal("tensorize", f"`{declaration.name}` has mistakes in its declaration")
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    if intrinsic.target is not None and (
        item.target is None or intrinsic.target not in ancestors(item.target.text, schedule)
    ):
        mine = "every target" if item.target is None else f"`{item.target.text}`"
        message = f"`{intrinsic.name}` is for `{intrinsic.target}`, and this schedule is for {mine}"
        note = f"write `schedule {item.op.text} for {intrinsic.target}`, with a schedule for the others beside it"
        raise Refusal("tensorize", message, note)
    if "llvm" not in intrinsic.emits:
        message = f"`{intrinsic.name}` has no `emit llvm`, which code for a CPU is made from"
        raise Refusal("tensorize", message)
    return intrinsic


@lru_cache(maxsize=1024)
def uses_of(schedule: Declaration) -> tuple[tuple[Intrinsic, Span], ...]:
    """The intrinsics that a schedule tensorizes with, each with the line of the schedule that does, or applies it."""
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    return tuple(
        (intrinsic, line.span)
        for line in item.body
        for each, environment in with_tactics(line, schedule.environment)
        for intrinsic in _uses(each, environment, schedule.environment)
    )


def with_tactics(
    line: syntax.ScheduleLine, environment: Environment
) -> Iterator[tuple[syntax.ScheduleLine, Environment]]:
    """The line, or those that an `apply` stands for, with what names mean where they are written."""
    if not (isinstance(line, syntax.Line) and line.verb.text == "apply"):
        yield line, environment
        return
    call = line.operands[0]
    assert isinstance(call, syntax.Call)
    tactic = environment.find("tactic", call.callee.text)
    for each in expanded(line, environment):
        yield from with_tactics(each, environment if tactic is None else tactic.environment)


def intrinsic_named(name: str, *environments: Environment) -> Declaration | None:
    """What `with NAME` means where a line is written; or, for a tactic's parameter, where that is applied."""
    found = (environment.find("intrinsic", name) for environment in environments)
    return next((each for each in found if each is not None), None)


def _uses(line: syntax.ScheduleLine, *environments: Environment) -> Iterator[Intrinsic]:
    if not isinstance(line, syntax.Line) or line.verb.text != "tensorize":
        return
    for value in (value for clause in line.clauses for value in clause.values):
        declaration = intrinsic_named(value.text, *environments) if isinstance(value, syntax.Ref) else None
        intrinsic = None if declaration is None else intrinsic_of(declaration)
        if intrinsic is not None:
            yield intrinsic
