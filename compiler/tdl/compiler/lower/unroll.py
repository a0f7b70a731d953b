"""Unrolled loops become copies of their body.

    unrolled for i in 0..3              C[0] += ...
        C[i] += ...            ->       C[1] += ...
                                        C[2] += ...

Loops that count elements of a register buffer are unrolled, whatever anybody said: registers have no addresses. A loop
whose extent is not a number has a copy for each iteration that it can have, behind a condition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tdl.compiler.kernel.tree import Allocate, Guard, Kernel, Lanes, Loop, Node
from tdl.compiler.kernel.walk import Nodes, body_of, map_bodies, places_of, reads_of, substitute, walk, with_body
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.simplify import condition, conditions_of, simplified_nodes
from tdl.language import forms
from tdl.language.forms import Symbol
from tdl.language.witness import size_facts

_MOST = 1024
"""Copies of one loop's body."""


def unroll_loops(kernel: Kernel) -> Kernel:
    """The kernel without unrolled loops, as far as numbers bound them."""
    unroller = _Unroller(kernel)
    body = unroller.nodes(kernel.body, Known(size_facts(kernel.program)))
    return kernel if body == kernel.body else replace(kernel, body=body)


@dataclass(frozen=True)
class _Unroller:
    kernel: Kernel

    def nodes(self, nodes: Nodes, known: Known) -> Nodes:
        return map_bodies(nodes, lambda node: self.node(node, known))

    def node(self, node: Node, known: Known) -> Nodes:
        match node:
            case Allocate(name) if self.kernel.buffers[name].memory == "register":
                counting = _counting(node)
                return with_body(node, self.nodes(_marked(node.body, counting), known))
            case Loop(symbol, lo, hi):
                copies = self.copies(node, known) if node.kind == "unrolled" else None
                if copies is not None:
                    return self.nodes(copies, known)
                return with_body(node, self.nodes(node.body, known.inside(symbol, lo, hi)))
            case Lanes(symbol, count):
                return with_body(node, self.nodes(node.body, known.inside(symbol, forms.ZERO, forms.constant(count))))
            case Guard(test):
                return with_body(node, self.nodes(node.body, known.where(conditions_of(test))))
        return with_body(node, self.nodes(body_of(node), known)) if body_of(node) else (node,)

    def copies(self, loop: Loop, known: Known) -> Nodes | None:
        """A copy of the body for each iteration; None where there may be too many."""
        extent = loop.hi - loop.lo
        most = known.most(loop)
        if most is None or most > _MOST:
            return None
        result: list[Node] = []
        for step in reversed(range(most)) if loop.descending else range(most):
            body = substitute(loop.body, {loop.symbol: loop.lo + step})
            left = extent - (step + 1)
            inside = known.where((left,))
            body = simplified_nodes(body, inside)
            test = None if known.holds(left) else condition((left,))
            result.extend(body if test is None or not body else (Guard(test, body, loop.origin),))
        return tuple(result)


def _counting(allocation: Allocate) -> set[Symbol]:
    """The symbols in offsets into a buffer."""
    offsets = [place.offset for node in walk(allocation.body) for place in places_of(node)
               if place.buffer == allocation.buffer]  # fmt: skip
    offsets += [access.subscripts[0] for node in walk(allocation.body) for access in reads_of(node)
                if access.tensor == allocation.buffer]  # fmt: skip
    return {symbol for offset in offsets for symbol in offset.symbols()}


def _marked(nodes: Nodes, symbols: set[Symbol]) -> Nodes:
    """The nodes with serial loops over the symbols marked to be unrolled."""

    def visit(node: Node) -> Nodes:
        if isinstance(node, Loop) and node.kind == "serial" and node.symbol in symbols:
            node = replace(node, kind="unrolled")
        return with_body(node, map_bodies(body_of(node), visit)) if body_of(node) else (node,)

    return map_bodies(nodes, visit)
