"""A copy for the next iteration is made before this one's is used, in the other half of a buffer twice as large.

    for ko in 0..n                              stack As: f32[2*512]
        stack As: f32[512]                      if n > 0
        As[..] = A[.. ko ..]            ->          As[..] = A[.. 0 ..]
        use As[..]                              for ko in 0..n
                                                    if ko + 1 < n
                                                        As[.. + 512*((ko + 1) % 2)] = A[.. ko + 1 ..]
                                                    use As[.. + 512*(ko % 2)]

First of the passes that change loops, while a copy is still a node of its own in the body of its loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from tdl.compiler.kernel.tree import Allocate, Buffer, Guard, Kernel, Loop, Node, Origin
from tdl.compiler.kernel.walk import (
    Nodes,
    body_of,
    map_bodies,
    map_offsets,
    places_of,
    substitute,
    walk,
    with_body,
)
from tdl.compiler.lower.simplify import condition
from tdl.compiler.lower.storage import VECTOR_BYTES
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.forms import Form


def double_buffers(kernel: Kernel) -> Kernel:
    """The kernel with the copies made ahead that a schedule asked for."""
    doubler = _Doubler(dict(kernel.buffers))
    body = map_bodies(kernel.body, doubler.node)
    return kernel if body == kernel.body else replace(kernel, body=body, buffers=doubler.buffers)


@dataclass(frozen=True)
class _Doubler:
    buffers: dict[str, Buffer]

    def node(self, node: Node) -> Nodes:
        made = with_body(node, map_bodies(body_of(node), self.node)) if body_of(node) else (node,)
        return tuple(each for inner in made for each in self.ahead(inner)) if isinstance(node, Loop) else made

    def ahead(self, loop: Node) -> Nodes:
        """The loop, with the buffers that are to be doubled around it."""
        assert isinstance(loop, Loop)
        names = self.doubled(loop)
        if not names:
            return (loop,)
        halves = {name: self.double(name) for name in names}
        fill, use = _parted(loop.body, names)
        here, origin = forms.symbol(loop.symbol), loop.origin
        following = here + (-1 if loop.descending else 1)
        first = loop.hi - 1 if loop.descending else loop.lo
        left = following - loop.lo if loop.descending else loop.hi - following - 1

        def at(counter: Form, nodes: Nodes) -> Nodes:
            """The nodes with the halves that an iteration uses."""
            parity = forms.modulo(counter - loop.lo, forms.constant(2))
            for name, half in halves.items():
                nodes = map_offsets(nodes, {name}, partial(_moved, by=forms.product(parity, half)))
            return nodes

        begin = at(first, substitute(fill, {loop.symbol: first}))
        ahead = at(following, substitute(fill, {loop.symbol: following}))
        body = (*_guarded(left, ahead, origin), *at(here, use))
        made: Nodes = (*_guarded(loop.hi - loop.lo - 1, begin, origin), replace(loop, body=body))
        for name in names:
            made = (Allocate(name, made, origin),)
        return made

    def doubled(self, loop: Loop) -> list[str]:
        """The buffers that live for one iteration of the loop, and are to be doubled."""
        found: list[str] = []
        body = loop.body
        while len(body) == 1 and isinstance(body[0], Allocate):
            if self.buffers[body[0].buffer].is_double:
                found.append(body[0].buffer)
            body = body[0].body
        return found

    def double(self, name: str) -> Form:
        """Make the buffer twice as large; how many elements a half has, in whole vectors."""
        buffer = self.buffers[name]
        assert isinstance(buffer.dtype, DType)
        lanes = VECTOR_BYTES // buffer.dtype.bytes
        half = forms.floor_div(buffer.size + (lanes - 1), forms.constant(lanes)) * lanes
        self.buffers[name] = replace(buffer, factors=(half * 2,), is_double=False)
        return half


def _parted(nodes: Nodes, names: list[str]) -> tuple[Nodes, Nodes]:
    """The nodes that fill the buffers, and the others, without these buffers' allocations."""
    if len(nodes) == 1 and isinstance(nodes[0], Allocate):
        fill, use = _parted(nodes[0].body, names)
        return fill, use if nodes[0].buffer in names else with_body(nodes[0], use)
    fill = tuple(node for node in nodes if _fills(node, names))
    return fill, tuple(node for node in nodes if not _fills(node, names))


def _fills(node: Node, names: list[str]) -> bool:
    written = {place.buffer for each in walk((node,)) for place in places_of(each)}
    return bool(written) and written <= set(names)


def _moved(offset: Form, by: Form) -> Form:
    return offset + by


def _guarded(left: Form, nodes: Nodes, origin: Origin) -> Nodes:
    """The nodes where `left >= 0`."""
    test = condition((left,))
    return nodes if test is None or not nodes else (Guard(test, nodes, origin),)
