"""Element types. Pure: NumPy is not imported here, so that checking a file does not pay for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["float", "signed", "unsigned", "bool"]
Class = Literal["float", "integer", "number", "dtype"]


@dataclass(frozen=True, slots=True)
class DType:
    """An element type such as `f32`. `bits` is its width in memory (8 for bool)."""

    name: str
    kind: Kind
    bits: int

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("signed", "unsigned")

    @property
    def is_half(self) -> bool:
        """A float of 16 bits, whose sums are accumulated in f32."""
        return self.kind == "float" and self.bits == 16

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def least(self) -> int:
        """Least value of an integer type."""
        return -(1 << self.bits - 1) if self.kind == "signed" else 0

    @property
    def greatest(self) -> int:
        """Greatest value of an integer type."""
        return (1 << self.bits - 1) - 1 if self.kind == "signed" else (1 << self.bits) - 1

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class TypeVariable:
    """A compile-time dtype parameter while a generic op is checked symbolically: `T: float`."""

    name: str
    bound: Class

    @property
    def is_float(self) -> bool:
        return self.bound == "float"

    @property
    def is_integer(self) -> bool:
        return self.bound == "integer"

    def __str__(self) -> str:
        return self.name


Type = DType | TypeVariable

F64, F32, F16, BF16 = (
    DType("f64", "float", 64),
    DType("f32", "float", 32),
    DType("f16", "float", 16),
    DType("bf16", "float", 16),
)
I64, I32, I16, I8 = (DType(f"i{bits}", "signed", bits) for bits in (64, 32, 16, 8))
U64, U32, U16, U8 = (DType(f"u{bits}", "unsigned", bits) for bits in (64, 32, 16, 8))
BOOL = DType("bool", "bool", 8)

DTYPES: dict[str, DType] = {
    dtype.name: dtype for dtype in (F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL)
}
CLASSES: tuple[Class, ...] = ("float", "integer", "number", "dtype")


def belongs(dtype: DType, bound: Class) -> bool:
    """Whether a dtype is of a class: `number` holds floats and integers, `dtype` bool as well."""
    match bound:
        case "float":
            return dtype.is_float
        case "integer":
            return dtype.is_integer
        case "number":
            return dtype.kind != "bool"
        case "dtype":
            return True
