"""Values as C text: how tightly the text binds, and how dtypes and numbers are written.

dtype      memory     as a value
f64 f32    double...  double, float
f16 bf16   uint16_t   float, always exactly a value of the dtype
i8..u64    int8_t...  int8_t...
bool       uint8_t    bool
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.compiler.backends.llvm.scalars import concrete, rounded
from tdl.language.dtypes import F32, DType, Type

ATOM, UNARY, PRODUCT, SUM, SHIFT, ORDER, EQUALITY, BITS, AND, OR, CHOICE = range(11)
"""How tightly C's operators bind, the tightest first. `BITS` are `& ^ |`, in which compilers want parentheses."""


@dataclass(frozen=True, slots=True)
class Value:
    text: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """The text as an operand of something that binds so tightly."""
        return self.text if self.level <= level else f"({self.text})"


TRUE, FALSE = Value("true"), Value("false")


def operation(left: Value, operator: str, right: Value, level: int) -> Value:
    """A binary operator, with the parentheses that it needs, and those that compilers ask for."""
    if level in (PRODUCT, SUM, AND):
        return Value(f"{left.within(level)} {operator} {right.within(level - 1)}", level)
    inner = EQUALITY if level == OR else SUM
    return Value(f"{left.within(inner)} {operator} {right.within(inner)}", level)


def negated(value: Value) -> Value:
    return Value(f"!{value.within(ATOM)}", UNARY)


def cast(type_: str, value: Value) -> Value:
    return Value(f"({type_}){value.within(ATOM)}", UNARY)


def call(function: str, *args: Value) -> Value:
    return Value(f"{function}({', '.join(arg.text for arg in args)})")


def element(buffer: str, offset: Value) -> Value:
    return Value(f"{buffer}[{offset.text}]")


# ---- dtypes


def memory_type(dtype: Type) -> str:
    """What an element is in memory."""
    dtype = concrete(dtype)
    return "uint16_t" if dtype.is_half else "uint8_t" if dtype.kind == "bool" else value_type(dtype)


def value_type(dtype: Type) -> str:
    """What an element is in an expression."""
    dtype = concrete(dtype)
    match dtype.kind:
        case "float":
            return "double" if dtype.bits == 64 else "float"
        case "bool":
            return "bool"
        case "signed":
            return f"int{dtype.bits}_t"
        case _:
            return f"uint{dtype.bits}_t"


# ---- numbers


def number(value: int | float | bool, dtype: Type) -> Value:
    """A constant of the dtype, rounded once to it."""
    dtype = concrete(dtype)
    match dtype.kind:
        case "bool":
            return TRUE if value else FALSE
        case "float":
            return _float(rounded(float(value), dtype), dtype)
    return integer(int(value), dtype)


def integer(value: int, dtype: DType) -> Value:
    if dtype.kind == "unsigned":
        return Value(f"UINT64_C({value})" if dtype.bits == 64 else f"{value}u")
    if value == dtype.least:
        return Value(f"INT{dtype.bits}_MIN")
    digits = str(abs(value)) if abs(value) < 1 << 31 else f"INT{dtype.bits}_C({abs(value)})"
    return Value(f"-{digits}", UNARY) if value < 0 else Value(digits)


def size(value: int) -> Value:
    """An `int64_t`."""
    return integer(_wrapped(value), DType("i64", "signed", 64))


def _wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _float(value: float, dtype: DType) -> Value:
    if value != value:
        return Value("(double)NAN", UNARY) if dtype.bits == 64 else Value("NAN")
    sign, size_ = ("-", -value) if str(value).startswith("-") else ("", value)
    if size_ == float("inf"):
        text = "(double)INFINITY" if dtype.bits == 64 else "INFINITY"
        return Value(sign + text, UNARY if sign or dtype.bits == 64 else ATOM)
    text = repr(size_) if dtype.bits == 64 else _shortest(size_)
    return Value(sign + (text if dtype.bits == 64 else f"{text}f"), UNARY if sign else ATOM)


def _shortest(value: float) -> str:
    """The fewest digits that a `float` is read back from."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if rounded(float(text), F32) == value:
            break
    return text if "." in text or "e" in text else f"{text}.0"
