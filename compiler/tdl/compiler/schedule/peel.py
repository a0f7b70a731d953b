"""Give the partial iterations of a loop a copy of their own.

    for L in 0..ceil(N/8)                            for L in 0..N//8
        for i in 0..min(8, N - 8*L)       peel L         for i in 0..8
                                          ->         for L.tail in N//8..ceil(N/8)
                                                         for i.tail in 0..min(8, N - 8*L.tail)

Always legal: the iterations and their order stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tdl.compiler.schedule.extremes import extreme_of, sides, simplified
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Loop, Nest, Node
from tdl.compiler.schedule.walk import Path, binders_of, loops_of, path_to, replace_loop, substitute
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts
from tdl.language.witness import size_facts


def peel(nest: Nest, loop: Loop, line: int = -1) -> Nest:
    """The nest with the loop's full iterations first and its partial ones after."""
    if loop.descending:
        raise Refusal("schedule", f"`{loop.name}` descends, and its partial iteration comes first")
    inside = {each.symbol for each in loops_of(loop.body)}
    if any(buffer.at in inside | {loop.symbol} for buffer in nest.buffers.values()):
        raise Refusal("schedule", f"`{loop.name}` has storage in it, which a copy of it would share", "peel it first")
    ends = list(_full_ends(loop))
    if not ends and _is_bound(nest):
        ends = [loop.hi]  # at other sizes it may have a partial iteration: the names are the same here
    if not ends:
        raise Refusal("schedule", f"every iteration of `{loop.name}` is full: there is nothing to peel")
    facts = size_facts(nest.program)
    above = binders_of(path_to(nest.body, loop.symbol)[:-1])
    full = extreme_of("max", [loop.lo, extreme_of("min", [loop.hi, *ends], facts, above)], facts, above)
    main = replace(loop, hi=full, line=line)
    path = (*path_to(nest.body, loop.symbol)[:-1], main)
    main = replace(main, body=_decided(main.body, path, {loop.symbol}, facts))
    rest = _renamed(nest, replace(loop, lo=full, line=line))

    def change(_: Loop) -> tuple[Node, ...]:
        return (main, rest)

    return replace(nest, body=replace_loop(nest.body, loop.symbol, change))


def _is_bound(nest: Nest) -> bool:
    """Whether all sizes have their numbers here."""
    return all(form.is_constant for tensor in nest.program.tensors.values() for form in tensor.shape)


def _full_ends(loop: Loop) -> Iterator[Form]:
    """Where, for each end inside that this loop shortens, the iterations stop being full."""
    for inner in loops_of(loop.body):
        kind, found = sides(inner.hi - inner.lo)
        if kind != "min" or len(found) < 2:
            continue
        for short in found:
            steps = dict(short.terms).get(loop.symbol, 0)
            whole = [each for each in found if not each.mentions(loop.symbol)]
            if steps >= 0 or not whole:
                continue
            left = short - forms.symbol(loop.symbol) * steps - whole[0]
            if left.mentions(loop.symbol):
                continue
            if not any(symbol in {each.symbol for each in loops_of(loop.body)} for symbol in left.symbols()):
                yield forms.floor_div(left, forms.constant(-steps)) + 1


def _decided(nodes: tuple[Node, ...], path: Path, moved: set[Symbol], facts: Facts) -> tuple[Node, ...]:
    """The nodes with ends that the peeled loop now decides: those that depend on it, directly or through others."""
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop):
            depends = not moved.isdisjoint(node.hi.symbols())
            hi = simplified(node.hi, facts, binders_of(path)) if depends else node.hi
            inside = moved | {node.symbol} if depends else moved
            node = replace(node, hi=hi)
            node = replace(node, body=_decided(node.body, (*path, node), inside, facts))
        result.append(node)
    return tuple(result)


def _renamed(nest: Nest, loop: Loop) -> Loop:
    """A copy whose loops have names of their own."""
    taken = {each.symbol for each in loops_of(nest.body)}
    names: dict[Symbol, str] = {}
    for each in loops_of((loop,)):
        name = f"{each.name}.tail"
        while Symbol(f"{each.stage}.{name}", "index") in taken:
            name = f"{name}.tail"
        names[each.symbol] = name
        taken.add(Symbol(f"{each.stage}.{name}", "index"))
    made = {each.symbol: Symbol(f"{each.stage}.{names[each.symbol]}", "index") for each in loops_of((loop,))}
    (copy,) = substitute((loop,), {old: forms.symbol(new) for old, new in made.items()})

    def rename(node: Node) -> Node:
        if not isinstance(node, Loop):
            return node
        body = tuple(map(rename, node.body))
        return replace(node, name=names[node.symbol], symbol=made[node.symbol], body=body)

    renamed = rename(copy)
    assert isinstance(renamed, Loop)
    return renamed
