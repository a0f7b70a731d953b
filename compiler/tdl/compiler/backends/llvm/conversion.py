"""Explicit conversions between dtypes. Each rounds once; float to integer truncates, saturates and makes NaN 0."""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.scalars import register_type, round_half
from tdl.language.dtypes import F64, DType


def convert(block: Block, value: str, source: DType, target: DType) -> str:
    if source == target:
        return value
    if target.kind == "bool":
        kind = register_type(source)
        return block.value(f"fcmp une {kind} {value}, 0.0" if source.is_float else f"icmp ne {kind} {value}, 0")
    if source.is_float:
        return (
            _float_to_float(block, value, source, target)
            if target.is_float
            else _to_integer(block, value, source, target)
        )
    return _integer_to_float(block, value, source, target) if target.is_float else _resize(block, value, source, target)


def _float_to_float(block: Block, value: str, source: DType, target: DType) -> str:
    if target == F64:
        return block.value(f"fpext float {value} to double")
    if source == F64 and target.is_half:
        value = block.value(f"call float @tdl.odd.f64(double {value})")
    elif source == F64:
        value = block.value(f"fptrunc double {value} to float")
    return round_half(block, value, target)


def _to_integer(block: Block, value: str, source: DType, target: DType) -> str:
    kind, into = register_type(source), register_type(target)
    name = "fptosi" if target.kind == "signed" else "fptoui"
    suffix = "f64" if kind == "double" else "f32"
    return block.value(f"call {into} @llvm.{name}.sat.{into}.{suffix}({kind} {value})")


def _integer_to_float(block: Block, value: str, source: DType, target: DType) -> str:
    kind = register_type(source)
    operation = "sitofp" if source.kind == "signed" else "uitofp"
    if not target.is_half or source.bits <= 16:
        return round_half(block, block.value(f"{operation} {kind} {value} to {register_type(target)}"), target)
    if source.bits == 64:
        value = _sticky(block, value, signed=source.kind == "signed")
    wide = block.value(f"{operation} {kind} {value} to double")
    return _float_to_float(block, wide, F64, target)


def _sticky(block: Block, value: str, *, signed: bool) -> str:
    """A 64-bit integer whose lowest 11 bits are gathered into one that f64 keeps, so that rounding twice is harmless.

    The bits are dropped only from numbers of more than 53 digits, of which a half float keeps at most 11.
    """
    low = block.value(f"and i64 {value}, 2047")
    high = block.value(f"and i64 {value}, -2048")
    inexact = block.value(f"icmp ne i64 {low}, 0")
    marked = block.value(f"or i64 {high}, 2048")
    gathered = block.value(f"select i1 {inexact}, i64 {marked}, i64 {high}")
    size = block.value(f"call i64 @llvm.abs.i64(i64 {value}, i1 false)") if signed else value
    large = block.value(f"icmp ugt i64 {size}, 9007199254740992")
    return block.value(f"select i1 {large}, i64 {gathered}, i64 {value}")


def _resize(block: Block, value: str, source: DType, target: DType) -> str:
    kind, into = register_type(source), register_type(target)
    if source.kind == "bool" or target.bits > source.bits:
        return block.value(f"{'sext' if source.kind == 'signed' else 'zext'} {kind} {value} to {into}")
    return value if target.bits == source.bits else block.value(f"trunc {kind} {value} to {into}")
