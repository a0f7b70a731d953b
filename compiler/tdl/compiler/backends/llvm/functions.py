"""The language's built-in functions, and division and remainder of floats. libm does the transcendental ones."""

from __future__ import annotations

from tdl.compiler.backends.llvm.arithmetic import is_nan, is_zero
from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.scalars import float_constant, round_half
from tdl.compiler.backends.llvm.values import Value, function, intrinsic, operate, select, test
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType

_INTRINSICS = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "round": "roundeven", "abs": "fabs",
}  # fmt: skip
_LIBRARY = ("tanh", "erf")


def call(block: Block, name: str, value: Value, dtype: DType) -> Value:
    """A function of one argument; `dtype` is the argument's."""
    if name == "isnan":
        return is_nan(block, value)
    if dtype.is_integer:
        if name != "abs":
            raise InternalError(f"{name} of {dtype}")
        return value if dtype.kind == "unsigned" else intrinsic(block, "abs", value, also=", i1 false")
    return round_half(block, _float_call(block, name, value), dtype)


def _float_call(block: Block, name: str, value: Value) -> Value:
    if name in _INTRINSICS:
        return intrinsic(block, _INTRINSICS[name], value)
    if name in _LIBRARY:
        return function(block, _library(name, value.kind), value, kind=value.kind)
    one = float_constant(1.0, value.kind)
    if name == "rsqrt":
        return operate(block, "fdiv", one, intrinsic(block, "sqrt", value))
    if name == "sigmoid":
        return _sigmoid(block, value, one)
    raise InternalError(f"function {name}")


def _sigmoid(block: Block, value: Value, one: Value) -> Value:
    """`1 / (1 + e)` with `e = exp(-|x|)`, or `e / (1 + e)` where x < 0: small results keep their digits."""
    opposite = operate(block, "fneg", intrinsic(block, "fabs", value))
    power = intrinsic(block, "exp", opposite)
    below = operate(block, "fadd", power, one)
    negative = test(block, "fcmp olt", value, float_constant(0.0, value.kind))
    return operate(block, "fdiv", select(block, negative, power, one), below)


def power(block: Block, left: Value, right: Value, dtype: DType) -> Value:
    return round_half(block, function(block, _library("pow", left.kind), left, right, kind=left.kind), dtype)


def float_division(block: Block, left: Value, right: Value, dtype: DType, *, want: str) -> Value:
    """`left // right` or `left % right` of floats as NumPy has them: exact remainder, floor of the quotient.

    By zero, the quotient is that of `/` and the remainder NaN.
    """
    nothing = float_constant(0.0, left.kind)
    whole = operate(block, "frem", left, right)
    inexact = test(block, "fcmp une", whole, nothing)
    signs = (test(block, "fcmp olt", each, nothing) for each in (whole, right))
    adjust = operate(block, "and", inexact, operate(block, "xor", *signs))
    if want == "remainder":
        moved = operate(block, "fadd", whole, right)
        nonzero = select(block, adjust, moved, whole)
        zero = intrinsic(block, "copysign", nothing, right)
        return round_half(block, select(block, inexact, nonzero, zero), dtype)
    return round_half(block, _float_quotient(block, left, right, whole, adjust), dtype)


def _float_quotient(block: Block, left: Value, right: Value, whole: Value, adjust: Value) -> Value:
    one, half, nothing = (float_constant(number, left.kind) for number in (1.0, 0.5, 0.0))
    ratio = operate(block, "fdiv", left, right)
    exact = operate(block, "fdiv", operate(block, "fsub", left, whole), right)
    quotient = select(block, adjust, operate(block, "fsub", exact, one), exact)
    floor = intrinsic(block, "floor", quotient)
    nearer = test(block, "fcmp ogt", operate(block, "fsub", quotient, floor), half)
    snapped = select(block, nearer, operate(block, "fadd", floor, one), floor)
    zero = intrinsic(block, "copysign", nothing, ratio)
    finite = select(block, is_zero(block, quotient), zero, snapped)
    return select(block, is_zero(block, right), ratio, finite)


def _library(name: str, kind: str) -> str:
    return name if kind == "double" else f"{name}f"
