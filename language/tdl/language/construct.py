"""Constructors of checked expressions that fold what is arithmetic on indices and sizes into forms.

binary("add", Integer(i), Integer(1), I64)      gives    Integer(i + 1)
"""

from __future__ import annotations

from tdl.language import forms, tree
from tdl.language.dtypes import BOOL, F32, I64, DType, Type
from tdl.language.source import Span
from tdl.language.tree import Expr

TRIVIAL = (tree.Integer, tree.Number, tree.Parameter, tree.Local)
"""What may be repeated instead of being bound to a name."""


def binary(operator: tree.BinaryOperator, left: Expr, right: Expr, dtype: Type, span: Span) -> Expr:
    """An operation; on two indices or sizes it folds into a form."""
    if dtype == I64 and isinstance(left, tree.Integer) and isinstance(right, tree.Integer):
        folded = _fold(operator, left.form, right.form)
        if folded is not None:
            return tree.Integer(folded, span=span)
    return tree.Binary(operator, left, right, dtype, span=span)


def negate(operand: Expr, dtype: Type, span: Span) -> Expr:
    """`-operand`."""
    if isinstance(operand, tree.Integer):
        return tree.Integer(-operand.form, span=span)
    return tree.Unary("neg", operand, dtype, span=span)


def convert(operand: Expr, dtype: Type, span: Span) -> Expr:
    """`dtype(operand)`; nothing where it has that dtype already."""
    if operand.dtype == dtype:
        return operand
    if isinstance(operand, tree.Integer) and operand.form.is_constant and isinstance(dtype, DType):
        value = operand.form.constant
        if dtype.is_integer and dtype.least <= value <= dtype.greatest:
            return tree.Number(value, dtype, span=span)
        if dtype.is_float and abs(value) <= 2**8:
            return tree.Number(float(value), dtype, span=span)
    return tree.Convert(operand, dtype, span=span)


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


def _fold(operator: tree.BinaryOperator, left: forms.Form, right: forms.Form) -> forms.Form | None:
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


# ---- values of constant expressions


def truth(expr: Expr) -> bool | None:
    """The value of a bool expression over numbers, or None where it depends on something."""
    match expr:
        case tree.Number(value, dtype) if dtype == BOOL:
            return bool(value)
        case tree.Unary("not", operand):
            return _not(truth(operand))
        case tree.Binary("and", left, right):
            return _both(truth(left), truth(right))
        case tree.Binary("or", left, right):
            return _not(_both(_not(truth(left)), _not(truth(right))))
        case tree.Compare(operator, tree.Integer(left), tree.Integer(right)):
            difference = left - right
            return compare(operator, difference.constant, 0) if difference.is_constant else None
        case tree.Compare(operator, tree.Number(a), tree.Number(b)):
            return compare(operator, a, b)
    return None


def compare(operator: tree.CompareOperator, left: float, right: float) -> bool:
    """A comparison of numbers."""
    match operator:
        case "eq":
            return left == right
        case "ne":
            return left != right
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "gt":
            return left > right
        case "ge":
            return left >= right


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _both(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return True if left and right else None


def constant_of(expr: Expr) -> int | float | bool | None:
    """The value of an expression over literals alone, or None."""
    match expr:
        case tree.Number(value):
            return value
        case tree.Integer(form):
            return form.constant if form.is_constant else None
        case tree.Unary("neg", operand):
            inner = constant_of(operand)
            return None if inner is None else -inner
        case tree.Convert(operand, DType(kind="float")):
            inner = constant_of(operand)
            return None if inner is None else float(inner)
        case tree.Binary("add" | "sub" | "mul" | "div", left, right):
            return _constant_arithmetic(expr.operator, constant_of(left), constant_of(right))
    return truth(expr)


def _constant_arithmetic(operator: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    match operator:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
    return left / right if right else None
