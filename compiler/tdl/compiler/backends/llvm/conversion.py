"""Explicit conversions between dtypes. Each rounds once; float to integer truncates, saturates and makes NaN 0."""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.scalars import float_constant, register_type, round_half
from tdl.compiler.backends.llvm.values import Value, cast, integer, intrinsic, operate, select, support, test
from tdl.language.dtypes import F64, DType


def convert(block: Block, value: Value, source: DType, target: DType) -> Value:
    if source == target:
        return value
    if target.kind == "bool":
        if source.is_float:
            return test(block, "fcmp une", value, float_constant(0.0, value.kind))
        return test(block, "icmp ne", value, integer(0, value.kind))
    if source.is_float:
        return _float_to_float(block, value, source, target) if target.is_float else _to_integer(block, value, target)
    return _integer_to_float(block, value, source, target) if target.is_float else _resize(block, value, source, target)


def _float_to_float(block: Block, value: Value, source: DType, target: DType) -> Value:
    if target == F64:
        return cast(block, "fpext", value, "double")
    if source == F64 and target.is_half:
        value = support(block, "tdl.odd.f64", value, "float")
    elif source == F64:
        value = cast(block, "fptrunc", value, "float")
    return round_half(block, value, target)


def _to_integer(block: Block, value: Value, target: DType) -> Value:
    name = "fptosi.sat" if target.kind == "signed" else "fptoui.sat"
    return intrinsic(block, name, value, kind=register_type(target))


def _integer_to_float(block: Block, value: Value, source: DType, target: DType) -> Value:
    operation = "sitofp" if source.kind == "signed" else "uitofp"
    if not target.is_half or source.bits <= 16:
        return round_half(block, cast(block, operation, value, register_type(target)), target)
    if source.bits == 64:
        value = _sticky(block, value, signed=source.kind == "signed")
    wide = cast(block, operation, value, "double")
    return _float_to_float(block, wide, F64, target)


def _sticky(block: Block, value: Value, *, signed: bool) -> Value:
    """A 64-bit integer whose lowest 11 bits are gathered into one that f64 keeps, so that rounding twice is harmless.

    The bits are dropped only from numbers of more than 53 digits, of which a half float keeps at most 11.
    """
    low = operate(block, "and", value, integer(2047))
    high = operate(block, "and", value, integer(-2048))
    inexact = test(block, "icmp ne", low, integer(0))
    marked = operate(block, "or", high, integer(2048))
    gathered = select(block, inexact, marked, high)
    size = intrinsic(block, "abs", value, also=", i1 false") if signed else value
    large = test(block, "icmp ugt", size, integer(9007199254740992))
    return select(block, large, gathered, value)


def _resize(block: Block, value: Value, source: DType, target: DType) -> Value:
    into = register_type(target)
    if source.kind == "bool" or target.bits > source.bits:
        return cast(block, "sext" if source.kind == "signed" else "zext", value, into)
    return value if target.bits == source.bits else cast(block, "trunc", value, into)
