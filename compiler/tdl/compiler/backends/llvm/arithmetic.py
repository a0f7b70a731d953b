"""Operators on registers: `+ - * /`, extremes, bits, shifts, comparisons. Division by integers is in `integers.py`."""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.scalars import float_constant, round_half
from tdl.compiler.backends.llvm.values import TRUE, Value, integer, intrinsic, operate, select, test
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType

_FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTEGER = {
    "add": "add", "sub": "sub", "mul": "mul", "bit_and": "and", "bit_or": "or", "bit_xor": "xor",
}  # fmt: skip
_COMPARISONS = {
    # operator: float (NaN compares false, except with ne), signed, unsigned
    "eq": ("oeq", "eq", "eq"), "ne": ("une", "ne", "ne"), "lt": ("olt", "slt", "ult"), "le": ("ole", "sle", "ule"),
    "gt": ("ogt", "sgt", "ugt"), "ge": ("oge", "sge", "uge"),
}  # fmt: skip
_NAN = "0x7FF8000000000000"


def unary(block: Block, operator: str, value: Value, dtype: DType) -> Value:
    match operator:
        case "neg" if dtype.is_float:
            return operate(block, "fneg", value)
        case "neg":
            return operate(block, "sub", integer(0, value.kind), value)
        case "not":
            return operate(block, "xor", value, TRUE)
        case "bit_not":
            return operate(block, "xor", value, integer(-1, value.kind))
    raise InternalError(f"unary operator {operator}")


def binary(block: Block, operator: str, left: Value, right: Value, dtype: DType) -> Value:
    """An operator that cannot fail, and whose sides both run."""
    if operator in ("min", "max"):
        return extreme(block, operator, left, right, dtype)
    if dtype.is_float and operator in _FLOAT:
        return round_half(block, operate(block, _FLOAT[operator], left, right), dtype)
    if operator in ("shl", "shr"):
        count = operate(block, "and", right, integer(dtype.bits - 1, right.kind))
        shift = "shl" if operator == "shl" else "ashr" if dtype.kind == "signed" else "lshr"
        return operate(block, shift, left, count)
    if operator in _INTEGER:
        return operate(block, _INTEGER[operator], left, right)
    if operator in ("and", "or"):
        return operate(block, operator, left, right)
    raise InternalError(f"operator {operator} on {dtype}")


def compare(block: Block, operator: str, left: Value, right: Value, dtype: DType) -> Value:
    floats, signed, unsigned = _COMPARISONS[operator]
    if dtype.is_float:
        return test(block, f"fcmp {floats}", left, right)
    return test(block, f"icmp {signed if dtype.kind == 'signed' else unsigned}", left, right)


def extreme(block: Block, operator: str, left: Value, right: Value, dtype: DType) -> Value:
    """`min` or `max`; of floats, NaN where either side is NaN."""
    if not dtype.is_float:
        if dtype.kind == "bool":
            raise InternalError("bool has no extremes")
        return intrinsic(block, f"{'s' if dtype.kind == 'signed' else 'u'}{operator}", left, right)
    if right.is_constant:
        left, right = right, left
    wins = test(block, f"fcmp {'ogt' if operator == 'max' else 'olt'}", left, right)
    chosen = select(block, wins, left, right)  # right where that is NaN
    if left.is_constant and left.text != _NAN:
        return chosen
    return select(block, is_nan(block, left), left, chosen)


def is_nan(block: Block, value: Value) -> Value:
    return test(block, "fcmp uno", value, value)


def is_zero(block: Block, value: Value) -> Value:
    """Whether a float is 0 or -0."""
    return test(block, "fcmp oeq", value, float_constant(0.0, value.kind))
