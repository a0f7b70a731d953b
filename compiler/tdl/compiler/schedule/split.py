"""Split a loop in two, or in as many levels as there are factors.

    split i by f -> o, n         i = lo + f*o + n,   o in 0..ceil((hi - lo)/f),   n in 0..min(f, hi - lo - f*o)

Always legal: the iterations and their order stay the same. Where f is not known to divide the extent, the inner loop's
end is the lesser of the two; a balanced split of a known extent has tiles of q + 1 and then of q, and no remainder:

    split i by 6 balanced        i = lo + q*o + min(o, r) + n,   n in 0..q + min(1, max(0, r - o))
"""

from __future__ import annotations

from dataclasses import replace

from tdl.compiler.schedule.extremes import simplified
from tdl.compiler.schedule.names import new_symbols
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tiles import balanced_tile, tile_size
from tdl.compiler.schedule.tree import Kind, Loop, Nest, Node
from tdl.compiler.schedule.walk import binders_of, moved_buffers, path_to, replace_loop, substitute
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Binder
from tdl.language.witness import size_facts


def split(
    nest: Nest, loop: Loop, factor: int, names: tuple[str, str], line: int = -1, *, balanced: bool = False
) -> Nest:
    """Tiles of `factor` iterations; `names` are of the outer and the inner loop."""
    if factor < 1:
        raise Refusal("schedule", f"a loop is split by at least 1, not {factor}")
    extent = loop.hi - loop.lo
    outer, inner = new_symbols(nest, loop.stage, names, (loop,))
    steps = forms.floor_div(extent + (factor - 1), forms.constant(factor))
    o = forms.symbol(outer)
    if balanced and extent.is_constant and extent.constant > 0:
        q, r = divmod(extent.constant, steps.constant)
        start = o * q + forms.extreme("min", o, forms.constant(r)) if r else o * q
        size = balanced_tile(q, forms.constant(r), o) if r else forms.constant(q)
    else:
        start = o * factor
        size = tile_size(extent, factor, o)
        facts, path = size_facts(nest.program), path_to(nest.body, loop.symbol)[:-1]
        size = simplified(size, facts, (*binders_of(path), Binder(outer, forms.ZERO, steps)))
    value = loop.lo + start + forms.symbol(inner)
    return _replaced(nest, loop, (outer, steps), (inner, size), value, names, line)


def split_into(nest: Nest, loop: Loop, parts: int, names: tuple[str, str], line: int = -1) -> Nest:
    """`parts` tiles of equal size, of which the last may be smaller, or empty."""
    if parts < 1:
        raise Refusal("schedule", f"a loop is split into at least 1 part, not {parts}")
    extent = loop.hi - loop.lo
    outer, inner = new_symbols(nest, loop.stage, names, (loop,))
    size = forms.floor_div(extent + (parts - 1), forms.constant(parts))
    if size == forms.ZERO:
        size = forms.constant(1)  # it never runs, and still each loop counts something
    start = forms.product(forms.symbol(outer), size)
    clipped = forms.extreme("min", size, extent - start)
    value = loop.lo + start + forms.symbol(inner)
    return _replaced(nest, loop, (outer, forms.constant(parts)), (inner, clipped), value, names, line)


def _kinds(kind: Kind) -> tuple[Kind, Kind]:
    """Of the outer and the inner loop: threads take whole tiles, lanes are in one."""
    match kind:
        case "parallel":
            return "parallel", "serial"
        case "vector":
            return "serial", "vector"
    return kind, kind


def _replaced(
    nest: Nest,
    loop: Loop,
    outer: tuple[Symbol, Form],
    inner: tuple[Symbol, Form],
    value: Form,
    names: tuple[str, str],
    line: int,
) -> Nest:
    def change(old: Loop) -> tuple[Node, ...]:
        body = substitute(old.body, {old.symbol: value})
        above, below = _kinds(old.kind)
        low = replace(old, name=names[1], symbol=inner[0], lo=forms.ZERO, hi=inner[1], body=body, kind=below, line=line)
        high = replace(old, name=names[0], symbol=outer[0], lo=forms.ZERO, hi=outer[1], body=(low,), kind=above)
        return (replace(high, line=line),)

    children = {**nest.children, loop.label: tuple(f"{loop.stage}.{name}" for name in names)}
    body = replace_loop(nest.body, loop.symbol, change)
    return replace(
        nest,
        body=body,
        children=children,
        buffers=moved_buffers(nest.buffers, {loop.symbol: inner[0]}, {loop.symbol: value}),
    )
