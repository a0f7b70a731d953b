"""Unrolled loops become copies of their body.

    unrolled for i in 0..3              C[0] += ...
        C[i] += ...            ->       C[1] += ...
                                        C[2] += ...

Loops that count elements of a register buffer are unrolled, whatever anybody said: registers have no addresses. Where
the extent of such a loop is not a number, there is a copy for each iteration that it can have, behind a condition; any
other loop without a number stays a loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tdl.compiler.kernel.tree import Allocate, Guard, Kernel, Lanes, Loop, Node
from tdl.compiler.kernel.walk import Nodes, body_of, map_bodies, offsets_into, substitute, with_body
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.simplify import condition, conditions_of, simplified_nodes
from tdl.language import forms
from tdl.language.forms import Symbol
from tdl.language.witness import size_facts

_MOST = 1024
"""Copies of one loop's body."""


def unroll_loops(kernel: Kernel) -> Kernel:
    """The kernel without unrolled loops, as far as numbers bound them."""
    registers = {buffer.name for buffer in kernel.buffers.values() if buffer.memory == "register"}
    offsets = offsets_into(kernel.body, registers)
    unroller = _Unroller(kernel, frozenset(symbol for offset in offsets for symbol in offset.symbols()))
    body = unroller.nodes(kernel.body, Known(size_facts(kernel.program)))
    return kernel if body == kernel.body else replace(kernel, body=body)


@dataclass(frozen=True)
class _Unroller:
    """`counting` are the symbols in offsets into registers."""

    kernel: Kernel
    counting: frozenset[Symbol]

    def nodes(self, nodes: Nodes, known: Known) -> Nodes:
        return map_bodies(nodes, lambda node: self.node(node, known))

    def node(self, node: Node, known: Known) -> Nodes:
        match node:
            case Allocate(name) if self.kernel.buffers[name].memory == "register":
                counting = {each for offset in offsets_into(node.body, {name}) for each in offset.symbols()}
                return with_body(node, self.nodes(_marked(node.body, counting), known))
            case Loop(symbol, lo, hi):
                copies = self.copies(node, known) if self.is_unrolled(node) else None
                if copies is not None:
                    return self.nodes(copies, known)
                node = replace(node, kind="serial") if node.kind == "unrolled" else node
                return with_body(node, self.nodes(node.body, known.inside(symbol, lo, hi)))
            case Lanes(symbol, count):
                return with_body(node, self.nodes(node.body, known.inside(symbol, forms.ZERO, forms.constant(count))))
            case Guard(test):
                return with_body(node, self.nodes(node.body, known.where(conditions_of(test))))
        return with_body(node, self.nodes(body_of(node), known)) if body_of(node) else (node,)

    def is_unrolled(self, loop: Loop) -> bool:
        """Whether the loop is to be copies: so it says, and how many there are is known or they are of registers."""
        return loop.kind == "unrolled" and ((loop.hi - loop.lo).is_constant or loop.symbol in self.counting)

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


def _marked(nodes: Nodes, symbols: set[Symbol]) -> Nodes:
    """The nodes with serial loops over the symbols marked to be unrolled."""

    def visit(node: Node) -> Nodes:
        if isinstance(node, Loop) and node.kind == "serial" and node.symbol in symbols:
            node = replace(node, kind="unrolled")
        return with_body(node, map_bodies(body_of(node), visit)) if body_of(node) else (node,)

    return map_bodies(nodes, visit)
