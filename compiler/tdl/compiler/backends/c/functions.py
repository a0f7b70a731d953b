"""The language's built-in functions of one argument, by those of `math.h`."""

from __future__ import annotations

from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.operators import rounded
from tdl.compiler.backends.c.values import UNARY, Value, call
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType

_MATH = {
    "exp": "exp", "log": "log", "tanh": "tanh", "erf": "erf", "sqrt": "sqrt", "sin": "sin", "cos": "cos",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "rint", "abs": "fabs",
}  # fmt: skip
_HELPERS = ("sigmoid", "rsqrt")


def function(code: Code, name: str, value: Value, dtype: DType) -> Value:
    """`dtype` is the argument's."""
    if name == "isnan":
        return Value(f"(bool)isnan({value.text})", UNARY)
    if dtype.is_integer:
        if name != "abs":
            raise InternalError(f"{name} of {dtype}")
        return value if dtype.kind == "unsigned" else call(code.unit.helper(f"tdl_abs_{dtype}"), value)
    if name in _HELPERS:
        return rounded(code, call(code.unit.helper(f"tdl_{name}_{'f64' if dtype.bits == 64 else 'f32'}"), value), dtype)
    return rounded(code, call(_MATH[name] + ("" if dtype.bits == 64 else "f"), value), dtype)
