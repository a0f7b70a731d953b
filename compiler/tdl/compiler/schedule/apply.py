"""A schedule, line by line: the nest after each, or why a line is refused.

A refused line changes nothing, and the lines after it are applied to the nest before it, so that several faults are all
reported. Lines of a tactic are applied in its place and blamed on the `apply`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tdl.compiler.schedule import verbs
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.names import find_loop
from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.compiler.schedule.start import start
from tdl.compiler.schedule.tree import Nest, Rewrite
from tdl.compiler.schedule.values import Values
from tdl.compiler.schedule.walk import leaves_of
from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic
from tdl.language.forms import Symbol
from tdl.language.schedules.tactics import expanded
from tdl.language.scope import Declaration, Environment
from tdl.language.source import Span
from tdl.language.tree import Program


@dataclass(frozen=True)
class Step:
    """A line of the schedule and the nest after it. `span` is relative to the schedule's item; None at the start."""

    span: Span | None
    nest: Nest
    refusal: Diagnostic | None = None
    is_open: bool = False
    """Whether the refusal may be gone once sizes have numbers."""


@dataclass(frozen=True)
class Applied:
    """All steps, the first being the nest before any line."""

    steps: tuple[Step, ...]

    @property
    def nest(self) -> Nest:
        return self.steps[-1].nest

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return tuple(step.refusal for step in self.steps if step.refusal is not None)


def apply_schedule(
    program: Program,
    schedule: Declaration,
    *,
    knobs: Mapping[str, int] | None = None,
    sizes: Mapping[Symbol, int] | None = None,
) -> Applied:
    """Apply a schedule that was checked for names and form. `sizes` are those the program was bound to, if it was."""
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    values = Values(schedule, program, knobs)
    values.bind(sizes or {})
    steps = [Step(None, start(program))]
    for number, line in enumerate(item.body):
        steps.append(_step(steps[-1].nest, line, number, values, schedule))
    return Applied(tuple(steps))


def _step(nest: Nest, line: syntax.ScheduleLine, number: int, values: Values, schedule: Declaration) -> Step:
    before = nest
    try:
        for each in _expanded(line, schedule.environment):
            nest = _applied(nest, each, number, values)
        if nest is not before:
            with_initialisations(nest)  # refused at the line that leaves a reduction no place to begin
    except Refusal as refusal:
        found = Diagnostic(refusal.code, refusal.message, line.span, refusal.notes)
        return Step(line.span, before, found, isinstance(refusal, NeedsSize) or refusal.code == "undecided")
    return Step(line.span, nest)


def _expanded(line: syntax.ScheduleLine, environment: Environment) -> Iterator[syntax.ScheduleLine]:
    """The line, or those that an `apply` stands for."""
    if not (isinstance(line, syntax.Line) and line.verb.text == "apply"):
        yield line
        return
    call = line.operands[0]
    assert isinstance(call, syntax.Call)
    tactic = environment.find("tactic", call.callee.text)
    for each in expanded(line, environment):
        yield from _expanded(each, environment if tactic is None else tactic.environment)


def _applied(nest: Nest, line: syntax.ScheduleLine, number: int, values: Values) -> Nest:
    match line:
        case syntax.Knob() | syntax.LetValue():
            values.name(line)
            return nest
        case syntax.Require(fact):
            return verbs.require(nest, values.fact(fact))
        case syntax.Line():
            change = verbs.VERBS.get(line.verb.text)
            if change is None:
                raise Refusal("schedule", f"`{line.verb.text}` needs a target that this compiler does not have")
            arguments = verbs.Arguments(line, number, values)
            return _recorded(nest, change(nest, arguments), lambda each: change(each, arguments), line)
    return nest


def _recorded(before: Nest, after: Nest, rewrite: Rewrite, line: syntax.Line) -> Nest:
    """The rewrite kept with the stages whose own loops it changed, for a placement to replay."""
    if line.verb.text not in verbs.OF_LOOPS:
        return after
    loops = [find_loop(before, operand.text) for operand in line.operands if isinstance(operand, syntax.Ref)]
    groups = {before.groups.get(before.stages[leaf.stage].writes[0].tensor) for _, leaf in leaves_of(tuple(loops))}
    if len(groups) != 1:
        return after
    (group,) = groups
    if group is None:
        return after
    return replace(after, derivation={**after.derivation, group: (*after.derivation.get(group, ()), rewrite)})
