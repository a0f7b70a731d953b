"""Vector loops become lanes.

    vector for l in 0..min(16, N - 16*v)             lanes l of 16, the first min(16, N - 16*v)
        Y[16*v + l] = X[16*v + l] * 2          ->        Y[16*v + l] = X[16*v + l] * 2

As many lanes as the loop can have iterations, in whole powers of two; a longer loop is cut into vectors. What lives in
the body is kept once for each lane. A loop whose lanes would meet in one element, or that holds another vector loop,
runs one iteration after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tdl.compiler.kernel.tree import Allocate, Buffer, Guard, Kernel, Kind, Lanes, Loop, Node, Update
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
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.simplify import condition, conditions_of
from tdl.compiler.lower.storage import VECTOR_BYTES
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.forms import Form, Symbol
from tdl.language.witness import size_facts

_REGISTERS = 16
"""Vectors that one value may take."""
_UNROLLED = 8


def vectorize_loops(kernel: Kernel) -> Kernel:
    """The kernel without vector loops."""
    vectorizer = _Vectorizer(kernel, dict(kernel.buffers))
    body = vectorizer.nodes(kernel.body, Known(size_facts(kernel.program)))
    return kernel if body == kernel.body else replace(kernel, body=body, buffers=vectorizer.buffers)


@dataclass
class _Vectorizer:
    kernel: Kernel
    buffers: dict[str, Buffer]

    def nodes(self, nodes: Nodes, known: Known) -> Nodes:
        return map_bodies(nodes, lambda node: self.node(node, known))

    def node(self, node: Node, known: Known) -> Nodes:
        match node:
            case Loop() if node.kind == "vector":
                return self.vector(node, known)
            case Loop(symbol, lo, hi):
                return with_body(node, self.nodes(node.body, known.inside(symbol, lo, hi)))
            case Guard(test):
                return with_body(node, self.nodes(node.body, known.where(conditions_of(test))))
        return with_body(node, self.nodes(body_of(node), known)) if body_of(node) else (node,)

    def vector(self, loop: Loop, known: Known) -> Nodes:
        extent, most = loop.hi - loop.lo, known.most(loop)
        natural = self.natural_lanes(loop)
        if not self.may_be_lanes(loop):
            kind: Kind = "unrolled" if most is not None and most <= _UNROLLED else "serial"
            return self.node(replace(loop, kind=kind), known)
        if most is None or most > natural * _REGISTERS:
            return self.cut(loop, natural, most, known)
        if most <= 1:
            return self.node(replace(loop, kind="serial"), known)
        count = 1 << (most - 1).bit_length()
        active = None if extent == forms.constant(count) else extent
        body = loop.body
        if loop.lo != forms.ZERO:
            body = substitute(body, {loop.symbol: loop.lo + forms.symbol(loop.symbol)})
        body = self.widened(body, loop.symbol, count)
        made: Nodes = (Lanes(loop.symbol, count, active, body, loop.origin),)
        test = condition([] if active is None or known.holds(active - 1) else [active - 1])
        return made if test is None else (Guard(test, made, loop.origin),)

    def cut(self, loop: Loop, lanes: int, most: int | None, known: Known) -> Nodes:
        """The loop over vectors, around one over the lanes of each."""
        extent = loop.hi - loop.lo
        outer = Symbol(f"{loop.symbol.name}.vector", "index")
        here = forms.symbol(outer)
        left = extent - here * lanes
        is_whole = known.holds(-forms.modulo(extent, forms.constant(lanes)))
        size = forms.constant(lanes) if is_whole else forms.extreme("min", forms.constant(lanes), left)
        value = {loop.symbol: loop.lo + here * lanes + forms.symbol(loop.symbol)}
        inner = replace(loop, lo=forms.ZERO, hi=size, most=lanes, body=substitute(loop.body, value))
        steps = forms.floor_div(extent + (lanes - 1), forms.constant(lanes))
        kind: Kind = "unrolled" if most is not None and most <= _UNROLLED * lanes else "serial"
        whole = None if most is None else -(-most // lanes)
        return self.node(Loop(outer, forms.ZERO, steps, (inner,), kind, False, whole, loop.origin), known)

    # ---- what a loop holds

    def natural_lanes(self, loop: Loop) -> int:
        """How many elements of the widest kind that the loop writes fill a vector."""
        written = [self.buffers[place.buffer].dtype for node in walk(loop.body) for place in places_of(node)]
        return VECTOR_BYTES // max(dtype.bytes for dtype in written if isinstance(dtype, DType))

    def may_be_lanes(self, loop: Loop) -> bool:
        """Whether each lane combines into an element of its own, or all into one."""
        for node in walk(loop.body):
            if isinstance(node, Lanes) or (isinstance(node, Loop) and node.kind in ("vector", "parallel")):
                return False
            if isinstance(node, Update) and any(_meets(place.offset, loop.symbol) for place in node.places):
                return False
        return True

    def widened(self, body: Nodes, symbol: Symbol, count: int) -> Nodes:
        """The body with what lives in it kept for each lane, the lanes of an element side by side."""
        own = {node.buffer for node in walk(body) if isinstance(node, Allocate)}
        for name in own:
            buffer = self.buffers[name]
            self.buffers[name] = replace(buffer, factors=(*buffer.factors, forms.constant(count)))
        return map_offsets(body, own, lambda offset: offset * count + forms.symbol(symbol)) if own else body


def _meets(offset: Form, symbol: Symbol) -> bool:
    """Whether several lanes, and not all, may be at one offset: it moves otherwise than in even steps."""
    rest = Form(tuple(term for term in offset.terms if term[0] != symbol), offset.constant)
    return rest.mentions(symbol)
