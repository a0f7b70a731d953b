"""Walking and rebuilding the tree: paths to leaves, loops by symbol, local replacement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Nest, Node
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Binder

Path = tuple[Loop, ...]


def loops_of(nodes: tuple[Node, ...]) -> Iterator[Loop]:
    """Every loop, outer before inner, in running order."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node
            yield from loops_of(node.body)


def leaves_of(nodes: tuple[Node, ...], path: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    """Every leaf with the loops around it, in running order."""
    for node in nodes:
        match node:
            case Loop():
                yield from leaves_of(node.body, (*path, node))
            case Leaf():
                yield path, node


def path_to(nodes: tuple[Node, ...], symbol: Symbol) -> Path:
    """The loops from the outermost down to the one of a symbol, itself included; empty if there is none."""
    for node in nodes:
        if isinstance(node, Loop):
            if node.symbol == symbol:
                return (node,)
            below = path_to(node.body, symbol)
            if below:
                return (node, *below)
    return ()


def replace_loop(
    nodes: tuple[Node, ...], symbol: Symbol, change: Callable[[Loop], tuple[Node, ...]]
) -> tuple[Node, ...]:
    """The nodes with the loop of a symbol replaced by what `change` makes of it."""
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop) and node.symbol == symbol:
            result.extend(change(node))
        elif isinstance(node, Loop):
            body = replace_loop(node.body, symbol, change)
            result.append(node if body == node.body else replace(node, body=body))
        else:
            result.append(node)
    return tuple(result)


def map_leaves(nodes: tuple[Node, ...], change: Callable[[Leaf], tuple[Node, ...]]) -> tuple[Node, ...]:
    """The nodes with every leaf replaced; loops that are left without a body go."""
    result: list[Node] = []
    for node in nodes:
        match node:
            case Leaf():
                result.extend(change(node))
            case Loop():
                body = map_leaves(node.body, change)
                if body:
                    result.append(node if body == node.body else replace(node, body=body))
    return tuple(result)


def substitute(nodes: tuple[Node, ...], values: Mapping[Symbol, Form]) -> tuple[Node, ...]:
    """The nodes with loop symbols replaced by forms."""
    result: list[Node] = []
    for node in nodes:
        match node:
            case Loop():
                result.append(
                    replace(
                        node,
                        lo=forms.substitute(node.lo, values),
                        hi=forms.substitute(node.hi, values),
                        body=substitute(node.body, values),
                    )
                )
            case Leaf():
                at = tuple((own, forms.substitute(form, values)) for own, form in node.at)
                guards = tuple(forms.substitute(form, values) for form in node.guards)
                result.append(replace(node, at=at, guards=guards))
    return tuple(result)


def moved_buffers(
    buffers: Mapping[str, Buffer], homes: Mapping[Symbol, Symbol], values: Mapping[Symbol, Form]
) -> dict[str, Buffer]:
    """Buffers after loops became others: `homes` says in whose body now is what was in theirs; origins follow `values`.

    All at once, since a new loop may have the name of an old one.
    """
    return {
        name: replace(
            buffer,
            at=None if buffer.at is None else homes.get(buffer.at, buffer.at),
            origin=tuple(forms.substitute(form, values) for form in buffer.origin),
            extents=tuple(forms.substitute(form, values) for form in buffer.extents),
        )
        for name, buffer in buffers.items()
    }


def binders_of(path: Path) -> tuple[Binder, ...]:
    """The loops of a path as binders, outermost first."""
    return tuple(Binder(loop.symbol, loop.lo, loop.hi) for loop in path)


def symbols_in(nest: Nest) -> set[str]:
    return {loop.symbol.name for loop in loops_of(nest.body)}
