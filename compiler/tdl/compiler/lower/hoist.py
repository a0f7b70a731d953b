"""A condition around all that a loop does, and of which the loop decides nothing, goes around the loop.

for i in 0..6                           if ko >= 1
    if ko >= 1                 ->           for i in 0..6
        Cr[i] = C[6*ir + i]                     Cr[i] = C[6*ir + i]
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from tdl.compiler.kernel.tree import Guard, Kernel, Lanes, Loop, Node
from tdl.compiler.kernel.walk import Nodes, body_of, map_bodies, with_body
from tdl.language.dtypes import BOOL
from tdl.language.tree import Binary, Compare, Expr, Integer, symbols_of


def hoist_guards(kernel: Kernel) -> Kernel:
    """The kernel with conditions on sizes and loop counters as far out as they stand alone."""
    return replace(kernel, body=map_bodies(kernel.body, _node))


def _node(node: Node) -> Nodes:
    if not body_of(node):
        return (node,)
    made = with_body(node, map_bodies(body_of(node), _node))
    return tuple(each for one in made for each in _hoisted(one))


def _hoisted(node: Node) -> Nodes:
    if not isinstance(node, Loop | Lanes) or len(node.body) != 1 or not isinstance(node.body[0], Guard):
        return (node,)
    guard = node.body[0]
    moved = [test for test in _tests(guard.condition) if _is_plain(test) and node.symbol not in symbols_of(test)]
    kept = [test for test in _tests(guard.condition) if test not in moved]
    if not moved:
        return (node,)
    body: Nodes = (replace(guard, condition=_all(kept)),) if kept else guard.body
    return (replace(guard, condition=_all(moved), body=(replace(node, body=body),)),)


def _tests(condition: Expr) -> list[Expr]:
    match condition:
        case Binary("and", left, right):
            return [*_tests(left), *_tests(right)]
    return [condition]


def _all(tests: list[Expr]) -> Expr:
    return reduce(lambda left, right: Binary("and", left, right, BOOL), tests)


def _is_plain(test: Expr) -> bool:
    """Whether the test reads no data, which the loop might change."""
    match test:
        case Compare(_, Integer(left), Integer(right)):
            return left.is_affine and right.is_affine
    return False
