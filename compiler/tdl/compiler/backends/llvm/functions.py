"""The language's built-in functions, and division and remainder of floats. libm does the transcendental ones."""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.scalars import number, register_type, round_half, suffix
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import F32, F64, DType

_INTRINSICS = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "sin": "sin", "cos": "cos", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "round": "roundeven", "abs": "fabs",
}  # fmt: skip
_LIBRARY = ("tanh", "erf")


def call(block: Block, function: str, value: str, dtype: DType) -> str:
    """A function of one argument; `dtype` is the argument's."""
    kind = register_type(dtype)
    if function == "isnan":
        return block.value(f"fcmp uno {kind} {value}, {value}")
    if dtype.is_integer:
        if function != "abs":
            raise InternalError(f"{function} of {dtype}")
        return (
            value
            if dtype.kind == "unsigned"
            else block.value(f"call {kind} @llvm.abs.{kind}({kind} {value}, i1 false)")
        )
    return round_half(block, _float_call(block, function, value, dtype), dtype)


def _float_call(block: Block, function: str, value: str, dtype: DType) -> str:
    kind = register_type(dtype)
    if function in _INTRINSICS:
        return block.value(f"call {kind} @llvm.{_INTRINSICS[function]}.{suffix(dtype)}({kind} {value})")
    if function in _LIBRARY:
        return block.value(f"call {kind} @{_library(function, kind)}({kind} {value})")
    one = number(1.0, F64)
    if function == "rsqrt":
        root = block.value(f"call {kind} @llvm.sqrt.{suffix(dtype)}({kind} {value})")
        return block.value(f"fdiv {kind} {one}, {root}")
    if function == "sigmoid":
        return _sigmoid(block, value, kind, one)
    raise InternalError(f"function {function}")


def _sigmoid(block: Block, value: str, kind: str, one: str) -> str:
    """`1 / (1 + e)` with `e = exp(-|x|)`, or `e / (1 + e)` where x < 0: small results keep their digits."""
    name = "f64" if kind == "double" else "f32"
    size = block.value(f"call {kind} @llvm.fabs.{name}({kind} {value})")
    opposite = block.value(f"fneg {kind} {size}")
    power = block.value(f"call {kind} @llvm.exp.{name}({kind} {opposite})")
    below = block.value(f"fadd {kind} {power}, {one}")
    negative = block.value(f"fcmp olt {kind} {value}, 0.0")
    above = block.value(f"select i1 {negative}, {kind} {power}, {kind} {one}")
    return block.value(f"fdiv {kind} {above}, {below}")


def power(block: Block, left: str, right: str, dtype: DType) -> str:
    kind = register_type(dtype)
    return round_half(block, block.value(f"call {kind} @{_library('pow', kind)}({kind} {left}, {kind} {right})"), dtype)


def float_division(block: Block, left: str, right: str, dtype: DType, *, want: str) -> str:
    """`left // right` or `left % right` of floats as NumPy has them: exact remainder, floor of the quotient.

    By zero, the quotient is that of `/` and the remainder NaN.
    """
    kind = register_type(dtype)
    name = suffix(F64 if kind == "double" else F32)
    whole = block.value(f"frem {kind} {left}, {right}")
    inexact = block.value(f"fcmp une {kind} {whole}, 0.0")
    left_sign = block.value(f"fcmp olt {kind} {whole}, 0.0")
    right_sign = block.value(f"fcmp olt {kind} {right}, 0.0")
    opposed = block.value(f"xor i1 {left_sign}, {right_sign}")
    adjust = block.value(f"and i1 {inexact}, {opposed}")
    if want == "remainder":
        moved = block.value(f"fadd {kind} {whole}, {right}")
        nonzero = block.value(f"select i1 {adjust}, {kind} {moved}, {kind} {whole}")
        zero = block.value(f"call {kind} @llvm.copysign.{name}({kind} 0.0, {kind} {right})")
        chosen = block.value(f"select i1 {inexact}, {kind} {nonzero}, {kind} {zero}")
        return round_half(block, chosen, dtype)
    return round_half(block, _float_quotient(block, left, right, whole, adjust, kind, name), dtype)


def _float_quotient(block: Block, left: str, right: str, whole: str, adjust: str, kind: str, name: str) -> str:
    ratio = block.value(f"fdiv {kind} {left}, {right}")
    exact = block.value(f"fdiv {kind} {block.value(f'fsub {kind} {left}, {whole}')}, {right}")
    lowered = block.value(f"fsub {kind} {exact}, {number(1.0, F64)}")
    quotient = block.value(f"select i1 {adjust}, {kind} {lowered}, {kind} {exact}")
    floor = block.value(f"call {kind} @llvm.floor.{name}({kind} {quotient})")
    above = block.value(f"fsub {kind} {quotient}, {floor}")
    nearer = block.value(f"fcmp ogt {kind} {above}, {number(0.5, F64)}")
    next_ = block.value(f"fadd {kind} {floor}, {number(1.0, F64)}")
    snapped = block.value(f"select i1 {nearer}, {kind} {next_}, {kind} {floor}")
    is_zero = block.value(f"fcmp oeq {kind} {quotient}, 0.0")
    zero = block.value(f"call {kind} @llvm.copysign.{name}({kind} 0.0, {kind} {ratio})")
    finite = block.value(f"select i1 {is_zero}, {kind} {zero}, {kind} {snapped}")
    by_zero = block.value(f"fcmp oeq {kind} {right}, 0.0")
    return block.value(f"select i1 {by_zero}, {kind} {ratio}, {kind} {finite}")


def _library(function: str, kind: str) -> str:
    return function if kind == "double" else f"{function}f"
