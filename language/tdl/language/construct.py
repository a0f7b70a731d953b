"""Constructors of checked expressions that fold what is arithmetic on indices and sizes into forms.

binary("add", Integer(i), Integer(1), I64)      gives    Integer(i + 1)
"""

from __future__ import annotations

from tdl.language import forms, tree
from tdl.language.dtypes import F32, I64, DType, Type
from tdl.language.folding import wrap
from tdl.language.source import Span
from tdl.language.tree import Expr

TRIVIAL = (tree.Integer, tree.Number, tree.Parameter, tree.Local)
"""What may be repeated instead of being bound to a name."""


def binary(operator: tree.BinaryOperator, left: Expr, right: Expr, dtype: Type, span: Span) -> Expr:
    """An operation; on two indices or sizes it folds into a form."""
    if dtype == I64 and isinstance(left, tree.Integer) and isinstance(right, tree.Integer):
        folded = _fold(operator, left.form, right.form)
        if folded is not None:
            return tree.Integer(_wrapped(folded), span=span)
    return tree.Binary(operator, left, right, dtype, span=span)


def negate(operand: Expr, dtype: Type, span: Span) -> Expr:
    """`-operand`."""
    if isinstance(operand, tree.Integer):
        return tree.Integer(_wrapped(-operand.form), span=span)
    return tree.Unary("neg", operand, dtype, span=span)


def convert(operand: Expr, dtype: Type, span: Span) -> Expr:
    """`dtype(operand)`; nothing where it has that dtype already."""
    if operand.dtype == dtype:
        return operand
    value = _whole(operand)
    if value is not None and isinstance(dtype, DType):
        if dtype == I64:
            return tree.Integer(forms.constant(value), span=span)
        if dtype.is_integer and dtype.least <= value <= dtype.greatest:
            return tree.Number(value, dtype, span=span)
        if dtype.is_float and abs(value) <= 2**8:
            return tree.Number(float(value), dtype, span=span)
    return tree.Convert(operand, dtype, span=span)


def _whole(expr: Expr) -> int | None:
    """The value of an integer literal that i64 holds, or None."""
    match expr:
        case tree.Integer(form) if form.is_constant:
            return form.constant
        case tree.Number(value, DType() as dtype) if dtype.is_integer and value <= I64.greatest:
            return int(value)
    return None


def power(base: Expr, exponent: int, dtype: Type, name: str, span: Span) -> Expr:
    """`base**exponent` as multiplications, by repeated squaring; the base is evaluated once.

    `name` is a fresh name for what has to be bound.
    """
    if exponent == 0:
        return tree.Integer(forms.constant(1), span=span) if dtype == I64 else _one(dtype, span)
    if exponent == 1:
        return base
    if isinstance(base, TRIVIAL) and exponent <= 4:
        return _powers(base, exponent, dtype, name, span)
    local = tree.Local(name, dtype, span=span)
    return tree.Let(name, base, _powers(local, exponent, dtype, name, span), span=span)


def _one(dtype: Type, span: Span) -> Expr:
    is_integer = isinstance(dtype, DType) and dtype.is_integer
    return tree.Number(1 if is_integer else 1.0, dtype, span=span)


def _powers(base: Expr, exponent: int, dtype: Type, name: str, span: Span) -> Expr:
    if exponent == 1:
        return base
    square = binary("mul", base, base, dtype, span)
    if exponent == 2:
        return square
    if exponent == 3:
        return binary("mul", square, base, dtype, span)
    squared = tree.Local(f"{name}.{exponent}", dtype, span=span)
    rest = _powers(squared, exponent // 2, dtype, name, span)
    body = binary("mul", rest, base, dtype, span) if exponent % 2 else rest
    return tree.Let(squared.name, square, body, span=span)


def _wrapped(form: forms.Form) -> forms.Form:
    """Numbers in a form as i64 has them, which gives the same sum."""
    numbers = (form.constant, *(coefficient for _, coefficient in form.terms))
    if all(I64.least <= number <= I64.greatest for number in numbers):
        return form
    terms = ((atom, wrap(coefficient, I64)) for atom, coefficient in form.terms)
    return forms.Form(tuple(term for term in terms if term[1]), wrap(form.constant, I64))


def _fold(operator: tree.BinaryOperator, left: forms.Form, right: forms.Form) -> forms.Form | None:
    is_linear = operator in ("add", "sub") or (operator == "mul" and (left.is_constant or right.is_constant))
    if not is_linear and not forms.is_small(left, right):
        return None
    match operator:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return forms.product(left, right)
        case "floordiv":
            return forms.floor_div(left, right)
        case "mod":
            return forms.modulo(left, right)
        case "min" | "max":
            return forms.extreme(operator, left, right)
    return None


# ---- sums over half dtypes


def widen(expr: Expr) -> Expr:
    """Evaluate everything of a half dtype in f32: the argument of a sum or product over f16 or bf16."""
    changed = expr if isinstance(expr, tree.Access) else tree.map_children(expr, widen, lambda form: form)
    if not isinstance(expr.dtype, DType) or not expr.dtype.is_half:
        return changed
    match changed:
        case tree.Number(value):
            return tree.Number(value, F32, span=expr.span)
        case tree.Convert(operand):
            return operand if operand.dtype == F32 else tree.Convert(operand, F32, span=expr.span)
        case tree.Unary(operator, operand):
            return tree.Unary(operator, operand, F32, span=expr.span)
        case tree.Binary(operator, left, right):
            return tree.Binary(operator, left, right, F32, span=expr.span)
        case tree.Select(condition, then, other):
            return tree.Select(condition, then, other, F32, span=expr.span)
        case tree.Call(function, args):
            return tree.Call(function, args, F32, span=expr.span)
        case tree.Local(name):
            return tree.Local(name, F32, span=expr.span)
        case tree.Reduce(reducer, binders, condition, args) if reducer.is_builtin:
            wide = tree.Reducer(reducer.name, (F32, *(arg.dtype for arg in args[1:])))
            return tree.Reduce(wide, binders, condition, args, span=expr.span)
        case tree.Access() | tree.Parameter():
            return tree.Convert(changed, F32, span=expr.span)
        case tree.Reduce():
            return tree.Convert(expr, F32, span=expr.span)
    return changed


# ---- constant expressions


def is_compile_time(expr: Expr) -> bool:
    """Whether an expression speaks of literals and compile-time parameters alone."""
    if any(isinstance(node, tree.Access | tree.Reduce) for node in tree.walk(expr)):
        return False
    return all(symbol.kind == "param" for symbol in tree.symbols_of(expr))
