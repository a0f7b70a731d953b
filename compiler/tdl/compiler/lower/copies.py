"""Copies that nobody scheduled are vectors along memory.

    for j in 0..64                               vector for j in 0..64
        Bp[64*k + j] = B[N*k + j]       ->           Bp[64*k + j] = B[N*k + j]

Only where both sides are contiguous: a vector gathered from rows is no faster than its elements one by one.
"""

from __future__ import annotations

from dataclasses import replace

from tdl.compiler.kernel.tree import Kernel, Loop, Node, Store
from tdl.compiler.kernel.walk import Nodes, body_of, map_bodies, with_body
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access


def vectorize_copies(kernel: Kernel) -> Kernel:
    """The kernel with its copies' innermost loops marked as vectors; one that LLVM is to decide about as it is."""
    return replace(kernel, body=map_bodies(kernel.body, _node)) if kernel.is_final else kernel


def _node(node: Node) -> Nodes:
    if isinstance(node, Loop) and node.kind == "serial" and _is_copy(node):
        return (replace(node, kind="vector"),)
    return with_body(node, map_bodies(body_of(node), _node)) if body_of(node) else (node,)


def _is_copy(loop: Loop) -> bool:
    match loop.body:
        case (Store(place, Access(_, (offset,))),):
            return _is_step(place.offset, loop.symbol) and _is_step(offset, loop.symbol)
    return False


def _is_step(offset: Form, symbol: Symbol) -> bool:
    """Whether the offset moves by one with the symbol."""
    rest = Form(tuple(term for term in offset.terms if term[0] != symbol), offset.constant)
    return dict(offset.terms).get(symbol) == 1 and not rest.mentions(symbol)
