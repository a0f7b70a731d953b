"""How elements live in memory and in registers, and how numbers are written.

    dtype      memory   register
    f64 f32    double   double, float
    f16 bf16   i16      float, always exactly a value of the dtype
    i8..u64    iN       iN
    bool       i8       i1

Half floats are computed in f32 and rounded after each operation; for `+ - * / sqrt` that rounds as if once, since f32
has more than twice the digits.
"""

from __future__ import annotations

import struct

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.values import Value, cast, support, test
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType, Type


def concrete(dtype: Type) -> DType:
    """The dtype, which a program that runs always has."""
    if not isinstance(dtype, DType):
        raise InternalError(f"dtype {dtype} is not known when code is made")
    return dtype


def register_type(dtype: Type) -> str:
    dtype = concrete(dtype)
    if dtype.is_float:
        return "double" if dtype.bits == 64 else "float"
    return "i1" if dtype.kind == "bool" else f"i{dtype.bits}"


def memory_type(dtype: Type) -> str:
    dtype = concrete(dtype)
    return register_type(dtype) if dtype.is_float and not dtype.is_half else f"i{dtype.bits}"


def number(value: int | float | bool, dtype: Type) -> Value:
    """A constant of the dtype, rounded once to it."""
    dtype = concrete(dtype)
    kind = register_type(dtype)
    match dtype.kind:
        case "bool":
            return Value("true" if value else "false", kind)
        case "signed" | "unsigned":
            return Value(str(int(value)), kind)
        case "float":
            return Value(_float_text(rounded(float(value), dtype)), kind)


def float_constant(value: float, kind: str) -> Value:
    """A constant that both `float` and `double` hold exactly."""
    return Value(_float_text(value), kind)


def rounded(value: float, dtype: DType) -> float:
    """The nearest value of a float dtype, ties to even, as a Python float."""
    match dtype.name:
        case "f64":
            return value
        case "bf16":
            return _nearest(value, 8, -126, 127)
        case "f16":
            return _nearest(value, 11, -14, 15)
        case _:
            return _nearest(value, 24, -126, 127)


def _nearest(value: float, digits: int, least: int, greatest: int) -> float:
    """`value` rounded to `digits` binary digits with exponents from `least` (gradual underflow) to `greatest`."""
    if value != value or value in (0.0, float("inf"), float("-inf")):
        return value
    from math import copysign, frexp, ldexp

    exponent = max(frexp(value)[1] - 1, least)
    step = exponent - digits + 1
    scaled = ldexp(value, -step)
    result = ldexp(float(round(scaled)), step)
    if abs(result) >= 2.0 ** (greatest + 1):
        return copysign(float("inf"), value)
    return copysign(result, value)


def _float_text(value: float) -> str:
    if value != value:
        return "0x7FF8000000000000"
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def loaded(block: Block, raw: Value, dtype: Type) -> Value:
    """What was read from memory, as registers hold it."""
    dtype = concrete(dtype)
    match dtype.name:
        case "bool":
            return test(block, "icmp ne", raw, Value("0", "i8"))
        case "f16" | "bf16":
            return support(block, f"tdl.extend.{dtype.name}", raw, "float")
    return raw


def stored(block: Block, value: Value, dtype: Type) -> Value:
    """A register's value as memory holds it."""
    dtype = concrete(dtype)
    match dtype.name:
        case "bool":
            return cast(block, "zext", value, "i8")
        case "f16" | "bf16":
            return support(block, f"tdl.pack.{dtype.name}", value, "i16")
    return value


def round_half(block: Block, value: Value, dtype: Type) -> Value:
    """An f32 value rounded to the dtype, if that is a half float; else the value itself."""
    dtype = concrete(dtype)
    return support(block, f"tdl.round.{dtype.name}", value, "float") if dtype.is_half else value
