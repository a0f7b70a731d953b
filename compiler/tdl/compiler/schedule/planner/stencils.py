"""Results made of windows of what is computed before: computed a few rows ahead of its use, never stored whole.

rows[i, j] = X[i, j] + X[i, j + 1]         tiles of 6 rows and a vector: the rows that a tile reads stay in
Y[i, j]    = rows[i, j] + rows[i + 1, j]   registers. Where windows overlap along j too: whole rows, in a ring.
"""

from __future__ import annotations

from dataclasses import replace

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.fusion import total
from tdl.compiler.schedule.planner.hardware import Hardware
from tdl.compiler.schedule.planner.shapes import Shape, shape_of, shapes_of
from tdl.compiler.schedule.tree import Store

_ROWS = 6
_STRIP = 32
_MORE = 1.5
"""How much more may be computed for what is then near."""


def in_strips(draft: Draft, host: str, hardware: Hardware) -> Draft:
    """The draft with the windows that `host` reads computed in its tiles or strips, if it reads such."""
    shape = shape_of(draft.nest, host)
    if shape is None or len(shape.own) < 2 or not isinstance(shape.stage.work, Store):
        return draft
    producers = [name for name in _at_root(draft, shape) if _is_window(shape, name)]
    if not producers or shape.own[-2][0].label != shape.path[-2].label:
        return draft
    strips = _strips(draft, shape, producers).otherwise(draft)
    return _tiles(draft, shape, producers, hardware).otherwise(strips)


def _at_root(draft: Draft, shape: Shape) -> list[str]:
    """The tensors between that a stage reads and that have loops of their own, the last first."""
    names = [each.tensor for each in reversed(shapes_of(draft.nest)) if each.path and each.path[0] is not shape.path[0]]
    read = {access.tensor for access in shape.accesses}
    return [each for each in dict.fromkeys(names) if each in read and each not in draft.program.outputs]


def _is_window(shape: Shape, tensor: str) -> bool:
    """Whether elements beside one another are read, for each of a stage's own."""
    reads = {access.subscripts for access in shape.accesses if access.tensor == tensor}
    indices = {index for _, index in shape.own}
    return len(reads) > 1 and all(symbol in indices for each in reads for form in each for symbol in form.symbols())


def _tiles(draft: Draft, shape: Shape, producers: list[str], hardware: Hardware) -> Draft:
    """Tiles of some rows and one vector; refused where that computes much twice."""
    (i, i_index), (j, j_index) = shape.own[-2:]
    stage, lanes, before = shape.name, hardware.lanes(shape.dtype), total(draft)
    ib, jb = i_index.name.replace(".", ""), j_index.name.replace(".", "")
    (io, ii), (jo, ji) = draft.free(f"{ib}o", f"{ib}i"), draft.free(f"{jb}o", f"{jb}i")
    vector = f"a vector holds {lanes} of {shape.dtype}"
    draft = draft.must(f"split {i.label} by {_ROWS} -> {io}, {ii}", f"{_ROWS} rows: what they read fits the registers")
    draft = draft.must(f"split {j.label} by {lanes} -> {jo}, {ji}", vector)
    order = map(draft.called, [f"{stage}.{name}" for name in (io, jo, ii, ji)])
    draft = draft.must(f"reorder {', '.join(order)}", "tile after tile along a row")
    for tensor in producers:
        place = draft.called(f"{stage}.{jo}")
        draft = draft.must(f"compute {tensor} at {place}", f"the window of a tile, anew for each {_ROWS} rows")
    if draft.is_refused or total(draft) > _MORE * before or any(_is_wide(draft, each, lanes) for each in producers):
        return replace(draft, is_refused=True)
    for tensor in producers:
        rows, columns = _own(draft, tensor)[-2:]
        draft = draft.line(f"vectorize {columns} by {lanes}", vector).line(f"unroll {rows}", "in registers")
    draft = draft.must(f"vectorize {draft.called(f'{stage}.{ji}')} by {lanes}", vector)
    return draft.must(f"unroll {draft.called(f'{stage}.{ii}')}", "in registers")


def _is_wide(draft: Draft, tensor: str, lanes: int) -> bool:
    """Whether a tile reads more than a vector of each row, or is no more than rows of vectors."""
    shape = shape_of(draft.nest, tensor)
    if shape is None or shape.is_sum or len(shape.own) < 2 or not shape.is_kind(shape.own[-1][1]):
        return True
    return draft.extent(shape.own[-1][0].label) > lanes


def _own(draft: Draft, tensor: str) -> list[str]:
    """The labels of a tensor's own loops."""
    shape = shape_of(draft.nest, tensor)
    return [] if shape is None else [loop.label for loop, _ in shape.own]


def _strips(draft: Draft, shape: Shape, producers: list[str]) -> Draft:
    """Strips of rows, each new row of a window computed as it is needed and kept in a ring."""
    stage, (i, index), before = shape.name, shape.own[0], total(draft)
    base = index.name.replace(".", "")
    io, ii = draft.free(f"{base}o", f"{base}i")
    draft = draft.must(f"split {i.label} by {_STRIP} -> {io}, {ii}", f"strips of {_STRIP} rows: few are computed twice")
    kept = 0
    for tensor in producers:
        inner, outer = (draft.called(f"{stage}.{name}") for name in (ii, io))
        placed = draft.must(f"compute {tensor} at {inner}", "the rows that a row reads")
        placed = placed.must(f"store {tensor} at {outer}", "kept for the next ones: only the new row is computed")
        if not placed.is_refused and total(placed) <= _MORE * before:
            draft, kept = _folded(placed, tensor), kept + 1
    return draft if kept else replace(draft, is_refused=True)


def _folded(draft: Draft, tensor: str) -> Draft:
    """The draft with the rows that are kept in the smallest ring that holds them."""
    shape = shape_of(draft.nest, tensor)
    if shape is None or not shape.stage.indices:
        return draft
    axis = shape.stage.indices[0].index.name
    for ring in (2, 4, 8, 16):
        made = draft.must(f"fold {tensor}.{axis} by {ring}", f"a ring of {ring} rows")
        if not made.is_refused:
            return made
    return draft
