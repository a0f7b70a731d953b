"""Which loop of a stage runs in lanes, and the loops around it in an order that allows it.

    Y[i, j] = exp(X[i, j])                    vectorize Y.j by 16
    s[i] = sum(X[i, j] for j)                 vectorize s.j by 64           four vectors of partial sums
    s[j] = sum(X[i, j] for i)                 split s.j by 64 -> jo, ji     columns side by side, rows in order

A stage that nothing here fits is left to LLVM, which has ways for strides of two or three; but only where it has the
whole of the code to itself.
"""

from __future__ import annotations

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.hardware import Hardware
from tdl.compiler.schedule.planner.shapes import Shape, extent, shape_of, shapes_of
from tdl.compiler.schedule.tree import Loop
from tdl.compiler.schedule.walk import loops_of
from tdl.language.forms import Symbol

_CHAINS = 4
"""Vectors of partial sums: an addition takes four cycles, and two can begin in each."""
_COLUMNS = 16
"""Vectors of sums side by side, for which a row's part of a few cache lines is read at once."""

Counted = tuple[Loop, Symbol]


def in_vectors(draft: Draft, hardware: Hardware) -> Draft:
    """The draft with a loop of each stage in lanes, if one should be."""
    for shape in shapes_of(draft.nest):
        draft = _one(draft, shape.name, hardware)
    if any(loop.kind == "vector" for loop in loops_of(draft.nest.body)):
        for shape in shapes_of(draft.nest):
            draft = _gathering(draft, shape.name, hardware)
    return draft


def _one(draft: Draft, stage: str, hardware: Hardware) -> Draft:
    shape = shape_of(draft.nest, stage)
    if shape is None or _has_vector(shape):
        return draft
    lanes = hardware.lanes(shape.dtype)
    kind = [each for each in reversed(shape.own) if shape.is_kind(each[1]) and _extent(draft, shape, each[0]) > 1]
    if shape.is_sum and shape.summed:
        return _sum_in_vectors(draft, shape, kind, lanes)
    for loop, index in kind:
        if _extent(draft, shape, loop) >= lanes // 4:
            made = draft.must(f"vectorize {draft.name(loop)} by {lanes}", _reason(shape, lanes, index))
            if not made.is_refused:
                return made
    return draft


def _gathering(draft: Draft, stage: str, hardware: Hardware) -> Draft:
    """The stage in vectors whose elements are far apart: no reads are saved, but arithmetic is."""
    shape = shape_of(draft.nest, stage)
    if shape is None or _has_vector(shape):
        return draft
    lanes = hardware.lanes(shape.dtype)
    for loop, index in sorted(shape.own, key=lambda each: shape.gathers(each[1])):
        if _extent(draft, shape, loop) >= lanes:
            reason = f"a vector holds {lanes} of {shape.dtype}; {index.name} jumps least"
            made = draft.must(f"vectorize {draft.name(loop)} by {lanes}", reason)
            if not made.is_refused:
                return made
    return draft


def _has_vector(shape: Shape) -> bool:
    return any(loop.kind == "vector" for loop in shape.path)


def _sum_in_vectors(draft: Draft, shape: Shape, kind: list[Counted], lanes: int) -> Draft:
    along = [
        each
        for each in reversed(shape.summed)
        if _reads_along(shape, each[1]) and _extent(draft, shape, each[0]) >= lanes
    ]
    for loop, index in kind:
        if _extent(draft, shape, loop) >= (lanes if along else lanes // 4):
            made = _columns(draft, shape, loop, index, lanes)
            if not made.is_refused:
                return made
    for loop, index in along:
        count = _chains(_extent(draft, shape, loop), lanes)
        reason = f"{count // lanes} vectors of partial results along {index.name}, which lies in order"
        made = draft.must(f"vectorize {draft.name(loop)} by {count}", reason)
        if not made.is_refused:
            return made
    return draft


def _columns(draft: Draft, shape: Shape, loop: Loop, index: Symbol, lanes: int) -> Draft:
    """Elements side by side in lanes, the reduction around them, and the results in registers meanwhile."""
    stage, reason = shape.name, _reason(shape, lanes, index)
    if stage != shape.tensor:
        return draft.must(f"vectorize {draft.name(loop)} by {lanes}", reason)
    vectors = _width(draft, shape, loop, lanes)
    base = index.name.replace(".", "")
    outer, inner = draft.free(f"{base}o", f"{base}i")
    summed = [each.label for each, _ in shape.summed]
    draft = draft.must(
        f"split {draft.name(loop)} by {vectors * lanes} -> {outer}, {inner}", f"{vectors} vectors of {lanes}"
    )
    order = map(draft.called, [f"{stage}.{outer}", *summed, f"{stage}.{inner}"])
    draft = draft.must(f"reorder {', '.join(order)}", f"what is read lies along {base}")
    (name,) = draft.free(f"{shape.tensor}r")
    place = draft.called(f"{stage}.{outer}")
    draft = draft.line(f"cache {shape.tensor} at {place} in register as {name}", "results stay in registers")
    return draft.must(f"vectorize {draft.called(f'{stage}.{inner}')} by {lanes}", reason)


def _width(draft: Draft, shape: Shape, loop: Loop, lanes: int) -> int:
    """How many vectors of results are gathered at once: more where little else is read again."""
    count = -(-_extent(draft, shape, loop) // lanes)
    most = _COLUMNS if len({access.tensor for access in shape.accesses}) == 1 and len(shape.own) == 1 else _CHAINS
    return max(1, min(most, count))


def _reads_along(shape: Shape, index: Symbol) -> bool:
    walks = [shape.walk(access, index) for access in shape.accesses]
    return "strided" not in walks and "contiguous" in walks


def _chains(count: int, lanes: int) -> int:
    chains = 1
    while chains < _CHAINS and 2 * chains * lanes <= count:
        chains *= 2
    return chains * lanes


def _extent(draft: Draft, shape: Shape, loop: Loop) -> int:
    return extent(loop, shape.path, draft.assumed)


def _reason(shape: Shape, lanes: int, index: Symbol) -> str:
    return f"a vector holds {lanes} of {shape.dtype}; {index.name} lies in order"
