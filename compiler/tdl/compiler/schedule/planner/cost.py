"""How much a nest does: what each statement costs in simple operations, times how often it runs."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from tdl.compiler.schedule.planner.shapes import Shape, extent, shapes_of
from tdl.compiler.schedule.tree import Nest, Node
from tdl.language import tree
from tdl.language.forms import Symbol
from tdl.language.tree import Expr

_FUNCTIONS = {"sqrt": 4, "rsqrt": 4, "floor": 1, "ceil": 1, "trunc": 1, "round": 1, "abs": 1, "isnan": 1}
_FUNCTION = 12
"""exp, log and the like: a polynomial and what is around it."""
_DIVISION = 4


def cost_of(expr: Expr) -> int:
    """What evaluating an expression once costs; a read counts one, and the same read again nothing."""
    nodes = list(tree.walk(expr))
    reads = len({node for node in nodes if isinstance(node, tree.Access)})
    return reads + sum(_own(node) for node in nodes)


def _own(node: Expr) -> int:
    match node:
        case tree.Binary("div" | "floordiv" | "mod" | "pow"):
            return _DIVISION
        case tree.Call(function):
            return _FUNCTIONS.get(function, _FUNCTION)
        case tree.Binary() | tree.Compare() | tree.Select() | tree.Convert():
            return 1
    return 0


def work_of(shape: Shape, sizes: Mapping[Symbol, int]) -> int:
    """What all runs of a stage cost where it stands."""
    times = prod(extent(loop, shape.path, sizes) for loop in shape.path)
    return times * max(1, sum(map(cost_of, shape.exprs)) + shape.is_sum)


def work_in(nest: Nest, nodes: tuple[Node, ...], sizes: Mapping[Symbol, int]) -> int:
    """What all that stands in some nodes costs."""
    inside = {id(node) for node in nodes}
    return sum(work_of(shape, sizes) for shape in shapes_of(nest) if shape.path and id(shape.path[0]) in inside)
