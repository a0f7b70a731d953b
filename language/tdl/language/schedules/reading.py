"""The lines of a schedule, read from top to bottom: each is checked against its row, then its names are made.

A line that is wrong still makes its names, so that one mistake gives one diagnostic. Whether a line may be applied
(dependences, nesting, extents) is not asked here.
"""

from __future__ import annotations

from collections.abc import Iterable

from tdl.language import syntax
from tdl.language.schedules import tactics
from tdl.language.schedules.clauses import check_clauses, check_storage, clause_of
from tdl.language.schedules.counts import check_counts
from tdl.language.schedules.lines import LINES, LineForm
from tdl.language.schedules.loops import Loop, Loops
from tdl.language.schedules.operands import State, find_axis, find_loop, find_stage, find_tensor, listed
from tdl.language.schedules.settings import check_constant_value, check_fact, check_value, entity_of
from tdl.language.scope import Entity, ValueEntity
from tdl.language.types import UNKNOWN


def read_lines(body: Iterable[syntax.ScheduleLine], state: State) -> None:
    """Check lines in order; what they make is left in the state."""
    for line in body:
        if state.watch is not None:
            state.watch(line, state)
        match line:
            case syntax.Knob():
                _knob(line, state)
            case syntax.LetValue(name, value):
                typed = check_value(value, state.scope)
                _name(name, _unknown() if typed is None else entity_of(typed), state)
            case syntax.Require(fact):
                check_fact(fact, state.scope, "what is required")
            case syntax.Broken():
                state.loops = state.loops.opened()
            case syntax.Line():
                _line(line, LINES[line.verb.text], state)


# ---- values


def _knob(line: syntax.Knob, state: State) -> None:
    typed = check_value(line.value, state.scope)
    value = check_constant_value(line.value, state.scope, "the value of a knob") if typed is not None else None
    choices = [check_constant_value(choice, state.scope, "a choice of a knob") for choice in line.choices]
    if value is not None and None not in choices and value not in choices:
        message = f"`{line.name.text}` is {value}, which is not among its choices"
        state.scope.error("schedule", message, line.value.span, f"add it: `in [{value}, ...]`")
    _name(line.name, _unknown() if typed is None or value is None else entity_of(typed), state)


def _unknown() -> Entity:
    """A value whose line is wrong: it agrees with everything, and is never built."""
    from tdl.language.expressions import unknown
    from tdl.language.source import NOWHERE

    return ValueEntity(UNKNOWN, unknown(NOWHERE).build)


def _name(name: syntax.Name, entity: Entity, state: State) -> None:
    if name.text in state.scope.names:
        state.scope.error("duplicate-name", f"`{name.text}` already names a value here", name.span)
    state.scope = state.scope.with_names({name.text: entity})


# ---- lines


def _line(line: syntax.Line, form: LineForm, state: State) -> None:
    check_clauses(line, form, state)
    loops = _operands(line, form, state)
    if check_counts(line, form, state):
        _results(line, form, state)
    if form.effect == "apply":
        tactics.apply_tactic(line, state)
        return
    state.loops = _changed(line, form, loops, state)


def _operands(line: syntax.Line, form: LineForm, state: State) -> list[Loop]:
    """Look up what a line is applied to; the loops among it."""
    loops: list[Loop] = []
    for operand in line.operands:
        match form.operands:
            case "loop":
                loop = find_loop(operand, state)
                if loop is not None and not loop.is_open and any(loop is each for each in loops):
                    state.scope.error("schedule", f"`{loop.name}` is listed twice", operand.span)
                loops.extend([loop] if loop is not None else [])
            case "stage":
                find_stage(operand, state)
            case "tensor":
                find_tensor(operand, state)
            case "axis":
                find_axis(operand, state)
            case "storage":
                check_storage(line, state)
    return loops


# ---- names that lines make


def _results(line: syntax.Line, form: LineForm, state: State) -> None:
    """Report names that are taken. A name whose loop is gone is free again."""
    seen: set[str] = set()
    going = {operand.text for operand in line.operands if isinstance(operand, syntax.Ref)}
    for name in line.results:
        if name.text in seen:
            state.scope.error("schedule", f"`{name.text}` stands twice among the names made", name.span)
        elif form.effect == "factor":
            _free_stage(name, state)
        elif state.loops.has_loop(name.text) and name.text not in going and not state.is_applied:
            message = f"there is a loop `{name.text}` already"
            state.scope.error("schedule", message, name.span, "each loop needs a name of its own")
        seen.add(name.text)


def _free_stage(name: syntax.Name, state: State) -> None:
    if state.loops.has_stage(name.text):
        note = "each stage needs a name of its own"
        state.scope.error("schedule", f"there is a tensor `{name.text}` already", name.span, note)


def _changed(line: syntax.Line, form: LineForm, loops: list[Loop], state: State) -> Loops:
    """The loops behind a line."""
    match form.effect:
        case "replace":
            return state.loops.replaced(loops, line.results, form.past)
        case "peel":
            changed = state.loops
            for loop in loops:
                changed = changed.peeled(loop)
            return changed
        case "copy":
            return _copied(line, state)
        case "factor":
            return _factored(loops, line, state)
        case "inline":
            return _inlined(line, state)
    return state.loops


def _copied(line: syntax.Line, state: State) -> Loops:
    clause = clause_of(line, "as")
    if clause is None or not clause.values or not isinstance(clause.values[0], syntax.Ref):
        return state.loops
    ref = clause.values[0]
    if len(ref.parts) != 1:
        state.scope.error("schedule", "the name of a copy has no dots", ref.span)
    elif state.loops.has_stage(ref.text):
        note = "each stage needs a name of its own"
        state.scope.error("schedule", f"there is a tensor `{ref.text}` already", ref.span, note)
    order = clause_of(line, "layout")
    items = [item.text for item in order.values if isinstance(item, syntax.Ref)] if order is not None else []
    is_listed = order is not None and len(items) == len(order.values)
    return state.loops.copied(ref.parts[0], items if is_listed else None)


def _factored(loops: list[Loop], line: syntax.Line, state: State) -> Loops:
    if len(loops) != 1 or len(line.results) != 1:
        return state.loops.opened()
    loop = loops[0]
    if not loop.is_reduction and loop.stage and not state.is_form:
        message = f"`{loop.name}` is not a reduction loop"
        reductions = [each.name for each in state.loops.live if each.is_reduction]
        note = f"the reduction loops are {listed(reductions)}" if reductions else "this op has no reduction"
        state.scope.error("schedule", message, line.operands[0].span, note)
        return state.loops.opened()
    return state.loops.factored(loop, line.results[0])


def _inlined(line: syntax.Line, state: State) -> Loops:
    changed = state.loops
    for operand in line.operands:
        stage = state.loops.stage(operand.text) if isinstance(operand, syntax.Ref) else None
        if stage is not None and stage.fate is None:
            changed = changed.inlined(stage)
    return changed
