"""Which schedule an op runs under: the most specific target first, then the first whose `when` holds.

Conditions speak of sizes, compile-time parameters and dtypes, all of which have values when an op is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.values import Values, names_of
from tdl.language import hardware, syntax
from tdl.language.dtypes import DTYPES, DType
from tdl.language.folding import value_of
from tdl.language.forms import Symbol
from tdl.language.report import Report
from tdl.language.scope import Context, Declaration, Scope
from tdl.language.tree import Expr, Program


def schedules_of(op: Declaration, schedules: Iterable[Declaration]) -> list[Declaration]:
    """The schedules that are for an op, in order."""
    found: list[Declaration] = []
    for schedule in schedules:
        item = schedule.item
        assert isinstance(item, syntax.Schedule)
        if schedule.environment.find("callable", item.op.text) == op:
            found.append(schedule)
    return found


def choose(
    schedules: Iterable[Declaration],
    program: Program,
    sizes: Mapping[Symbol, int],
    targets: Iterable[str],
    *,
    is_open: bool = False,
) -> Declaration | None:
    """The schedule for a program at sizes on a machine; `targets` are what it is, the most specific first.

    With `is_open` sizes may be missing, and the first schedule that may hold is taken.
    """
    kept = list(schedules)
    for target in targets:
        for schedule in kept:
            item = schedule.item
            assert isinstance(item, syntax.Schedule)
            if item.target is None or item.target.text == target:
                verdict = condition(schedule, program, sizes)
                if verdict or (is_open and verdict is None):
                    return schedule
    return None


def holds(schedule: Declaration, program: Program, sizes: Mapping[Symbol, int]) -> bool:
    """Whether a schedule's `when` is true of a program at sizes."""
    return condition(schedule, program, sizes) is True


def condition(schedule: Declaration, program: Program, sizes: Mapping[Symbol, int]) -> bool | None:
    """What a schedule's `when` is; None where that depends on sizes that are not given. One with errors is false."""
    found = when(schedule, program, sizes)
    return found if isinstance(found, bool) else None


def when(schedule: Declaration, program: Program, sizes: Mapping[Symbol, int]) -> bool | Expr:
    """The same, and where it depends on sizes that are not given, the condition over these."""
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    if item.condition is None:
        return True
    values = Values(schedule, names_of(program, sizes))
    try:
        built = values.built(_dtypes_decided(item.condition, program))
    except Refusal:
        return False
    value = value_of(built)
    return value if isinstance(value, bool) else built


def ancestors(target: str, schedule: Declaration) -> list[str]:
    """A target and what it is a kind of."""
    return hardware.ancestors(target, Scope(Context(Report(), schedule.text), schedule.environment, {}))


def _dtypes_decided(expr: syntax.Expr, program: Program) -> syntax.Expr:
    """The condition with comparisons of dtypes replaced by what they are."""
    match expr:
        case syntax.Binary("and" | "or", left, right):
            return replace(expr, left=_dtypes_decided(left, program), right=_dtypes_decided(right, program))
        case syntax.Unary("not", operand):
            return replace(expr, operand=_dtypes_decided(operand, program))
        case syntax.Compare(first, ((operator, second),)):
            one, other = _dtype(first, program), _dtype(second, program)
            if one is not None and other is not None:
                same = (one == other) == (operator == "==")
                return syntax.Constant("true" if same else "false", span=expr.span)
    return expr


def _dtype(expr: syntax.Expr, program: Program) -> DType | None:
    if not isinstance(expr, syntax.Ref):
        return None
    value = program.parameters.get(expr.text)
    return value if isinstance(value, DType) else DTYPES.get(expr.text)
