"""`check_schedule`: the head of a schedule, then its lines against the op that it is for.

    schedule matmul for cpu when M >= 8 and T == f32 { ... }

Names, numbers and forms are checked; nothing is applied, so a line may still be refused when it is.
"""

from __future__ import annotations

from functools import lru_cache

from tdl.language import hardware, syntax
from tdl.language.diagnostic import Diagnostic
from tdl.language.report import Report
from tdl.language.schedules.operands import State
from tdl.language.schedules.reading import read_lines
from tdl.language.schedules.settings import check_fact, sizes_of
from tdl.language.schedules.stages import loops_of, offered_loops
from tdl.language.scope import Context, Declaration, Scope


@lru_cache(maxsize=1024)
def check_schedule(declaration: Declaration) -> tuple[Diagnostic, ...]:
    """What is wrong with a schedule; spans relative to its item. Nothing is said that follows from a wrong op."""
    item = declaration.item
    assert isinstance(item, syntax.Schedule)
    context = Context(Report(), declaration.text)
    scope = Scope(context, declaration.environment, {})
    if item.target is not None:
        hardware.find_target(item.target, scope)
    op = _op(item.op, scope)
    if op is not None:
        _against(op, item, scope)
    return tuple(context.report.diagnostics)


def state_after(declaration: Declaration, op: Declaration) -> State:
    """What may be named behind the last line of a schedule, also where something is wrong with the op or a line."""
    from tdl.language.check import check_op

    item = declaration.item
    assert isinstance(item, syntax.Schedule)
    program = check_op(op).program
    scope = Scope(Context(Report(), declaration.text), declaration.environment, sizes_of(op))
    loops = offered_loops(op) or loops_of(program).opened()
    state = State(scope, loops, dict.fromkeys(program.tensors))
    read_lines(item.body, state)
    return state


def _op(ref: syntax.Ref, scope: Scope) -> Declaration | None:
    found = scope.environment.find("callable", ref.text)
    if found is None:
        if ref.text not in scope.environment.broken:
            note = "a schedule is for an op of this module, or one it imports"
            scope.error("unknown-name", f"unknown op `{ref.text}`", ref.span, note)
        return None
    if not isinstance(found.item, syntax.Op):
        scope.error("not-a-value", f"`{ref.text}` is not an op", ref.span, "schedules are for ops")
        return None
    return found


def _against(op: Declaration, item: syntax.Schedule, scope: Scope) -> None:
    from tdl.language.check import check_op

    loops = offered_loops(op)
    if loops is None:
        return
    program = check_op(op).program
    inside = Scope(scope.context, scope.environment, sizes_of(op))
    if item.condition is not None:
        check_fact(item.condition, inside, "the condition of a schedule")
    ranks = {name: None if program.packs else len(tensor.shape) for name, tensor in program.tensors.items()}
    read_lines(item.body, State(inside, loops, ranks))
