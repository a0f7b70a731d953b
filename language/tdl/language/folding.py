"""The value of an expression over literals alone: of constants, compile-time parameters, facts and data in tests.

    2 * (3 + 4) // 5        2
    sqrt(f32(2))            1.4142135381698608

It gives what the program would compute: integers wrap, and floats round to their type after each operation. It does not
need NumPy, so that checking a file does not pay for it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType

from tdl.language import forms, tree
from tdl.language.dtypes import BF16, BOOL, F16, F32, DType, Type
from tdl.language.tree import Expr

Constant = int | float | bool


Lets = Mapping[str, Constant | None]


def value_of(expr: Expr, lets: Lets = MappingProxyType({})) -> Constant | None:
    """The value, or None where it depends on something or raises. `lets` are the values of the enclosing `Let`s."""
    match expr:
        case tree.Number(value, dtype):
            return fit(value, dtype)
        case tree.Integer(form):
            return _integer(form)
        case tree.Local(name):
            return lets.get(name)
        case tree.Let(name, value, body):
            return value_of(body, {**lets, name: value_of(value, lets)})
        case tree.Unary(operator, operand):
            known = value_of(operand, lets)
            return None if known is None else fit(_UNARY[operator](known), expr.dtype)
        case tree.Binary("and" | "or" as operator, left, right):
            return _logical(operator, value_of(left, lets), value_of(right, lets))
        case tree.Binary(operator, left, right):
            return _binary(operator, value_of(left, lets), value_of(right, lets), expr.dtype)
        case tree.Compare(operator, left, right):
            return _comparison(operator, left, right, lets)
        case tree.Select(condition, then, other):
            chosen = value_of(condition, lets)
            return None if chosen is None else value_of(then if chosen else other, lets)
        case tree.Convert(operand, dtype):
            known = value_of(operand, lets)
            return None if known is None else convert(known, dtype)
        case tree.Call(function, (argument,)):
            known = value_of(argument, lets)
            return None if known is None else _call(function, known, expr.dtype)
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


def convert(value: Constant, dtype: Type) -> Constant:
    """Explicit conversion: float to integer truncates and saturates, integers wrap."""
    if dtype == BOOL:
        return value != 0
    if not isinstance(dtype, DType) or not isinstance(value, float) or dtype.is_float:
        return fit(value, dtype)
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return dtype.greatest if value > 0 else dtype.least
    return min(max(math.trunc(value), dtype.least), dtype.greatest)


def fit(value: Constant, dtype: Type) -> Constant:
    """A result of an operation in its type: wrapped, or rounded."""
    if not isinstance(dtype, DType) or dtype == BOOL:
        return value
    if dtype.is_float:
        return _rounded(_as_float(value), dtype)
    return wrap(int(value), dtype)


def wrap(value: int, dtype: DType) -> int:
    """An integer modulo 2 to the width of its type."""
    low = value & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if low > dtype.greatest else low


def _rounded(value: float, dtype: DType) -> float:
    code = {F32: "<f", F16: "<e"}.get(dtype)
    if math.isnan(value) or math.isinf(value):
        return value
    if dtype == BF16:
        return _to_bf16(value)
    try:
        return value if code is None else struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _to_bf16(value: float) -> float:
    """To 8 digits, ties to even."""
    if abs(value) >= 2.0**128:
        return math.copysign(math.inf, value)
    exponent = max(math.frexp(value)[1], -125) - 8
    result = math.ldexp(round(math.ldexp(value, -exponent)), exponent)
    return result if abs(result) < 2.0**128 else math.copysign(math.inf, value)


def _as_float(value: Constant) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _integer(form: forms.Form) -> int | None:
    return form.constant if form.is_constant else None


def _comparison(operator: tree.CompareOperator, left: Expr, right: Expr, lets: Lets) -> bool | None:
    if isinstance(left, tree.Integer) and isinstance(right, tree.Integer):
        difference = left.form - right.form
        return compare(operator, difference.constant, 0) if difference.is_constant else None
    a, b = value_of(left, lets), value_of(right, lets)
    return None if a is None or b is None else compare(operator, a, b)


def _logical(operator: str, left: Constant | None, right: Constant | None) -> bool | None:
    """`and` is false where either side is, whatever the other; `or` the other way round."""
    decisive = operator == "or"
    sides = [None if side is None else bool(side) for side in (left, right)]
    if decisive in sides:
        return decisive
    return None if None in sides else not decisive


_UNARY: dict[tree.UnaryOperator, Callable[[Constant], Constant]] = {
    "neg": lambda x: -x,
    "not": lambda x: not x,
    "bit_not": lambda x: ~int(x),
}
_INTEGER: dict[str, Callable[[int, int], int]] = {
    "bit_and": lambda x, y: x & y,
    "bit_or": lambda x, y: x | y,
    "bit_xor": lambda x, y: x ^ y,
}


def _binary(operator: str, left: Constant | None, right: Constant | None, dtype: Type) -> Constant | None:
    if left is None or right is None or not isinstance(dtype, DType):
        return None
    if operator in ("min", "max"):
        return _extreme(operator, left, right)
    if operator in ("shl", "shr"):
        count = int(right) % dtype.bits
        return wrap(int(left) << count if operator == "shl" else int(left) >> count, dtype)
    if operator in _INTEGER:
        return wrap(_INTEGER[operator](int(left), int(right)), dtype)
    try:
        return fit(_arithmetic(operator, left, right), dtype)
    except (ZeroDivisionError, OverflowError, ValueError):
        return None


def _arithmetic(operator: str, left: float, right: float) -> float:
    match operator:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "div":
            return left / right if right else _by_zero(left, right)
        case "floordiv":
            return left // right
        case "mod":
            return left % right
    return math.pow(left, right)


def _by_zero(left: float, right: float) -> float:
    return math.nan if not left or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)


def _extreme(operator: str, left: Constant, right: Constant) -> Constant:
    """NaN wins."""
    if left != left or right != right:
        return math.nan
    return min(left, right) if operator == "min" else max(left, right)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """To a whole number of the same sign; what is not finite stays."""
    return lambda x: math.copysign(function(x), x) if math.isfinite(x) else x


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sin": math.sin,
    "cos": math.cos,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _whole(round),
    "abs": abs,
}


def _call(function: str, argument: Constant, dtype: Type) -> Constant | None:
    """None outside of the function's domain, where the machine would give an infinity or NaN."""
    if function == "isnan":
        return argument != argument
    try:
        return fit(_FUNCTIONS[function](argument), dtype)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
