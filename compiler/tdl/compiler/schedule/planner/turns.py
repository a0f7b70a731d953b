"""Tensors that are read along another axis than results are written: square tiles, turned in registers.

Y[i, j] = X[j, i]      a vector of X along i for each of some j; then a vector of Y along j for each of these i
"""

from __future__ import annotations

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.hardware import Hardware
from tdl.compiler.schedule.planner.shapes import Shape, shape_of
from tdl.compiler.schedule.tree import Store
from tdl.language.forms import Symbol
from tdl.language.tree import Access

_LARGEST = 16


def turned(draft: Draft, stage: str, hardware: Hardware) -> Draft:
    """The draft with a stage in tiles, if one thing that it reads lies along another axis."""
    shape = shape_of(draft.nest, stage)
    if shape is None or not isinstance(shape.stage.work, Store) or len(shape.own) < 2:
        return draft
    j, j_index = shape.own[-1]
    across = [access for access in dict.fromkeys(shape.accesses) if shape.walk(access, j_index) == "strided"]
    if len(across) != 1 or not _is_written_along(shape, j_index) or j is not shape.path[-1]:
        return draft
    index = _along(across[0])
    found = next((loop for loop, own in shape.own[:-1] if own == index), None)
    if index is None or found is None:
        return draft
    size = min(_LARGEST, hardware.lanes(shape.dtype))
    ib, jb = index.name.replace(".", ""), j_index.name.replace(".", "")
    (io, ii), (jo, ji) = draft.free(f"{ib}o", f"{ib}i"), draft.free(f"{jb}o", f"{jb}i")
    (copy,) = draft.free(f"{across[0].tensor}t")
    between = [loop.label for loop, _ in shape.own[shape.own.index((found, index)) + 1 : -1]]
    made = draft.must(f"split {draft.name(found)} by {size} -> {io}, {ii}", f"tiles of {size} by {size}")
    made = made.must(f"split {j.label} by {size} -> {jo}, {ji}", "the same along what is written")
    order = [f"{stage}.{io}", *between, *(f"{stage}.{name}" for name in (jo, ii, ji))]
    made = made.must(f"reorder {', '.join(map(made.called, order))}", "a tile at a time")
    place = made.called(f"{stage}.{jo}")
    held = f"cache {across[0].tensor} at {place} in register as {copy} layout [{ii}, {ji}]"
    made = made.must(held, "turned on its way into registers")
    made = made.must(f"vectorize {made.called(f'{stage}.{ji}')}", "whole vectors are written")
    made = made.must(f"unroll {made.called(f'{stage}.{ii}')}", "in registers")
    made = made.must(f"vectorize {copy}.{ii}", "whole vectors are read")
    return made.must(f"unroll {copy}.{ji}", "in registers").otherwise(draft)


def _is_written_along(shape: Shape, index: Symbol) -> bool:
    return all(target.coordinates and target.coordinates[-1].symbol == index for target in shape.stage.writes)


def _along(access: Access) -> Symbol | None:
    """The index that an access lies along, where each of its subscripts is one."""
    symbols = _own_symbols(access)
    is_plain = len(symbols) == len(access.subscripts) and access.boundary is None
    return symbols[-1] if is_plain and symbols else None


def _own_symbols(access: Access) -> list[Symbol]:
    return [form.symbol for form in access.subscripts if form.symbol is not None]
