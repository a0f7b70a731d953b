"""Run a loop and all that is in it as one instruction.

    for jo, ko                                               for jo, ko
        for ji in 0..16                 tensorize ji             C[16*jo..16*jo + 16] =
            for ki in 0..4              with vpdpbusd    ->          vpdpbusd(A[4*ko..4*ko + 4], B[...], C[...])
                C[j] += i32(A[k]) * i32(B[k, j])

Legal where the loop and those in it are perfectly nested around one statement that always runs, each runs a number of
times that does not vary (the tile is full), and statement and loops are exactly what the intrinsic is defined as: the
same expression, with each index counted by one loop of its extent and of its kind (of the reduction or not), and each
element of an operand one element of a tensor. Then every iteration reads what the instruction reads before any of them
writes, and a reduction may be done in any order.

The loops stay in the nest, those of the reduction outermost, as one region that later lines move as a whole: what is
asked of races, boxes and copies is asked of them. A line that makes something else of the region is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tdl.compiler.schedule.bounds import greatest_extent
from tdl.compiler.schedule.calls import compared, invocation, is_reduced, region_of
from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.compiler.schedule.tree import Leaf, Loop, Nest, Update
from tdl.compiler.schedule.walk import Path, binders_of, loops_of, path_to, replace_loop
from tdl.language import forms
from tdl.language.conditions import AtLeast, within
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.intrinsics import Intrinsic
from tdl.language.proof import holds
from tdl.language.sets import Undecided
from tdl.language.witness import find_witness, show_point, size_facts, size_symbols


def tensorize(nest: Nest, loop: Loop, intrinsic: Intrinsic, line: int = -1) -> Nest:
    """The nest with a loop and all in it made one call of an intrinsic."""
    called = next((each for each in (*path_to(nest.body, loop.symbol), *loops_of(loop.body)) if each.intrinsic), None)
    if called is not None and called.intrinsic is not None:
        raise Refusal("tensorize", f"`{loop.name}` is part of `{called.intrinsic.name}` already")
    region, leaf = region_of(nest, loop)
    for each in region:
        if each.kind != "serial":
            kind = "a vector" if each.kind == "vector" else each.kind
            raise Refusal("tensorize", f"`{each.name}` is {kind} already", "the instruction says how its loops run")
    compared(nest, intrinsic, region, leaf)  # before sizes are asked for, which may be open
    outer = path_to(nest.body, loop.symbol)[:-1]
    full = [_full(nest, each, (*outer, *region[:position])) for position, each in enumerate(region)]
    invocation(nest, replace(_nested(full, leaf), intrinsic=intrinsic))
    made = replace(_reduction_first(nest, full, leaf), intrinsic=intrinsic, line=line)
    return replace(nest, body=replace_loop(nest.body, loop.symbol, lambda _: (made,)))


def check_tensorized(before: Nest, after: Nest) -> None:
    """Refuse a line that makes something else of a tensorized loop than the call that it was."""
    known = {loop.symbol: loop for loop in loops_of(before.body) if loop.intrinsic is not None}
    found = {loop.symbol: loop for loop in loops_of(after.body) if loop.intrinsic is not None}
    for symbol, loop in known.items():
        if symbol not in found:
            assert loop.intrinsic is not None
            message = f"`{loop.name}` is tensorized, and this line leaves no call of `{loop.intrinsic.name}` of it"
            raise Refusal("tensorize", message, "change the loops before they are tensorized")
    for symbol, loop in found.items():
        if known.get(symbol) != loop or before.stages is not after.stages:
            _check_kept(after, loop, is_new=symbol not in known)


def _check_kept(nest: Nest, loop: Loop, *, is_new: bool) -> None:
    vector = next((each for each in path_to(nest.body, loop.symbol)[:-1] if each.kind == "vector"), None)
    if vector is not None:
        raise Refusal("tensorize", f"`{vector.name}` is a vector, and `{loop.name}` in it is tensorized")
    try:
        invocation(nest, loop)
    except Refusal as refusal:
        if is_new:
            raise
        message = f"`{loop.name}` is tensorized, and would not be that any more: {refusal.message}"
        raise Refusal("tensorize", message, *refusal.notes) from None


# ---- full tiles


def _full(nest: Nest, loop: Loop, outer: Path) -> Loop:
    """The loop with an end that shows how often it runs. Refused where that varies."""
    size = loop.hi - loop.lo
    count = greatest_extent(loop)
    if count is None:
        message = f"`{loop.name}` runs over {loop.lo}..{loop.hi}, which no number bounds"
        raise NeedsSize(message, "split it by the number that the intrinsic takes", code="tensorize")
    whole = replace(loop, hi=loop.lo + count)
    if size.is_constant or _always(nest, size - count, outer):
        return whole
    known = [*size_facts(nest.program).formulas, *(formula for each in binders_of(outer) for formula in within(each))]
    wrong = AtLeast(forms.constant(count - 1) - size)
    order = [*size_symbols(nest.program), *(each.symbol for each in outer)]
    point = find_witness([*known, wrong], wrong, order) or {}
    values = {symbol: forms.constant(value) for symbol, value in point.items()}
    left = forms.substitute(size, values)
    message = f"`{loop.name}` does not always run {count} times, as an instruction does"
    notes = [
        f"with {show_point(point)} it runs {left} of {count} times" if left.is_constant else f"it runs {size} times",
        *_ways_to_fill(size, outer, count),
    ]
    if any(symbol.kind == "dim" for symbol in _behind(size, outer)):
        raise NeedsSize(message, *notes, code="tensorize")
    raise Refusal("tensorize", message, *notes)


def _ways_to_fill(size: Form, outer: Path, count: int) -> Iterator[str]:
    yield f"`require` that what it counts is a multiple of {count}, if every call is to be so"
    for loop in outer:
        if size.mentions(loop.symbol):
            yield f"`peel {loop.name}` leaves the rest to a loop of its own"


def _behind(form: Form, outer: Path) -> Iterator[Symbol]:
    """The symbols of a form and of the ranges of the loops in it."""
    yield from form.symbols()
    for loop in outer:
        if form.mentions(loop.symbol):
            yield from (*loop.lo.symbols(), *loop.hi.symbols())


def _always(nest: Nest, form: Form, outer: Path) -> bool:
    try:
        return form.is_affine and holds(form, size_facts(nest.program), Domain(binders_of(outer)))
    except Undecided:
        return False


def _reduction_first(nest: Nest, region: Sequence[Loop], leaf: Leaf) -> Loop:
    """The region with the reduction outermost, so that it begins outside; its beginning is a vector."""
    reduced = [loop for loop in region if is_reduced(nest, leaf, loop)]
    spatial = [loop for loop in region if loop not in reduced]
    if isinstance(nest.stages[leaf.stage].work, Update) and spatial:
        spatial[-1] = replace(spatial[-1], kind="vector")
    return _nested((*reduced, *spatial), leaf)


def _nested(loops: Sequence[Loop], leaf: Leaf) -> Loop:
    """The loops in each other, the leaf in the last."""
    *outer, made = loops
    made = replace(made, body=(leaf,))
    for loop in reversed(outer):
        made = replace(loop, body=(made,))
    return made
