"""What is left of a tile on two sides is kept in memory, with loops, where registers would need a copy of all for each.

    register Cr: f32[384]                           stack Cr.rest: f32[384]
    for ki in 0..K                                  for ki in 0..K
        unrolled for ii in 0..M - 6*ir                  for ii in 0..M - 6*ir
            unrolled for ji in 0..n         ->              for ji in 0..n
                Cr[64*ii + 16*ji + ..] += ..                    Cr.rest[64*ii + 16*ji + ..] += ..

With open sizes a tile's extents are unknown only there. Registers have no addresses: each loop over them is unrolled,
with a condition around each copy where its extent is not a number; of two such loops, every pair of iterations has
conditions of its own, which costs more to compile than all full tiles do. One such loop stays in registers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tdl.compiler.kernel.tree import Allocate, Buffer, Kernel, Loop, Node, Place
from tdl.compiler.kernel.walk import (
    Nodes,
    body_of,
    map_bodies,
    map_forms,
    map_places,
    offsets_into,
    with_body,
)
from tdl.language import forms
from tdl.language.forms import Symbol
from tdl.language.tree import Access, Expr, map_children


def keep_rest_in_memory(kernel: Kernel) -> Kernel:
    """The kernel with tiles of two unknown extents on the stack."""
    keeper = _Keeper(dict(kernel.buffers))
    body = map_bodies(kernel.body, keeper.node)
    return kernel if body == kernel.body else replace(kernel, body=body, buffers=keeper.buffers)


@dataclass(frozen=True)
class _Keeper:
    buffers: dict[str, Buffer]

    def node(self, node: Node) -> Nodes:
        if isinstance(node, Allocate) and self.buffers[node.buffer].memory == "register":
            counting = {symbol for offset in offsets_into(node.body, {node.buffer}) for symbol in offset.symbols()}
            if _unknown(node.body, counting) > 1:
                node = self.kept(node, counting)
        return with_body(node, map_bodies(body_of(node), self.node)) if body_of(node) else (node,)

    def kept(self, node: Allocate, counting: set[Symbol]) -> Allocate:
        """The allocation on the stack, under another name."""
        name = f"{node.buffer}.rest"
        self.buffers[name] = replace(self.buffers[node.buffer], name=name, memory="stack")
        return replace(node, buffer=name, body=_renamed(node.body, node.buffer, name, counting))


def _unknown(nodes: Nodes, counting: set[Symbol]) -> int:
    """How many loops over registers whose extent is no number are inside of each other."""
    deepest = 0
    for node in nodes:
        here = isinstance(node, Loop) and node.symbol in counting and _is_unknown(node)
        deepest = max(deepest, here + _unknown(body_of(node), counting))
    return deepest


def _is_unknown(loop: Loop) -> bool:
    return loop.kind in ("serial", "unrolled") and not (loop.hi - loop.lo).is_constant


def _renamed(nodes: Nodes, old: str, new: str, counting: set[Symbol]) -> Nodes:
    def expr(each: Expr) -> Expr:
        made = map_children(each, expr, lambda form: forms.substitute(form, {}, expr))
        return replace(made, tensor=new) if isinstance(made, Access) and made.tensor == old else made

    def place(each: Place) -> Place:
        return replace(each, buffer=new) if each.buffer == old else each

    def visit(node: Node) -> Nodes:
        made = map_places(map_forms(node, lambda form: forms.substitute(form, {}, expr), expr), place)
        if isinstance(made, Loop) and made.symbol in counting and _is_unknown(made):
            made = replace(made, kind="serial")
        return with_body(made, map_bodies(body_of(made), visit)) if body_of(made) else (made,)

    return map_bodies(nodes, visit)
