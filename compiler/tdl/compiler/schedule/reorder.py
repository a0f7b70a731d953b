"""Permute loops among their own positions.

    reorder k, i, j        the loops i, j, k that stood in some order now stand as k, i, j

Legal where the loops are perfectly nested and every element of a recurrence still comes after those it reads. A range
that speaks of a loop that is now inside it is widened to all of that loop's values, and guarded:

    for o in 0..4                              for n in 0..8
        for n in 0..min(8, 27 - 8*o)   ->          for o in 0..4
                                                       if 26 - 8*o - n >= 0

A range that is data is refused where it would be read for values that the guard then leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tdl.compiler.schedule.chain import perfect_chain
from tdl.compiler.schedule.extremes import eliminated
from tdl.compiler.schedule.order import check_order
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Leaf, Loop, Nest, Node
from tdl.compiler.schedule.walk import binders_of, loops_of, map_leaves, moved_buffers, replace_loop
from tdl.language import forms
from tdl.language.conditions import nature
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts
from tdl.language.witness import size_facts


def reorder(nest: Nest, loops: Sequence[Loop], line: int = -1) -> Nest:
    """The nest with the loops in the order given; other loops between them keep their places."""
    if len({loop.symbol for loop in loops}) != len(loops):
        raise Refusal("schedule", "a loop is listed twice")
    chain = perfect_chain(nest, loops)
    wanted = iter(loops)
    listed = {loop.symbol for loop in loops}
    order = [next(wanted) if loop.symbol in listed else loop for loop in chain]
    if [loop.symbol for loop in order] == [loop.symbol for loop in chain]:
        return nest
    _check_storage(nest, chain)
    ranged, guards = _rectangular(order, size_facts(nest.program))
    body: tuple[Node, ...] = chain[-1].body
    if guards:
        _check_data((*ranged, *loops_of(body)), guards)
        body = map_leaves(body, lambda leaf: (_guarded(leaf, guards),))
    for loop in reversed(ranged):
        moved = loop.symbol in listed
        body = (replace(loop, body=body, line=line if moved else loop.line),)
    result = replace(
        nest,
        body=replace_loop(nest.body, chain[0].symbol, lambda _: body),
        buffers=moved_buffers(nest.buffers, {chain[-1].symbol: order[-1].symbol}, {}),
    )
    check_order(result, f"this order of {', '.join(f'`{loop.name}`' for loop in loops)}", order[0].symbol)
    return result


def _check_storage(nest: Nest, chain: tuple[Loop, ...]) -> None:
    """Storage that belongs to one iteration of a loop between would change its meaning."""
    for loop in chain[:-1]:
        for buffer in nest.buffers.values():
            if buffer.at == loop.symbol:
                raise Refusal("schedule", f"`{buffer.tensor}` is kept for each iteration of `{loop.name}`")


def _check_data(loops: Sequence[Loop], guards: Sequence[Form]) -> None:
    """A range that is data would be read for iterations that only a statement inside leaves out."""
    guarded = {symbol for guard in guards for symbol in guard.symbols() if symbol.kind == "index"}
    for loop in loops:
        for end in (loop.lo, loop.hi):
            if nature(end) == "data" and not guarded.isdisjoint(end.symbols()):
                names = ", ".join(f"`{symbol}`" for symbol in sorted(guarded.intersection(end.symbols())))
                message = (
                    f"the range of `{loop.name}` is data, and would be read for values of {names} that are not there"
                )
                raise Refusal("schedule", message, f"`{loop.name}` runs over {loop.lo}..{loop.hi}")


def _rectangular(order: Sequence[Loop], facts: Facts) -> tuple[list[Loop], tuple[Form, ...]]:
    """The loops with ranges that speak of outer loops only, and the guards that keep their meaning."""
    guards: list[Form] = []
    result: list[Loop] = []
    for position, loop in enumerate(order):
        inner = {each.symbol for each in order[position + 1 :]}
        if not inner & {*loop.lo.symbols(), *loop.hi.symbols()}:
            result.append(loop)
            continue
        known = [each for each in order if each.symbol != loop.symbol]
        lo = _widest(loop.lo, known, inner, "least", facts)
        hi = _widest(loop.hi, known, inner, "greatest", facts)
        if lo is None or hi is None:
            raise Refusal(
                "schedule", f"the range of `{loop.name}`, {loop.lo}..{loop.hi}, depends on a loop that is inside it"
            )
        here = forms.symbol(loop.symbol)
        guards += [here - loop.lo] if lo != loop.lo else []
        guards += [loop.hi - here - 1] if hi != loop.hi else []
        result.append(replace(loop, lo=lo, hi=hi))
    return result, tuple(guards)


def _widest(end: Form, loops: Sequence[Loop], inner: set[Symbol], which: str, facts: Facts) -> Form | None:
    """The end of a range over all values of the loops that are now inside."""
    binders = binders_of(tuple(loop for loop in loops if loop.symbol in inner))
    if not any(symbol in inner for symbol in end.symbols()):
        return end
    split_end = _without_inner(end, inner, which)
    if split_end is not None:
        return split_end
    widest: Form | None = end
    for binder in reversed(binders):
        widest = (
            None if widest is None else eliminated(widest, binder, "least" if which == "least" else "greatest", facts)
        )
    if widest is not None and any(symbol in inner for symbol in widest.symbols()):
        return None
    return widest


def _without_inner(end: Form, inner: set[Symbol], which: str) -> Form | None:
    """The side of a `min` (for an upper end) or `max` (for a lower one) that speaks of no inner loop."""
    match end.terms:
        case ((forms.Extreme(kind, left, right), 1),) if kind == ("min" if which == "greatest" else "max"):
            for side in (left, right):
                if not any(symbol in inner for symbol in side.symbols()):
                    return side + end.constant
    return None


def _guarded(leaf: Leaf, guards: tuple[Form, ...]) -> Leaf:
    return replace(leaf, guards=(*leaf.guards, *guards))
