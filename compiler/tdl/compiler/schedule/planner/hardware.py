"""What a plan is made for: how wide vectors are, how many the registers hold, how large caches are.

Vectors are counted in those of the compiler, 64 bytes each, which a narrower machine makes of several of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tdl.compiler.lower.storage import VECTOR_BYTES
from tdl.language.dtypes import DType
from tdl.language.types import AnyType


@dataclass(frozen=True)
class Hardware:
    """`registers` are those that hold a vector of 64 bytes; `near` and `middle` the first two caches in bytes."""

    registers: int = 32
    near: int = 32 << 10
    middle: int = 1 << 20

    def lanes(self, dtype: AnyType) -> int:
        """How many elements a vector has."""
        return VECTOR_BYTES // (dtype.bytes if isinstance(dtype, DType) else 4)


@cache
def this_machine() -> Hardware:
    from tdl.compiler.backends.llvm.target import host
    from tdl.compiler.machine import cache_sizes, vector_bits

    bits = vector_bits(host())
    near, middle, *_ = (*cache_sizes(), 1 << 20, 1 << 20)
    count = 32 if bits == 512 else 16
    return Hardware(count * bits // (8 * VECTOR_BYTES), near, middle)
