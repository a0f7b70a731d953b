"""Expressions in schedules: over sizes, compile-time parameters, dtypes, constants, knobs and names made by `let`.

    when T == f32 and M >= 8        knob mr = 8 in [4, 6, 8]        split Y.i by 2*mr -> io, ii

Data and indices have no value where a schedule is read. A size may be a factor: the op is then specialised to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from tdl.language import expressions, forms, syntax, tree
from tdl.language.dtypes import DTYPES
from tdl.language.folding import value_of
from tdl.language.forms import Form
from tdl.language.scope import (
    Declaration,
    Entity,
    IndexEntity,
    IndexPackEntity,
    Scope,
    SizeEntity,
    TensorEntity,
    Typed,
    TypeEntity,
    ValueEntity,
)
from tdl.language.signature import Instance, head_of
from tdl.language.types import settle


def sizes_of(op: Declaration) -> dict[str, Entity]:
    """The names of an op that its schedules may speak of, all without a value."""
    item = op.item
    assert isinstance(item, syntax.Op)
    open_parameters = frozenset(parameter.name.text for parameter in item.params)
    signature = head_of(op, Instance(), open_parameters)
    data = TensorEntity | IndexEntity | IndexPackEntity
    return {name: entity for name, entity in signature.scope.names.items() if not isinstance(entity, data)}


def check_fact(expr: syntax.Expr, scope: Scope, what: str) -> Typed | None:
    """A bool over sizes, parameters and dtypes (`T == f32`); None after an error."""
    context = scope.context
    before, context.failed = context.failed, False
    typed = expressions.condition(_without_dtypes(expr, scope), scope, what)
    if not context.failed:
        typed.build()
    good, context.failed = not context.failed, before or context.failed
    return typed if good else None


def _without_dtypes(expr: syntax.Expr, scope: Scope) -> syntax.Expr:
    """The expression with every comparison of dtypes, once checked, taken as true."""
    match expr:
        case syntax.Binary("and" | "or", left, right):
            return replace(expr, left=_without_dtypes(left, scope), right=_without_dtypes(right, scope))
        case syntax.Unary("not", operand):
            return replace(expr, operand=_without_dtypes(operand, scope))
        case syntax.Compare(first, ((operator, second),)) if _is_dtype(first, scope) or _is_dtype(second, scope):
            for side in (first, second):
                if not _is_dtype(side, scope):
                    scope.error("dtype", "a dtype is compared with a dtype", side.span, "for example `T == f32`")
            if operator not in ("==", "!="):
                scope.error("dtype", f"`{operator}` does not compare dtypes", expr.span, "`==` and `!=` do")
            return syntax.Constant("true", span=expr.span)
    return expr


def _is_dtype(expr: syntax.Expr, scope: Scope) -> bool:
    return isinstance(expr, syntax.Ref) and (expr.text in DTYPES or isinstance(scope.names.get(expr.text), TypeEntity))


def check_integer(
    expr: syntax.Expr, scope: Scope, what: str, least: int | None = None, code: str = "schedule"
) -> Form | None:
    """An integer that is known when the op is compiled, or None after an error."""
    context = scope.context
    before, context.failed = context.failed, False
    typed, build = expressions.integer_form(expr, scope, what)
    form = None if context.failed or expressions.is_unknown(typed.type) else build()
    if context.failed:
        form = None
    context.failed = before or context.failed
    if form is None:
        return None
    if any(isinstance(atom, forms.Opaque) for atom, _ in form.terms):
        scope.error(code, f"{what} is arithmetic on numbers, sizes, parameters and knobs", expr.span)
        return None
    if least is not None and form.is_constant and form.constant < least:
        scope.error(code, f"{what} is at least {least}, not {form}", expr.span)
        return None
    return form


def check_constant_value(expr: syntax.Expr, scope: Scope, what: str) -> int | float | bool | None:
    """A number or bool made of literals and constants, or None after an error."""
    typed = check_value(expr, scope)
    value = None if typed is None else value_of(typed.build())
    if typed is not None and value is None:
        scope.error("schedule", f"{what} is a constant", expr.span)
    return value


def check_value(expr: syntax.Expr, scope: Scope) -> Typed | None:
    """Any scalar; None after an error."""
    context = scope.context
    before, context.failed = context.failed, False
    typed = expressions.elaborate(expr, scope)
    if not context.failed:
        typed.build()
    good, context.failed = not context.failed, before or context.failed
    return typed if good and not expressions.is_unknown(typed.type) else None


def entity_of(typed: Typed) -> Entity:
    """What a name for a value is."""
    built = typed.build()
    if isinstance(built, tree.Integer):
        return SizeEntity(built.form)
    return ValueEntity(settle(typed.type), lambda: built)


def names_in(node: object) -> Iterator[syntax.Ref]:
    """Every name in an expression, in text order."""
    if isinstance(node, syntax.Ref):
        yield node
    elif isinstance(node, tuple):
        for each in node:
            yield from names_in(each)
    elif isinstance(node, syntax.Node) and is_dataclass(node):
        for part in fields(node):
            yield from names_in(getattr(node, part.name))
