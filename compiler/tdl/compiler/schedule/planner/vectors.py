"""Which loop of a stage runs in lanes, and the loops around it in an order that allows it.

Y[i, j] = exp(X[i, j])                    vectorize Y.j by 16
s[i] = sum(X[i, j] for j)                 vectorize s.j by 64           four vectors of partial sums
s[j] = sum(X[i, j] for i)                 split s.j by 64 -> jo, ji     columns side by side, rows in order
"""

from __future__ import annotations

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.hardware import Hardware
from tdl.compiler.schedule.planner.shapes import Shape, extent, shape_of
from tdl.compiler.schedule.tree import Loop
from tdl.language.forms import Symbol

_CHAINS = 4
"""Vectors of partial sums: an addition takes four cycles, and two can begin in each."""


def in_vectors(draft: Draft, stage: str, hardware: Hardware) -> Draft:
    """The draft with one of the stage's loops in lanes, if one can be."""
    shape = shape_of(draft.nest, stage)
    if shape is None or any(loop.kind == "vector" for loop in shape.path):
        return draft
    if shape.is_sum and shape.summed:
        return _sum_in_vectors(draft, shape, hardware)
    lanes = hardware.lanes(shape.dtype)
    for loop, index in _by_kindness(shape, shape.own):
        if _extent(draft, shape, loop) > 1:
            made = draft.all((f"vectorize {draft.name(loop)} by {lanes}", _lanes_reason(shape, lanes, index)))
            if made is not None:
                return made
    return draft


def _sum_in_vectors(draft: Draft, shape: Shape, hardware: Hardware) -> Draft:
    lanes = hardware.lanes(shape.dtype)
    kind = [each for each in reversed(shape.own) if shape.is_kind(each[1]) and _extent(draft, shape, each[0]) > 1]
    along = [
        each for each in reversed(shape.summed) if _reads_along(shape, each[1]) and _extent(draft, shape, each[0]) > 1
    ]
    for loop, index in kind:
        if not along or _extent(draft, shape, loop) >= lanes // 2:
            made = _columns(draft, shape, loop, index, lanes)
            if made is not None:
                return made
    for loop, index in along:
        count = _chains(_extent(draft, shape, loop), lanes)
        made = draft.all(
            (
                f"vectorize {draft.name(loop)} by {count}",
                f"{count // lanes} vectors of partial results along {index.name}, which lies in order",
            )
        )
        if made is not None:
            return made
    return draft


def _columns(draft: Draft, shape: Shape, loop: Loop, index: Symbol, lanes: int) -> Draft | None:
    """Elements side by side in lanes, the reduction around them, and the results in registers meanwhile."""
    whole = shape.stage.name == shape.tensor
    if not whole:
        return draft.all((f"vectorize {draft.name(loop)} by {lanes}", _lanes_reason(shape, lanes, index)))
    width = lanes * max(1, min(_CHAINS, -(-_extent(draft, shape, loop) // lanes)))
    base = index.name.replace(".", "")
    outer, inner = draft.free(f"{base}o", f"{base}i")
    stage = shape.name
    names = [draft.name(each) for each, _ in shape.summed]
    made = draft.all(
        (f"split {draft.name(loop)} by {width} -> {outer}, {inner}", f"{width // lanes} vectors of {lanes}")
    )
    if made is None:
        return None
    order = [_called(made, f"{stage}.{outer}"), *names, _called(made, f"{stage}.{inner}")]
    ordered = made.all((f"reorder {', '.join(order)}", f"what is read lies along {base}"))
    if ordered is None:
        return None
    (cached,) = ordered.free(f"{shape.tensor}r")
    kept = ordered.line(
        f"cache {shape.tensor} at {_called(ordered, f'{stage}.{outer}')} in register as {cached}",
        "results stay in registers",
    )
    return kept.all((f"vectorize {_called(kept, f'{stage}.{inner}')} by {lanes}", _lanes_reason(shape, lanes, index)))


def _called(draft: Draft, label: str) -> str:
    loop = draft.loop(label)
    return label if loop is None else draft.name(loop)


def _by_kindness(shape: Shape, loops: tuple[tuple[Loop, Symbol], ...]) -> list[tuple[Loop, Symbol]]:
    """The loops, those first along which memory is read and written in order."""
    inner_first = list(reversed(loops))
    return sorted(inner_first, key=lambda each: (not shape.is_kind(each[1]), shape.gathers(each[1])))


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


def _lanes_reason(shape: Shape, lanes: int, index: Symbol) -> str:
    along = "lies in order" if shape.is_kind(index) else "has the fewest gathers"
    return f"a vector holds {lanes} of {shape.dtype}; {index.name} {along}"
