"""Explicit conversions between dtypes. Each rounds once; float to integer truncates, saturates and makes NaN 0."""

from __future__ import annotations

from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.operators import rounded
from tdl.compiler.backends.c.values import CHOICE, EQUALITY, Value, call, cast, operation, value_type
from tdl.language.dtypes import F64, DType


def convert(code: Code, value: Value, source: DType, target: DType) -> Value:
    if source == target:
        return value
    if target.kind == "bool":
        zero = Value("0.0" if source.bits == 64 else "0.0f") if source.is_float else Value("0")
        return operation(value, "!=", zero, EQUALITY)
    if source.is_float:
        return _float_to_float(code, value, source, target) if target.is_float else _to_integer(code, value, target)
    if target.is_float:
        return _integer_to_float(code, value, source, target)
    if source.kind == "bool":
        return Value(f"{value.within(CHOICE - 1)} ? 1{_suffix(target)} : 0{_suffix(target)}", CHOICE)
    return cast(value_type(target), value)


def _suffix(dtype: DType) -> str:
    return "u" if dtype.kind == "unsigned" else ""


def _float_to_float(code: Code, value: Value, source: DType, target: DType) -> Value:
    if target == F64:
        return cast("double", value)
    if source == F64 and target.is_half:
        value = call(code.unit.helper("tdl_odd_f32"), value)
    elif source == F64:
        value = cast("float", value)
    return rounded(code, value, target)


def _to_integer(code: Code, value: Value, target: DType) -> Value:
    return call(code.unit.helper(f"tdl_{target}_from_float"), cast("double", value))


def _integer_to_float(code: Code, value: Value, source: DType, target: DType) -> Value:
    if not target.is_half or source.bits <= 16:
        return rounded(code, cast(value_type(target), value), target)
    if source.bits == 64:
        value = call(code.unit.helper(f"tdl_sticky_{source}"), value)
    return _float_to_float(code, cast("double", value), F64, target)
