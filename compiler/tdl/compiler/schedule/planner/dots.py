"""Products with few columns: the sum runs in lanes, whose partial results are added up at the end.

C[i, j] = sum(A[i, k] * B[k, j] for k), j in 0..8        a tile of 3 rows and all columns, 16 partial sums for each
"""

from __future__ import annotations

from dataclasses import replace

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.hardware import Hardware
from tdl.compiler.schedule.planner.products import Product

_PART = 510
"""Rows that a thread takes at a time."""


def in_dots(draft: Draft, product: Product, hardware: Hardware) -> Draft:
    """The draft with the sum of the product in lanes; refused where that is not better, or a line of it is."""
    shape, (i, i_index), (j, _) = product.shape, product.i, product.j
    (k, k_index), lanes = shape.summed[-1], hardware.lanes(shape.dtype)
    columns = draft.extent(j.label)
    is_long = shape.walk(product.tall, k_index) == "contiguous" and draft.extent(k.label) >= 4 * lanes
    if columns * 2 > lanes or len(shape.own) != 2 or len(shape.summed) != 1 or not is_long:
        return replace(draft, is_refused=True)
    rows = max(1, min(6, (hardware.registers - 4) // columns))
    stage, wide, part_rows = shape.name, product.wide.tensor, _PART // rows * rows
    (part,), (turned,) = draft.free("P"), draft.free(f"{wide}t")
    kb, ib = k_index.name.replace(".", ""), i_index.name.replace(".", "")
    (ko, ki), (ip, ir, ii) = draft.free(f"{kb}o", f"{kb}i"), draft.free(f"{ib}p", f"{ib}r", f"{ib}i")
    reason = f"{columns} columns do not fill a vector: the sum runs in lanes"
    draft = draft.must(f"split {k.label} by {lanes} -> {ko}, {ki}", f"a vector holds {lanes} of {shape.dtype}")
    draft = draft.must(f"rfactor {stage}.{ki} -> {part}", reason)
    draft = draft.must(
        f"split {i.label} by [{part_rows}, {rows}] -> {ip}, {ir}, {ii}", f"{rows} rows of {columns} sums"
    )
    draft = draft.must(f"compute {part} at {stage}.{ir}", "the partial sums of a tile")
    order = f"{part}.{ko}, {part}.{i.name}, {part}.{j.name}, {part}.{ki}"
    draft = draft.must(f"reorder {order}", "vectors of each row and column side by side")
    items = f"[{j.name}, {ko}, {ki}]"
    draft = draft.line(f"cache {wide} at {stage}.{ip} as {turned} layout {items}", "turned, to be read in order")
    draft = draft.must(f"vectorize {part}.{ki}", f"{lanes} partial sums")
    draft = draft.must(f"unroll {part}.{i.name}, {part}.{j.name}", "in registers")
    draft = draft.must(f"vectorize {stage}.{ki}", "added up at the end")
    return draft.line(f"parallel {stage}.{ip}", f"parts of {part_rows} rows")
