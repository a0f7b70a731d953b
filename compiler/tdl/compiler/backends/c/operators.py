"""Operators on values: `+ - * /`, extremes, bits, shifts, comparisons. Division by integers is in `integers.py`.

Floats, and `uint32_t` and `uint64_t`, have C's own operators. Narrower integers would be promoted to `int`, and signed
ones must not overflow: these have helpers.
"""

from __future__ import annotations

from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.values import (
    BITS,
    EQUALITY,
    ORDER,
    PRODUCT,
    SUM,
    UNARY,
    Value,
    call,
    cast,
    negated,
    operation,
    value_type,
)
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType

_ARITHMETIC = {"add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "div": ("/", PRODUCT)}
_BITS = {"bit_and": "&", "bit_or": "|", "bit_xor": "^"}
_COMPARISONS = {
    "eq": ("==", EQUALITY), "ne": ("!=", EQUALITY), "lt": ("<", ORDER), "le": ("<=", ORDER), "gt": (">", ORDER),
    "ge": (">=", ORDER),
}  # fmt: skip


def unary(code: Code, operator: str, value: Value, dtype: DType) -> Value:
    match operator:
        case "neg" if dtype.is_float:
            return Value(f"-{value.within(0)}", UNARY)
        case "neg":
            return call(code.unit.helper(f"tdl_neg_{dtype}"), value)
        case "not":
            return negated(value)
        case "bit_not":
            return cast(value_type(dtype), Value(f"~{value.within(0)}", UNARY))
    raise InternalError(f"unary operator {operator}")


def binary(code: Code, operator: str, left: Value, right: Value, dtype: DType) -> Value:
    """An operator that cannot fail, and whose sides both run."""
    if operator in ("pow", "floordiv", "mod"):
        name = {"pow": "pow", "floordiv": "floor_div", "mod": "mod"}[operator]
        return rounded(code, _float_function(code, name, left, right, dtype), dtype)
    if dtype.is_float and operator in _ARITHMETIC:
        return rounded(code, operation(left, *_ARITHMETIC[operator][:1], right, _ARITHMETIC[operator][1]), dtype)
    if operator in _BITS:
        made = operation(left, _BITS[operator], right, BITS)
        return cast(value_type(dtype), made) if dtype.bits < 32 else made
    if operator in _ARITHMETIC and dtype.kind == "unsigned" and dtype.bits >= 32:
        return operation(left, *_ARITHMETIC[operator][:1], right, _ARITHMETIC[operator][1])
    kind = "f32" if dtype.is_half else str(dtype)
    return call(code.unit.helper(f"tdl_{operator}_{kind}"), left, right)


def _float_function(code: Code, name: str, left: Value, right: Value, dtype: DType) -> Value:
    wide = dtype.bits == 64
    if name == "pow":
        return call("pow" if wide else "powf", left, right)
    return call(code.unit.helper(f"tdl_{name}_{'f64' if wide else 'f32'}"), left, right)


def compare(operator: str, left: Value, right: Value) -> Value:
    text, level = _COMPARISONS[operator]
    return operation(left, text, right, level)


def rounded(code: Code, value: Value, dtype: DType) -> Value:
    """A `float` rounded to the dtype, if that is a half float; else the value itself."""
    return call(code.unit.helper(f"tdl_round_{dtype}"), value) if dtype.is_half else value
