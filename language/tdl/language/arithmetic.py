"""What one operation gives, element by element, on NumPy arrays and scalars of one element type.

Integers wrap, `//` and `%` floor, shifts take the count modulo the width. Each float operation rounds once to its type:
f16 and bf16 are computed in f32 and rounded, which gives the same as rounding once for `+ - * /` and `sqrt`, as f32 has
more than twice their digits. Functions are computed in f64 and rounded.

Nothing here raises or warns (under `np.errstate(all="ignore")`): an integer divisor must not be zero, which the caller
sees to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.dtypes import F64, DType, Type
from tdl.language.tree import BinaryOperator, CompareOperator, UnaryOperator

Value: TypeAlias = Array
"""An array, or a NumPy scalar, which has the same operators and methods."""

_BINARY: dict[BinaryOperator, Callable[..., Value]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "min": np.minimum,  # these two propagate NaN
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
    "shl": np.left_shift,
    "shr": np.right_shift,
}
_UNARY: dict[UnaryOperator, Callable[..., Value]] = {
    "neg": np.negative,
    "not": np.logical_not,
    "bit_not": np.bitwise_not,
}
_COMPARE: dict[CompareOperator, Callable[..., Value]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _erf(x: Array) -> Array:
    return np.fromiter(map(math.erf, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


_EXACT: dict[str, Callable[..., Value]] = {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "abs": np.abs,
}
_IN_F64: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "erf": _erf,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
}


def number(value: int | float | bool, dtype: Type) -> Value:
    """A constant of the language as a NumPy scalar; a float is rounded once, from f64."""
    if _is_half(dtype):
        return convert(np.float64(value), F64, dtype)[()]
    scalar: Value = numpy_dtype(dtype).type(value)
    return scalar


def unary(operator: UnaryOperator, operand: Value) -> Value:
    return _UNARY[operator](operand)


def binary(operator: BinaryOperator, left: Value, right: Value, dtype: Type) -> Value:
    """`left operator right`, both of `dtype`. Integer `floordiv` and `mod` need a divisor that is not zero."""
    if operator == "pow":
        return convert(np.power(convert(left, dtype, F64), convert(right, dtype, F64)), F64, dtype)
    if operator in ("shl", "shr"):
        right = right & right.dtype.type(8 * right.dtype.itemsize - 1)
    return _rounded(_BINARY[operator], dtype, left, right)


def compare(operator: CompareOperator, left: Value, right: Value) -> Value:
    result: Value = _COMPARE[operator](left, right)
    return result


def call(function: str, args: tuple[Value, ...], dtype: Type) -> Value:
    """A built-in function on arguments of `dtype`; `isnan` gives bool."""
    if function == "isnan":
        return np.isnan(args[0])
    if function in _EXACT:
        return _rounded(_EXACT[function], dtype, *args)
    wide = [np.asarray(convert(arg, dtype, F64)) for arg in args]
    return convert(_IN_F64[function](*wide), F64, dtype)


def convert(value: Value, source: Type, target: Type) -> Value:
    """Explicit conversion: `tree.Convert`."""
    if source == target:
        return value
    if target.name == "bool":
        return np.asarray(value != value.dtype.type(0))
    if source.is_float and not target.is_float:
        return _float_to_integer(value, target)
    if _is_half(target) and value.dtype.itemsize == 8:
        value = _to_odd_f32(value)
    return value.astype(numpy_dtype(target))


def widen(value: Value, dtype: Type) -> Value:
    """f16 and bf16 as f32, which holds them exactly; everything else as it is."""
    return value.astype(np.float32) if _is_half(dtype) else value


def _rounded(function: Callable[..., Value], dtype: Type, *args: Value) -> Value:
    """The function computed in f32 and rounded once for f16 and bf16, directly otherwise."""
    if not _is_half(dtype):
        return function(*args)
    return function(*(arg.astype(np.float32) for arg in args)).astype(numpy_dtype(dtype))


def _float_to_integer(value: Value, target: Type) -> Value:
    """Truncates, saturates, NaN to 0. Only values in range reach NumPy's cast, which is undefined for others."""
    assert isinstance(target, DType)
    whole = np.trunc(value.astype(np.float64))
    below, above = whole < float(target.least), whole >= float(target.greatest + 1)
    dtype = numpy_dtype(target)
    inside = np.where(below | above | np.isnan(whole), 0.0, whole).astype(dtype)
    return np.where(above, dtype.type(target.greatest), np.where(below, dtype.type(target.least), inside))


def _to_odd_f32(value: Value) -> Value:
    """A 64-bit number as f32, rounded to odd: what is inexact gets an odd last digit.

    Rounding that to f16 or bf16 gives what one rounding of the number itself gives.
    """
    if value.dtype.kind in "iu":
        low = value.dtype.type(0xFFF)
        odd = value & ~low | np.where(value & low, value.dtype.type(0x800), value.dtype.type(0))
        value = np.where(value < value.dtype.type(1 << 40), value, odd)
        if value.dtype.kind == "i":
            value = np.where(value > -value.dtype.type(1 << 40), value, odd)
        value = value.astype(np.float64)  # exact
    near = np.asarray(value, np.float64).astype(np.float32)
    even = (near.view(np.uint32) & np.uint32(1)) == 0
    towards = np.where(value > near, np.float32(np.inf), np.float32(-np.inf))
    fix = even & (near.astype(np.float64) != value) & ~np.isnan(value)
    return np.where(fix, np.nextafter(near, towards), near)


def _is_half(dtype: Type) -> bool:
    return isinstance(dtype, DType) and dtype.is_half
