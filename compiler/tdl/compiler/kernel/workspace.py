"""How much memory a kernel's caller provides besides the tensors: what threads share, and a part for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from tdl.compiler.kernel.tree import Buffer, Kernel
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.forms import Symbol

ALIGNMENT = 64


def workspace_bytes(kernel: Kernel, sizes: Mapping[Symbol, int], threads: int) -> int:
    """The bytes of the workspace at some sizes, aligned to 64; exact, however large."""
    parameters = kernel.program.parameters
    values = {Symbol(name, "param"): int(value) for name, value in parameters.items() if isinstance(value, int)}
    values.update(sizes)
    shared = sum(_bytes(buffer, values) for buffer in kernel.buffers.values() if buffer.memory == "workspace")
    return shared + threads * forms.evaluate(kernel.arena, values)


def _bytes(buffer: Buffer, values: Mapping[Symbol, int]) -> int:
    assert isinstance(buffer.dtype, DType)
    elements = prod(max(0, forms.evaluate(factor, values)) for factor in buffer.factors)
    return -(-elements * buffer.dtype.bytes // ALIGNMENT) * ALIGNMENT
