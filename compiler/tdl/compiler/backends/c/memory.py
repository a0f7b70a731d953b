"""Elements in memory as values, and values as memory holds them."""

from __future__ import annotations

from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.values import Value, call
from tdl.language.dtypes import DType


def loaded(code: Code, raw: Value, dtype: DType) -> Value:
    """An element of memory as a value."""
    if dtype.is_half:
        return call(code.unit.helper(f"tdl_f32_from_{dtype}"), raw)
    return Value(f"({raw.text} != 0)") if dtype.kind == "bool" else raw


def stored(code: Code, value: Value, dtype: DType) -> Value:
    """A value as memory holds it."""
    return call(code.unit.helper(f"tdl_{dtype}_from_f32"), value) if dtype.is_half else value
