"""Stores past the caches: what must be so for a call's, since they need whole vectors at whole places.

A kernel with a `stream` line has its work twice. One is for results that begin at a multiple of a vector and whose rows
do (`N % 16 == 0`, where N is an open size); the other stores as usual. The entry chooses, once for each call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tdl.compiler.backends.llvm.context import Context
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.values import TRUE, Value, integer, operate, test
from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.kernel.walk import places_of, walk
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.language.forms import Form, Product, Symbol


@dataclass(frozen=True, slots=True)
class Streaming:
    """The buffers that must be aligned, and the numbers that sizes must be multiples of."""

    buffers: tuple[str, ...]
    multiples: Mapping[Symbol, int]


def streaming_of(kernel: Kernel) -> Streaming | None:
    """What the stores past the caches need; None where there are none."""
    names = tuple(buffer.name for buffer in kernel.buffers.values() if buffer.is_streamed)
    if not names:
        return None
    multiples: dict[Symbol, int] = {}
    for node in walk(kernel.body):
        for place in places_of(node):
            if place.buffer in names:
                lanes = ALIGNMENT // concrete(kernel.buffers[place.buffer].dtype).bytes
                for symbol in _strides(place.offset):
                    multiples[symbol] = max(multiples.get(symbol, 1), lanes)
    return Streaming(names, multiples)


def _strides(offset: Form) -> Iterator[Symbol]:
    """Sizes that an index is multiplied with."""
    for atom, _ in offset.terms:
        if isinstance(atom, Product):
            yield from (symbol for symbol in (*atom.left.symbols(), *atom.right.symbols()) if symbol.kind == "dim")


def stored_plainly(kernel: Kernel) -> Kernel:
    """The kernel without stores past the caches."""
    buffers = {name: replace(buffer, is_streamed=False) for name, buffer in kernel.buffers.items()}
    return replace(kernel, buffers=buffers)


def is_aligned(context: Context, streaming: Streaming, data: Mapping[str, str]) -> Value:
    """Whether a call has what the stores past the caches need."""
    block, result = context.block, TRUE
    for name in streaming.buffers:
        address = Value(block.value(f"ptrtoint ptr {data[name]} to i64"), "i64")
        result = operate(block, "and", result, _is_multiple(context, address, ALIGNMENT))
    for symbol, count in streaming.multiples.items():
        result = operate(block, "and", result, _is_multiple(context, context.symbol(symbol), count))
    return result


def _is_multiple(context: Context, value: Value, count: int) -> Value:
    rest = operate(context.block, "and", value, integer(count - 1))
    return test(context.block, "icmp eq", rest, integer(0))
