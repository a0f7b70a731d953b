"""Fuse perfectly nested loops into one, keeping their order.

    fuse a, b -> t         t in 0..A*B,   a = lo_a + t//B,   b = lo_b + t%B        (A, B: extents)

Legal where no range depends on another of the loops. The order of iterations stays the same: where some loops descend
and others do not, `t` ascends, and those that descend count back from their ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tdl.compiler.schedule.chain import perfect_chain
from tdl.compiler.schedule.names import new_symbols
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Kind, Loop, Nest, Node
from tdl.compiler.schedule.walk import moved_buffers, replace_loop, substitute
from tdl.language import forms
from tdl.language.forms import Form, Symbol


def fuse(nest: Nest, loops: Sequence[Loop], name: str, line: int = -1) -> Nest:
    """One loop for several; they must stand directly inside each other in the order given."""
    chain = perfect_chain(nest, loops)
    if [loop.symbol for loop in chain] != [loop.symbol for loop in loops]:
        order = ", ".join(loop.name for loop in chain)
        raise Refusal(
            "schedule", "loops are fused from the outermost in, with none between", f"here they stand as {order}"
        )
    for loop in loops[1:]:
        for other in loops:
            if (loop.hi - loop.lo).mentions(other.symbol) or loop.lo.mentions(other.symbol):
                message = f"the range of `{loop.name}` depends on `{other.name}`, so the two do not fill a rectangle"
                raise Refusal("schedule", message, f"`{loop.name}` runs over {loop.lo}..{loop.hi}")
    outermost, innermost = loops[0], loops[-1]
    kind = _kind(loops)
    (symbol,) = new_symbols(nest, outermost.stage, (name,), loops)
    total = forms.constant(1)
    never_runs = any(loop.hi == loop.lo for loop in loops)
    is_mixed = len({loop.descending for loop in loops}) > 1
    values: dict[Symbol, Form] = {}
    rest = forms.symbol(symbol)
    for loop in reversed(loops):
        extent = loop.hi - loop.lo
        inside = rest if loop is outermost else forms.modulo(rest, extent)
        if never_runs and extent != forms.ZERO:  # each index for itself: nothing is left to count the others by
            inside = forms.modulo(forms.symbol(symbol), extent)
        values[loop.symbol] = loop.hi - 1 - inside if is_mixed and loop.descending else loop.lo + inside
        rest = forms.floor_div(rest, extent)
        total = forms.product(total, extent)
    body = substitute(innermost.body, values)
    fused = replace(outermost, name=name, symbol=symbol, lo=forms.ZERO, hi=total, body=body, line=line)
    fused = replace(fused, kind=kind, descending=outermost.descending and not is_mixed)

    def change(_: Loop) -> tuple[Node, ...]:
        return (fused,)

    buffers = moved_buffers(nest.buffers, {loop.symbol: symbol for loop in loops}, values)
    children = {**nest.children, **{loop.label: (fused.label,) for loop in loops}}
    return replace(nest, body=replace_loop(nest.body, outermost.symbol, change), buffers=buffers, children=children)


def _kind(loops: Sequence[Loop]) -> Kind:
    """Parallel where any is: that none of them carries a dependence is asked of the whole nest."""
    kinds = {loop.kind for loop in loops}
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"serial", "parallel"}:
        return "parallel"
    listed = ", ".join(f"`{loop.name}` is {loop.kind}" for loop in loops)
    raise Refusal("schedule", "loops of different kinds are not fused", listed)
