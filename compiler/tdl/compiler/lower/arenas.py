"""Where buffers begin in a thread's arena: one after the other where they live together, else in one place.

    arena Bp                    0 .. 512 KiB
        ...
            arena Ap            512 KiB .. 516 KiB
    arena other                 0 ..

Last of the passes that see buffers: until then copies of bodies may still come and go.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tdl.compiler.kernel.tree import Allocate, Buffer, Kernel
from tdl.compiler.kernel.walk import Nodes, body_of
from tdl.compiler.lower.storage import VECTOR_BYTES
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.forms import ZERO, Form


def place_arenas(kernel: Kernel) -> Kernel:
    """The kernel with the start of every buffer in an arena, and the arena's size."""
    placer = _Placer(kernel, dict(kernel.buffers))
    placer.nodes(kernel.body, ZERO)
    used = placer.used | {buffer.name for buffer in kernel.buffers.values() if buffer.memory in ("global", "workspace")}
    buffers = {name: buffer for name, buffer in placer.buffers.items() if name in used}
    return replace(kernel, buffers=buffers, arena=placer.end)


@dataclass
class _Placer:
    kernel: Kernel
    buffers: dict[str, Buffer]
    end: Form = ZERO
    used: set[str] = field(default_factory=set)

    def nodes(self, nodes: Nodes, start: Form) -> None:
        for node in nodes:
            inner = start
            if isinstance(node, Allocate):
                inner = self.place(self.buffers[node.buffer], start)
                self.used.add(node.buffer)
            self.nodes(body_of(node), inner)

    def place(self, buffer: Buffer, start: Form) -> Form:
        """Put a buffer at least at `start`; where the next may begin."""
        if buffer.memory != "arena":
            return start
        if buffer.name in self.used:
            start = forms.extreme("max", start, buffer.start)
        self.buffers[buffer.name] = replace(buffer, start=start)
        end = start + bytes_of(buffer)
        self.end = forms.extreme("max", self.end, end)
        return end


def bytes_of(buffer: Buffer) -> Form:
    """The bytes of a buffer, whole vectors and one more that may be read past its end."""
    assert isinstance(buffer.dtype, DType)
    lanes = VECTOR_BYTES // buffer.dtype.bytes
    return forms.floor_div(buffer.size + (2 * lanes - 1), forms.constant(lanes)) * VECTOR_BYTES
