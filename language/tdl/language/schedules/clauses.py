"""The clauses of a line: factors, places, memories, storage orders, and what stands behind `with` and `to`."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language import forms, hardware, syntax
from tdl.language.forms import Symbol
from tdl.language.schedules.lines import THREADS, ClauseForm, LineForm
from tdl.language.schedules.operands import State, find_loop, find_tensor, listed
from tdl.language.schedules.settings import check_constant_value, check_integer, names_in
from tdl.language.scope import Entity, SizeEntity, closest


def clause_of(line: syntax.Line, keyword: str) -> syntax.Clause | None:
    return next((clause for clause in line.clauses if clause.keyword.text == keyword), None)


def check_clauses(line: syntax.Line, form: LineForm, state: State) -> None:
    """Each clause once, and every one as its kind asks."""
    seen: set[str] = set()
    for clause in line.clauses:
        keyword = clause.keyword.text
        row = form.clause(keyword)
        if keyword in seen:
            state.scope.error("schedule", f"`{keyword}` stands twice in this line", clause.span)
        elif row is not None:
            _check(clause, row, line, state)
        seen.add(keyword)


def _check(clause: syntax.Clause, row: ClauseForm, line: syntax.Line, state: State) -> None:
    match row.kind:
        case "factors":
            for factor in factors(clause):
                check_factor(factor, state)
        case "count":
            for value in clause.values:
                check_factor(value, state)
        case "loop":
            for value in clause.values:
                find_loop(value, state)
        case "place":
            for value in clause.values:
                if not (isinstance(value, syntax.Ref) and value.text == "root"):
                    find_loop(value, state)
        case "memory":
            _memory(clause, state)
        case "order":
            _order(clause, line, state)
        case "value":
            for value in clause.values:
                check_constant_value(value, state.scope, "padding")
        case "thread":
            _thread(clause, state)
        case "intrinsic":
            _intrinsic(clause, state)


def factors(clause: syntax.Clause) -> tuple[syntax.Expr, ...]:
    """`by 8, 32` and `by [8, 32]` alike."""
    match clause.values:
        case (syntax.Array(items),):
            return items
    return clause.values


def check_factor(expr: syntax.Expr, state: State) -> None:
    """A size of tiles, a number of parts: an integer that is known when the op is compiled."""
    for ref in names_in(expr):
        if ref.text not in state.scope.names and _is_made(ref.text, state):
            message = f"`{ref.text}` has no value where the schedule is read"
            note = "a factor is arithmetic on numbers, sizes, parameters and knobs"
            state.scope.error("schedule", message, ref.span, note)
            return
    check_integer(expr, state.scope, "a factor", 1)


def _is_made(name: str, state: State) -> bool:
    return name in state.ranks or any(loop.answers_to(name) for loop in state.loops.live)


# ---- names from elsewhere


def _memory(clause: syntax.Clause, state: State) -> None:
    for value in clause.values:
        if isinstance(value, syntax.Ref) and not _is_parameter(value, state):
            hardware.find_memory(value, state.scope)


def _intrinsic(clause: syntax.Clause, state: State) -> None:
    environment = state.scope.environment
    for value in clause.values:
        if not isinstance(value, syntax.Ref) or value.text in environment.broken:
            continue
        if environment.find("intrinsic", value.text) is None and not _is_parameter(value, state):
            name = syntax.Name(value.text, span=value.span)
            state.scope.unknown(name, environment.names("intrinsic"), "intrinsic")


def _thread(clause: syntax.Clause, state: State) -> None:
    for value in clause.values:
        if not isinstance(value, syntax.Ref) or value.text in THREADS or _is_parameter(value, state):
            continue
        suggestion = closest(value.text, THREADS)
        notes = (f"did you mean `{suggestion}`?",) if suggestion else ()
        message = f"a loop is not bound to `{value.text}`"
        state.scope.error("schedule", message, value.span, *notes, f"it is bound to {listed(THREADS)}")


def _is_parameter(ref: syntax.Ref, state: State) -> bool:
    return state.is_form and ref.text in state.scope.names


# ---- storage orders


def _order(clause: syntax.Clause, line: syntax.Line, state: State) -> None:
    """Subscripts over the indices of `W(k, j)`, or over loops: `layout [ko, j, ki]`."""
    match line.operands:
        case (syntax.Call() as storage,):
            names: dict[str, Entity] = {
                name.text: SizeEntity(forms.symbol(Symbol(name.text, "index"))) for name in _indices(storage)
            }
            inside = state.scope.with_names(names)
            for value in clause.values:
                check_integer(value, inside, "a subscript of a layout")
        case _:
            for ref in names_in(clause.values):
                is_value = ref.text in state.scope.names or state.scope.environment.find("value", ref.text)
                if not is_value and state.loops.find(ref.text) is None:
                    find_loop(ref, state)


def _indices(storage: syntax.Call) -> Iterator[syntax.Name]:
    for argument in storage.args:
        match argument.value:
            case syntax.Ref((name,)) if argument.name is None:
                yield name


def check_storage(line: syntax.Line, state: State) -> None:
    """`W(k, j)`: a tensor with a fresh name for each dimension; an input is packed, and nothing else is."""
    storage = line.operands[0]
    assert isinstance(storage, syntax.Call)
    tensor = find_tensor(storage.callee, state)
    names = [name.text for name in _indices(storage)]
    if len(names) != len(storage.args) or len(set(names)) != len(names):
        state.scope.error("schedule", "a layout names each dimension once", storage.span, "for example `W(k, j)`")
    rank = state.ranks.get(tensor or "")
    if rank is not None and rank != len(storage.args):
        message = f"`{tensor}` has {rank} dimensions, and {len(storage.args)} are named"
        state.scope.error("rank", message, storage.span)
    pack = clause_of(line, "pack")
    if tensor in state.loops.inputs and pack is None:
        note = f"add `pack`, which exports a function that packs `{tensor}`"
        state.scope.error("schedule", f"`{tensor}` is an input, which is stored as it is given", storage.span, note)
    elif tensor is not None and tensor not in state.loops.inputs and pack is not None and not state.is_form:
        state.scope.error("schedule", f"`{tensor}` is not an input, and is not packed", pack.span)
