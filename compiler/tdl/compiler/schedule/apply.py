"""A schedule, line by line: the nest after each, or why a line is refused.

A refused line changes nothing, and the lines after it are applied to the nest before it, so that several faults are all
reported. Lines of a tactic are applied in its place and blamed on the `apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from tdl.compiler.schedule import verbs
from tdl.compiler.schedule.hardware import with_tactics
from tdl.compiler.schedule.hints import check_hints
from tdl.compiler.schedule.initial import check_beginnings
from tdl.compiler.schedule.kinds import check_kinds
from tdl.compiler.schedule.names import find_loop
from tdl.compiler.schedule.owners import owner_of
from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.compiler.schedule.start import start
from tdl.compiler.schedule.tensorize import check_tensorized
from tdl.compiler.schedule.tree import Logged, Nest, Rewrite
from tdl.compiler.schedule.values import Values, names_of
from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration, Entity, Environment
from tdl.language.sets import Undecided
from tdl.language.source import NOWHERE, Span
from tdl.language.tree import Program


@dataclass(frozen=True)
class Step:
    """A line of the schedule and the nest after it. `span` is relative to the schedule's item; None at the start."""

    span: Span | None
    nest: Nest
    refusal: Diagnostic | None = None
    is_open: bool = False
    """Whether the refusal may be gone once sizes have numbers, its own or that of a line above."""


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

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The refusals that keep the schedule from being used."""
        return tuple(each for each in self.diagnostics if each.severity == "error")


def apply_schedule(
    program: Program,
    schedule: Declaration,
    *,
    knobs: Mapping[str, int] | None = None,
    sizes: Mapping[Symbol, int] | None = None,
) -> Applied:
    """Apply a schedule that was checked for names and form. `sizes` are those the program was bound to, if it was.

    What the lines so far made is remembered, so that after an edit the lines above it are not applied again.
    """
    steps, _ = _all_steps(program, schedule, knobs or {}, sizes or {})
    return Applied(_with_checked_hints(steps))


def apply_more(
    program: Program, schedule: Declaration, sizes: Mapping[Symbol, int] | None = None
) -> Callable[[syntax.Line], Step]:
    """A function that says what one more line would do behind a schedule; each is asked as if it were the only one."""
    steps, state = _all_steps(program, schedule, {}, sizes or {})

    def more(line: syntax.Line) -> Step:
        step = _behind(steps, _after(state, line, _Current(schedule)).step(line))
        return _with_checked_hints([*steps, step])[-1] if step.refusal is None else step

    return more


def _all_steps(
    program: Program, schedule: Declaration, knobs: Mapping[str, int], sizes: Mapping[Symbol, int]
) -> tuple[list[Step], _State]:
    """The steps, and the state behind the last line."""
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    state = _beginning(_Given(program, _head_of(schedule), tuple(sorted(knobs.items())), tuple(sizes.items())))
    steps = [Step(None, state.nest)]
    for line in item.body:
        state = _after(state, line, _Current(schedule))
        steps.append(_behind(steps, state.step(line)))
    return steps, state


def _behind(steps: list[Step], step: Step) -> Step:
    """A step that is refused may be so for want of what a line above makes once sizes have numbers."""
    return replace(step, is_open=step.refusal is not None and (step.is_open or any(each.is_open for each in steps)))


def _with_checked_hints(steps: list[Step]) -> tuple[Step, ...]:
    """The steps, with those refused whose hints do not fit what the lines after them made of the nest."""
    found = {hint.line: refusal for hint, refusal in check_hints(steps[-1].nest)}
    for line, refusal in found.items():
        step = steps[line + 1]
        assert step.span is not None
        if step.refusal is None:
            steps[line + 1] = replace(step, refusal=_diagnostic(refusal, step.span), is_open=_is_open(refusal))
    if found:  # what is compiled or printed of a schedule with faults is without them
        kept = tuple(hint for hint in steps[-1].nest.hints if hint.line not in found)
        steps[-1] = replace(steps[-1], nest=replace(steps[-1].nest, hints=kept))
    return tuple(steps)


def _diagnostic(refusal: Refusal, span: Span) -> Diagnostic:
    return Diagnostic(refusal.code, refusal.message, span, refusal.notes)


def _is_open(refusal: Refusal) -> bool:
    return isinstance(refusal, NeedsSize) or refusal.code == "undecided"


# ---- line after line


@dataclass(frozen=True)
class _Given:
    """What a schedule is applied to, and everything outside of its lines that their meaning hangs on."""

    program: Program
    head: tuple[object, ...]
    knobs: tuple[tuple[str, int], ...]
    sizes: tuple[tuple[Symbol, int], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Given) and self.program is other.program and self._rest == other._rest

    def __hash__(self) -> int:
        return hash((id(self.program), self._rest))

    @property
    def _rest(self) -> tuple[object, ...]:
        return self.head, self.knobs, self.sizes


def _head_of(schedule: Declaration) -> tuple[object, ...]:
    item, environment = schedule.item, schedule.environment
    assert isinstance(item, syntax.Schedule)
    known = tuple((*key, each.key) for key, each in environment.declarations.items())
    return item.target, known, environment.broken


@dataclass(frozen=True, eq=False)
class _State:
    """The nest after some lines, and why the last of them was refused if it was: at no place, as the line may move."""

    nest: Nest
    names: Mapping[str, Entity]
    knobs: Mapping[str, int]
    number: int
    refusal: Diagnostic | None = None
    is_open: bool = False

    def step(self, line: syntax.ScheduleLine) -> Step:
        """The line as the text has it now."""
        refusal = None if self.refusal is None else replace(self.refusal, primary=line.span)
        return Step(line.span, self.nest, refusal, self.is_open)


class _Current(NamedTuple):
    """The schedule as its text is now. To the memo they are all one: lines that are in it already mean the same."""

    schedule: Declaration

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Current)

    def __hash__(self) -> int:
        return 0


@lru_cache(maxsize=64)
def _beginning(given: _Given) -> _State:
    return _State(start(given.program), names_of(given.program, dict(given.sizes)), dict(given.knobs), 0)


@lru_cache(maxsize=512)
def _after(state: _State, line: syntax.ScheduleLine, current: _Current) -> _State:
    """The state behind a line; a refused line leaves the nest as it was."""
    nest, number = state.nest, state.number
    values = Values(current.schedule, state.names, state.knobs)
    try:
        for each, environment in with_tactics(line, current.schedule.environment):
            nest, values = _applied(nest, each, number, values, environment)
        if nest is not state.nest:
            check_tensorized(state.nest, nest)
            check_kinds(state.nest, nest)
            check_beginnings(nest)  # refused at the line that leaves a reduction no place to begin
    except (Refusal, Undecided) as raised:
        refusal = _too_hard(raised) if isinstance(raised, Undecided) else raised
        found = _diagnostic(refusal, NOWHERE)
        return replace(state, number=number + 1, refusal=found, is_open=_is_open(refusal))
    return _State(nest, values.names, state.knobs, number + 1)


def _too_hard(why: Undecided) -> Refusal:
    note = str(why) or "it was searched for too long"
    return Refusal("undecided", "whether this line is legal could not be decided", note)


def _applied(
    nest: Nest, line: syntax.ScheduleLine, number: int, values: Values, environment: Environment
) -> tuple[Nest, Values]:
    match line:
        case syntax.Knob() | syntax.LetValue():
            return nest, values.named(line)
        case syntax.Require(fact):
            return verbs.require(nest, values.fact(fact)), values
        case syntax.Line():
            change = verbs.VERBS.get(line.verb.text)
            if change is None:
                raise Refusal("schedule", f"`{line.verb.text}` needs a target that this compiler does not have")
            arguments = verbs.Arguments(line, number, values, environment)
            return _recorded(nest, change(nest, arguments), lambda each: change(each, arguments), line, number), values
    return nest, values


def _recorded(before: Nest, after: Nest, rewrite: Rewrite, line: syntax.Line, number: int) -> Nest:
    """The line logged with the stages whose loops it changed, for a placement to apply it again."""
    verb = line.verb.text
    refs = [operand.text for operand in line.operands if isinstance(operand, syntax.Ref)]
    place = next((clause.values[0] for clause in line.clauses if clause.keyword.text == "at"), None)
    loops, subject = [], None
    if verb in verbs.OF_LOOPS or (verb == "rfactor" and after.base is before.base):
        loops = [find_loop(before, text) for text in refs]
    elif verb in verbs.OF_STAGES and refs:
        tensor = refs[0] if refs[0] in before.groups else refs[0].rpartition(".")[0]
        subject = before.groups.get(tensor)
    if verb in ("compute", "store", "cache") and isinstance(place, syntax.Ref) and place.text != "root":
        loops = [find_loop(before, place.text)]
    groups = frozenset(each for each in (subject, *(owner_of(before, loop) for loop in loops)) if each is not None)
    if not groups or (subject is not None and subject not in after.groups.values()):
        return after
    return replace(
        after,
        log=(
            *after.log,
            Logged(rewrite, groups, subject, verb in ("compute", "store", "fold", "inline", "cache"), number),
        ),
    )
