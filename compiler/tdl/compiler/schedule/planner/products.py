"""Sums over products of two tensors, in tiles that stay in registers and panels that stay in a cache.

C[i, j] = sum(A[i, k] * B[k, j] for k)      i: what only A has, j: what only B has, in vectors; B is packed
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.shapes import Shape, extent
from tdl.compiler.schedule.tree import Loop
from tdl.language.forms import Symbol
from tdl.language.tree import Access

Own = tuple[Loop, Symbol]


@dataclass(frozen=True)
class Product:
    """`wide` has the index `j`, and `tall` the index `i`, which the other has not."""

    shape: Shape
    i: Own
    j: Own
    tall: Access
    wide: Access


def product_of(draft: Draft, shape: Shape) -> Product | None:
    """The product that a stage is, if it is one with something to keep near in both directions."""
    if not shape.is_sum or shape.stage.name != shape.tensor or shape.stage.filter or shape.stage.domain:
        return None
    if not shape.summed or len(shape.own) < 2 or len(shape.own) != len(shape.stage.indices):
        return None
    reads = list(dict.fromkeys(shape.accesses))
    if len(reads) != 2 or len(shape.stage.work.targets) != 1:  # type: ignore[union-attr]
        return None
    found: list[tuple[tuple[bool, int], Product]] = []
    for wide, tall in (reads, reads[::-1]):
        for j in shape.own:
            if _has(wide, j[1]) and not _has(tall, j[1]) and _is_last(shape, j[1]):
                for i in shape.own:
                    if _has(tall, i[1]) and not _has(wide, i[1]):
                        size = extent(i[0], shape.path, draft.assumed)
                        found.append(((shape.walk(wide, j[1]) == "contiguous", size), Product(shape, i, j, tall, wide)))
    return max(found, key=lambda each: each[0])[1] if found else None


def _has(access: Access, index: Symbol) -> bool:
    return any(form.mentions(index) for form in access.subscripts)


def _is_last(shape: Shape, index: Symbol) -> bool:
    return shape.stage.writes[0].coordinates[-1].symbol == index
