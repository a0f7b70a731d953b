"""Which names an item refers to, and in which order items can be resolved.

    fn f(x: f32) -> f32 = g(x) * EPS        uses `g` as a callable and `EPS` as a value; `x` is its own

Items that refer to each other in a circle come out as one component.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import TypeVar

from tdl.language import syntax

NodeT = TypeVar("NodeT", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Uses:
    """The dotted names an item refers to: those with a `(` after them, and the others that it does not bind itself."""

    called: frozenset[str]
    named: frozenset[str]


@lru_cache(maxsize=8192)
def uses(parsed: syntax.ParsedItem) -> Uses:
    """Every name that an item refers to, whatever it turns out to mean."""
    called: set[str] = set()
    named: set[str] = set()
    for ref, is_called in refs(parsed.item):
        (called if is_called else named).add(ref.text)
    return Uses(frozenset(called), frozenset(named - _bound(parsed.item)))


def _bound(item: syntax.Item) -> set[str]:
    """What a function or reducer declares in its head hides the module's names in all of it."""
    declared: tuple[syntax.Parameter | syntax.Declaration, ...] = ()
    match item:
        case syntax.Fn():
            declared = (*item.params, *item.args)
        case syntax.Reducer():
            declared = (*item.params, *item.left, *item.right)
    return {each.name.text for each in declared}


def refs(node: object) -> Iterator[tuple[syntax.Ref, bool]]:
    """Every reference in a tree or tuple, and whether it is called."""
    if isinstance(node, tuple):
        for each in node:
            yield from refs(each)
    elif isinstance(node, syntax.Ref):
        yield node, False
    elif isinstance(node, syntax.Call | syntax.Reduction):
        yield node.callee, True
        yield from _children(node, "callee")
    elif isinstance(node, syntax.Node):
        yield from _children(node)


def _children(node: syntax.Node, but: str = "span") -> Iterator[tuple[syntax.Ref, bool]]:
    assert is_dataclass(node)
    for part in fields(node):
        if part.name not in ("span", but):
            value = getattr(node, part.name)
            if isinstance(value, tuple | syntax.Node):
                yield from refs(value)


def components(nodes: Iterable[NodeT], successors: Callable[[NodeT], Sequence[NodeT]]) -> Iterator[tuple[NodeT, ...]]:
    """Strongly connected components, successors first (Tarjan 1972, without recursion)."""
    number: dict[NodeT, int] = {}
    low: dict[NodeT, int] = {}
    open_nodes: list[NodeT] = []
    done: set[NodeT] = set()
    for root in nodes:
        work = [] if root in number else [(root, iter(successors(root)))]
        while work:
            node, rest = work[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                open_nodes.append(node)
            following = next((each for each in rest if each not in done), None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    place = open_nodes.index(node)
                    component = tuple(open_nodes[place:])
                    del open_nodes[place:]
                    done.update(component)
                    yield component
            elif following in number:
                low[node] = min(low[node], number[following])
            else:
                work.append((following, iter(successors(following))))
