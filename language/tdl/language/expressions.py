"""Expressions: names looked up, types inferred, and the tree built once types are settled.

`elaborate` gives a `Typed`: a type that unification may still fill, and a `build` to call when all of an op's
definitions have been seen. Calls are in `calls.py`, accesses in `accesses.py`, comprehensions in `reductions.py`.
"""

from __future__ import annotations

from typing import TypeGuard

from tdl.language import accesses, calls, forms, reductions, syntax, tree
from tdl.language.construct import TRIVIAL, binary, convert, negate, power
from tdl.language.diagnostic import Fix
from tdl.language.dtypes import BOOL, DTYPES, F32, I64, DType, TypeVariable
from tdl.language.folding import value_of
from tdl.language.literals import literal, parse_number
from tdl.language.scope import (
    Declaration,
    IndexEntity,
    IndexPackEntity,
    Scope,
    SizeEntity,
    SizePackEntity,
    TensorEntity,
    Typed,
    TypeEntity,
    ValueEntity,
)
from tdl.language.source import Span
from tdl.language.types import UNKNOWN, AnyType, Demand, Unknown, demand, describe, follow, is_bool, settle, unify

ARITHMETIC: dict[str, tree.BinaryOperator] = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floordiv", "%": "mod",
}  # fmt: skip
COMPARISONS: dict[str, tree.CompareOperator] = {
    "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}  # fmt: skip


def elaborate(expr: syntax.Expr, scope: Scope) -> Typed:
    """The meaning of an expression in a scope. Errors go to the scope's report; the result is then of unknown type."""
    if scope.place is not None and not scope.may_expand():
        return unknown(expr.span)
    match expr:
        case syntax.Number(text):
            return _number(text, expr.span, scope)
        case syntax.Constant(name):
            return _constant(name, expr.span, scope)
        case syntax.Ref(parts):
            return _name(expr, parts, scope)
        case syntax.Index():
            return accesses.access(expr, scope)
        case syntax.Unary():
            return _unary(expr, scope)
        case syntax.Binary("and" | "or"):
            return _logical(expr, scope)
        case syntax.Binary("**"):
            return _power(expr, scope)
        case syntax.Binary():
            return _arithmetic(expr, scope)
        case syntax.Compare():
            return _comparison(expr, scope)
        case syntax.Conditional():
            return _conditional(expr, scope)
        case syntax.Call():
            return calls.call(expr, scope)
        case syntax.Reduction():
            return reductions.single(expr, scope)
        case syntax.Tuple():
            scope.error(
                "not-a-value", "a tuple is not a single value", expr.span, "only reducers of several values take tuples"
            )
        case syntax.Array():
            scope.error("not-a-value", "a list is not a value here", expr.span, "lists are values in tests only")
        case syntax.String():
            scope.error("not-a-value", "a string is not a value here", expr.span)
    return unknown(expr.span)


def unknown(span: Span) -> Typed:
    """The result of an error: agrees with everything; what is built with it is thrown away."""
    return Typed(UNKNOWN, span, lambda: tree.Number(0.0, F32, span=span))


def condition(expr: syntax.Expr, scope: Scope, what: str) -> Typed:
    """An expression that must be bool."""
    typed = elaborate(expr, scope)
    if unify(typed.type, BOOL) is None:
        fixes = fixes_of("compare with 0", expr, "{} != 0", scope)
        note = "compare it, as in `x != 0`"
        scope.error("dtype", f"{what} is {describe(typed.type)}, not bool", expr.span, note, fixes=fixes)
    return typed


def fixes_of(title: str, expr: syntax.Expr, form: str, scope: Scope) -> tuple[Fix, ...]:
    """An expression put into a form, `{} != 0`; nothing where its text is that of an inlined function."""
    if scope.place is not None:
        return ()
    is_single = isinstance(expr, syntax.Ref | syntax.Index | syntax.Call | syntax.Reduction | syntax.Number)
    text = _text(expr.span, scope)
    return (Fix(title, expr.span, form.format(text if is_single or "({})" in form else f"({text})")),)


def integer_form(expr: syntax.Expr, scope: Scope, what: str) -> tuple[Typed, FormBuilder]:
    """An expression of any integer dtype, read as an i64 form when built."""
    typed = elaborate(expr, scope)
    if not demand(typed.type, "integer"):
        scope.error("dtype", f"{what} is {describe(typed.type)}, not an integer", expr.span)
    return typed, FormBuilder(typed)


class FormBuilder:
    """Builds the i64 form of a subscript or range end."""

    def __init__(self, typed: Typed) -> None:
        self._typed = typed

    def __call__(self) -> forms.Form:
        built = self._typed.build()
        built = convert(built, I64, built.span)
        known = None if isinstance(built, tree.Integer) else value_of(built)
        return tree.form_of(built) if known is None else forms.constant(int(known))


def is_unknown(type: AnyType) -> TypeGuard[Unknown]:
    return isinstance(follow(type), Unknown)


def agree(left: Typed, right: Typed, span: Span, scope: Scope, what: str = "operands") -> AnyType:
    """One type for two expressions, or an error that offers the casts."""
    unified = unify(left.type, right.type)
    if unified is not None:
        return unified
    a, b = describe(left.type), describe(right.type)
    known = [isinstance(follow(side.type), DType | TypeVariable) for side in (left, right)]
    note = f"convert one of them: `{a}(...)` or `{b}(...)`" if all(known) else ""
    fixes = tuple(
        Fix(f"convert to {wanted}", side.span, f"{wanted}({_text(side.span, scope)})")
        for side, wanted, is_type in ((right, a, known[0]), (left, b, known[1]))
        if is_type and scope.place is None
    )
    scope.error("dtype", f"{what} are {a} and {b}", span, *((note,) if note else ()), fixes=fixes)
    return UNKNOWN


def require_class(typed: Typed, wanted: Demand, what: str, scope: Scope) -> bool:
    """Narrow a type to a class, or say that `what` does not take it."""
    if is_unknown(typed.type) or demand(typed.type, wanted):
        return True
    words = {"number": "numbers", "float": "floats", "integer": "integers", "any": "values"}[wanted]
    scope.error("dtype", f"{what} takes {words}, not {describe(typed.type)}", typed.span)
    return False


def _text(span: Span, scope: Scope) -> str:
    return scope.context.text[span.start : span.end]


def _number(text: str, span: Span, scope: Scope) -> Typed:
    value = parse_number(text)
    if value in (float("inf"), float("-inf")):
        scope.error("literal", f"no type can hold {text}", span, "write `inf` for infinity")
        return unknown(span)
    return literal(value, span, scope)


def _constant(name: str, span: Span, scope: Scope) -> Typed:
    if name in ("true", "false"):
        return Typed(BOOL, scope.at(span), lambda: tree.Number(name == "true", BOOL, span=scope.at(span)))
    return literal(float(name), span, scope)


def _name(expr: syntax.Ref, parts: tuple[syntax.Name, ...], scope: Scope) -> Typed:
    span = scope.at(expr.span)
    entity = scope.names.get(parts[0].text) if len(parts) == 1 else None
    match entity:
        case IndexEntity(symbol):
            return Typed(I64, span, lambda: tree.Integer(forms.symbol(symbol), span=span))
        case SizeEntity(form):
            return Typed(I64, span, lambda: tree.Integer(form, span=span))
        case ValueEntity(type, build):
            return Typed(type, span, build)
        case TensorEntity():
            return accesses.scalar(expr, entity, scope)
        case TypeEntity():
            scope.error("not-a-value", f"`{expr.text}` is a dtype, not a value", expr.span)
            return unknown(span)
        case SizePackEntity() | IndexPackEntity():
            scope.error("not-a-value", f"`{expr.text}` is a pack, not a value", expr.span, f"write `..{expr.text}`")
            return unknown(span)
    return _module_name(expr, scope)


def _module_name(expr: syntax.Ref, scope: Scope) -> Typed:
    declaration = scope.environment.find("value", expr.text)
    if declaration is not None:
        return constant_value(declaration, expr, scope)
    if expr.text in scope.environment.broken:
        scope.context.failed = True
    elif scope.environment.find("callable", expr.text) or expr.text in calls.BUILTIN_NAMES:
        scope.error("not-a-value", f"`{expr.text}` is a function: it needs its arguments in `(`", expr.span)
    elif expr.text in DTYPES:
        scope.error("not-a-value", f"`{expr.text}` is a dtype, not a value", expr.span)
    else:
        candidates = [*scope.names, *scope.environment.names("value"), "true", "false", "inf", "nan"]
        scope.unknown(syntax.Name(expr.text, span=expr.span), candidates)
    return unknown(expr.span)


def constant_value(declaration: Declaration, expr: syntax.Ref, scope: Scope) -> Typed:
    """A module constant: its expression, typed anew at each use, since its literals are open."""
    from tdl.language.constants import check_constant

    item, context = declaration.item, scope.context
    assert isinstance(item, syntax.Const)
    if not check_constant(declaration).is_usable:
        context.failed = True
        return unknown(expr.span)
    inside = Scope(context, declaration.environment, {}, scope.at(expr.span))
    typed = elaborate(item.value, inside)
    if item.type is not None:
        typed = calls.declared(typed, calls.dtype_of(item.type, inside), inside)
    return typed


def _unary(expr: syntax.Unary, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    if expr.operator == "not":
        operand = condition(expr.operand, scope, "the operand of `not`")
        return Typed(BOOL, span, lambda: tree.Unary("not", operand.build(), BOOL, span=span))
    if expr.operator == "-" and isinstance(expr.operand, syntax.Number):
        return _number(f"-{expr.operand.text}", expr.span, scope)
    operand = elaborate(expr.operand, scope)
    require_class(operand, "number", f"`{expr.operator}`", scope)
    if expr.operator == "+":
        return operand
    return Typed(operand.type, span, lambda: negate(operand.build(), operand.settled, span))


def _logical(expr: syntax.Binary, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    left = condition(expr.left, scope, f"the left side of `{expr.operator}`")
    right = condition(expr.right, scope, f"the right side of `{expr.operator}`")
    operator: tree.BinaryOperator = "and" if expr.operator == "and" else "or"
    return Typed(BOOL, span, lambda: tree.Binary(operator, left.build(), right.build(), BOOL, span=span))


def _arithmetic(expr: syntax.Binary, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    left, right = elaborate(expr.left, scope), elaborate(expr.right, scope)
    operator = ARITHMETIC[expr.operator]
    for side, written in ((left, expr.left), (right, expr.right)):
        if is_bool(side.type):
            fixes = fixes_of("convert to i32", written, "i32({})", scope)
            message, note = f"`{expr.operator}` takes numbers, not bool", "convert it, as in `i32(b)`"
            scope.error("dtype", message, side.span, note, fixes=fixes)
            return unknown(span)
    type = agree(left, right, expr.span, scope, f"the operands of `{expr.operator}`")
    if operator == "div" and not is_unknown(type) and not demand(type, "float"):
        message, note = f"`/` takes floats, not {describe(type)}", "`//` divides integers, rounding down"
        place = scope.context.text.find("/", expr.left.span.end)
        fixes = (Fix("divide rounding down", Span(place, place + 1), "//"),) if scope.place is None else ()
        scope.error("dtype", message, expr.span, note, fixes=fixes)
        return unknown(span)
    if not is_unknown(type) and not demand(type, "number"):
        scope.error("dtype", f"`{expr.operator}` takes numbers, not {describe(type)}", expr.span)
    return Typed(type, span, lambda: binary(operator, left.build(), right.build(), settle(type), span))


def _power(expr: syntax.Binary, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    base = elaborate(expr.left, scope)
    if isinstance(expr.right, syntax.Number) and isinstance(parse_number(expr.right.text), int):
        exponent = int(parse_number(expr.right.text))
        require_class(base, "number", "`**`", scope)
        if exponent > 1 << 32:
            scope.error("literal", "this exponent is too large", expr.right.span)
            return unknown(span)
        name = scope.context.fresh("base")
        return Typed(base.type, span, lambda: power(base.build(), exponent, base.settled, name, span))
    right = elaborate(expr.right, scope)
    type = agree(base, right, expr.span, scope, "the operands of `**`")
    if not is_unknown(type) and not demand(type, "float"):
        note = "an integer can be raised to a literal that is not negative, as in `x**2`"
        scope.error("dtype", f"`**` with a computed exponent takes floats, not {describe(type)}", expr.span, note)
        return unknown(span)
    return Typed(type, span, lambda: binary("pow", base.build(), right.build(), settle(type), span))


def _comparison(expr: syntax.Compare, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    operands = [elaborate(expr.first, scope), *(elaborate(operand, scope) for _, operand in expr.rest)]
    operators = [operator for operator, _ in expr.rest]
    for operator, left, right in zip(operators, operands, operands[1:]):
        type = agree(left, right, expr.span, scope, f"the operands of `{operator}`")
        if operator not in ("==", "!=") and not is_unknown(type) and not demand(type, "number"):
            scope.error("dtype", f"`{operator}` takes numbers, not {describe(type)}", expr.span)
    names = [scope.context.fresh("middle") for _ in operands]
    return Typed(BOOL, span, lambda: _chain([operand.build() for operand in operands], operators, names, span))


def _chain(
    operands: list[tree.Expr], operators: list[syntax.CompareOperator], names: list[str], span: Span
) -> tree.Expr:
    """`a < b < c` as `a < b and b < c`, each operand evaluated once."""
    bound: list[tuple[str, tree.Expr]] = []
    for position in range(1, len(operands) - 1):
        operand = operands[position]
        if not isinstance(operand, TRIVIAL):
            bound.append((names[position], operand))
            operands[position] = tree.Local(names[position], operand.dtype, span=operand.span)
    result: tree.Expr | None = None
    for operator, left, right in zip(operators, operands, operands[1:]):
        link: tree.Expr = tree.Compare(COMPARISONS[operator], left, right, span=span)
        result = link if result is None else tree.Binary("and", result, link, BOOL, span=span)
    assert result is not None
    for name, value in reversed(bound):
        result = tree.Let(name, value, result, span=span)
    return result


def _conditional(expr: syntax.Conditional, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    if expr.other is None:
        note = "add `else ...`; a filter of the whole definition needs a `for` before its `if`"
        scope.error("definition", "`if` without `else` is not a value", expr.span, note)
        return unknown(span)
    test = condition(expr.condition, scope, "the condition of `if`")
    then, other = elaborate(expr.then, scope), elaborate(expr.other, scope)
    type = agree(then, other, expr.span, scope, "the branches of `if`")
    return Typed(type, span, lambda: tree.Select(test.build(), then.build(), other.build(), settle(type), span=span))
