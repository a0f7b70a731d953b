"""Skew two loops into a wavefront.

    skew i, j by f -> w, p        w = f*i + j outside,  p = i inside;  i = p,  j = w - f*p

The iterations stay the same and run by diagonals: legal where every element of a recurrence still comes after those it
reads. Afterwards the inner loop often carries no dependence, and may be a vector or parallel.
"""

from __future__ import annotations

from dataclasses import replace

from tdl.compiler.schedule.chain import perfect_chain
from tdl.compiler.schedule.names import new_symbols
from tdl.compiler.schedule.order import check_order
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Loop, Nest, Node, Update
from tdl.compiler.schedule.walk import leaves_of, moved_buffers, replace_loop, substitute
from tdl.language import forms
from tdl.language.forms import Symbol

_TRIED = 8  # factors that a refusal looks at


def skew(nest: Nest, outer: Loop, inner: Loop, factor: int, names: tuple[str, str], line: int = -1) -> Nest:
    """The nest with the wavefront; a refusal names the least factor that works."""
    result = _skewed(nest, outer, inner, factor, names, line)
    try:
        check_order(result, f"this wavefront of `{outer.name}` and `{inner.name}`", _wavefront(outer, names))
    except Refusal as refusal:
        works = _least_that_works(nest, outer, inner, names)
        note = f"`by {works}` is the least that works" if works is not None else "no factor up to 8 works"
        raise Refusal(refusal.code, refusal.message, *refusal.notes, note) from None
    return result


def _wavefront(outer: Loop, names: tuple[str, str]) -> Symbol:
    return Symbol(f"{outer.stage}.{names[0]}", "index")


def _least_that_works(nest: Nest, outer: Loop, inner: Loop, names: tuple[str, str]) -> int | None:
    for factor in range(1, _TRIED + 1):
        try:
            check_order(_skewed(nest, outer, inner, factor, names, -1), "", _wavefront(outer, names))
        except Refusal:
            continue
        return factor
    return None


def _check_reductions(nest: Nest, outer: Loop, inner: Loop) -> None:
    """A wavefront of a spatial loop and one of a reduction orders nothing: elements do not wait for each other."""
    for path, leaf in leaves_of((outer,)):
        stage = nest.stages[leaf.stage]
        reduced = {binder.index for binder in stage.reduction}
        over = {s for own, form in leaf.at if own in reduced for s in form.symbols()} & {loop.symbol for loop in path}
        if isinstance(stage.work, Update) and (outer.symbol in over) != (inner.symbol in over):
            name = outer.name if outer.symbol in over else inner.name
            message = f"`{name}` runs over the reduction of `{stage.name}`, and the other loop does not"
            raise Refusal("schedule", message, "a wavefront is for the loops of a recurrence")


def _skewed(nest: Nest, outer: Loop, inner: Loop, factor: int, names: tuple[str, str], line: int) -> Nest:
    if factor < 1:
        raise Refusal("schedule", f"a wavefront's factor is at least 1, not {factor}")
    chain = perfect_chain(nest, (outer, inner))
    if len(chain) != 2 or chain[0].symbol != outer.symbol:
        raise Refusal("schedule", f"`{inner.name}` must stand directly inside `{outer.name}`")
    if inner.lo.mentions(outer.symbol) or inner.hi.mentions(outer.symbol):
        raise Refusal("schedule", f"the range of `{inner.name}` depends on `{outer.name}`")
    if outer.descending or inner.descending:
        raise Refusal("schedule", "a wavefront runs over loops that ascend")
    _check_reductions(nest, outer, inner)
    w, p = new_symbols(nest, outer.stage, names, (outer, inner))
    values = {outer.symbol: forms.symbol(p), inner.symbol: forms.symbol(w) - forms.symbol(p) * factor}
    first = outer.lo * factor + inner.lo
    last = (outer.hi - 1) * factor + inner.hi
    by = forms.constant(factor)
    lo = forms.extreme("max", outer.lo, forms.floor_div(forms.symbol(w) - inner.hi + factor, by))
    hi = forms.extreme("min", outer.hi, forms.floor_div(forms.symbol(w) - inner.lo, by) + 1)
    low = replace(inner, stage=outer.stage, name=names[1], symbol=p, lo=lo, hi=hi, line=line)
    low = replace(low, body=substitute(inner.body, values))
    high = replace(outer, name=names[0], symbol=w, lo=first, hi=last, body=(low,), line=line)

    def change(_: Loop) -> tuple[Node, ...]:
        return (high,)

    buffers = moved_buffers(nest.buffers, {inner.symbol: p, outer.symbol: w}, values)
    children = {**nest.children, outer.label: (high.label, low.label), inner.label: (high.label, low.label)}
    return replace(nest, body=replace_loop(nest.body, outer.symbol, change), buffers=buffers, children=children)
