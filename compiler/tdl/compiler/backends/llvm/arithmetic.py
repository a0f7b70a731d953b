"""Operators on registers: `+ - * /`, extremes, bits, shifts, comparisons. Division by integers is in `integers.py`."""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.scalars import register_type, round_half
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


def unary(block: Block, operator: str, value: str, dtype: DType) -> str:
    kind = register_type(dtype)
    match operator:
        case "neg" if dtype.is_float:
            return block.value(f"fneg {kind} {value}")
        case "neg":
            return block.value(f"sub {kind} 0, {value}")
        case "not":
            return block.value(f"xor i1 {value}, true")
        case "bit_not":
            return block.value(f"xor {kind} {value}, -1")
    raise InternalError(f"unary operator {operator}")


def binary(block: Block, operator: str, left: str, right: str, dtype: DType) -> str:
    """An operator that cannot fail, and whose sides both run."""
    kind = register_type(dtype)
    if operator in ("min", "max"):
        return extreme(block, operator, left, right, dtype)
    if dtype.is_float and operator in _FLOAT:
        return round_half(block, block.value(f"{_FLOAT[operator]} {kind} {left}, {right}"), dtype)
    if operator in ("shl", "shr"):
        count = block.value(f"and {kind} {right}, {dtype.bits - 1}")
        shift = "shl" if operator == "shl" else "ashr" if dtype.kind == "signed" else "lshr"
        return block.value(f"{shift} {kind} {left}, {count}")
    if operator in _INTEGER:
        return block.value(f"{_INTEGER[operator]} {kind} {left}, {right}")
    if operator in ("and", "or"):
        return block.value(f"{operator} i1 {left}, {right}")
    raise InternalError(f"operator {operator} on {dtype}")


def compare(block: Block, operator: str, left: str, right: str, dtype: DType) -> str:
    floats, signed, unsigned = _COMPARISONS[operator]
    if dtype.is_float:
        return block.value(f"fcmp {floats} {register_type(dtype)} {left}, {right}")
    return block.value(f"icmp {signed if dtype.kind == 'signed' else unsigned} {register_type(dtype)} {left}, {right}")


def extreme(block: Block, operator: str, left: str, right: str, dtype: DType) -> str:
    """`min` or `max`; of floats, NaN where either side is NaN."""
    kind = register_type(dtype)
    if not dtype.is_float:
        if dtype.kind == "bool":
            raise InternalError("bool has no extremes")
        name = f"llvm.{'s' if dtype.kind == 'signed' else 'u'}{operator}.{kind}"
        return block.value(f"call {kind} @{name}({kind} {left}, {kind} {right})")
    if not right.startswith("%"):
        left, right = right, left
    wins = block.value(f"fcmp {'ogt' if operator == 'max' else 'olt'} {kind} {left}, {right}")
    chosen = block.value(f"select i1 {wins}, {kind} {left}, {kind} {right}")  # right where that is NaN
    if not left.startswith("%") and left != "0x7FF8000000000000":
        return chosen
    is_nan = block.value(f"fcmp uno {kind} {left}, {left}")
    return block.value(f"select i1 {is_nan}, {kind} {left}, {kind} {chosen}")
