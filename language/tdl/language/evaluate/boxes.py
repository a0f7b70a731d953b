"""Runs of indices cut into blocks of bounded size, in lexicographic order.

    for i in 0..3, j in 0..1000     with 100 lanes at most becomes   i = 0, j = 0..100; i = 0, j = 100..200; ...

Inside a block the first axis varies slowest, so the order of a block's elements, then of the blocks, is the binders'
order. A range may depend on earlier indices and on data; then its axis is as long as the longest range, and the mask
says which lanes exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from tdl.language.arrays import Array
from tdl.language.evaluate.integers import Evaluator, form_value
from tdl.language.evaluate.lanes import Lanes, steps
from tdl.language.tree import Binder, Reduce

BOX = 1 << 16  # lanes of a definition's box that are computed at a time: few enough for a core's cache
BLOCK = 1 << 19  # and with the binders of a reduction


def binder_blocks(node: Reduce, outer: Lanes, evaluate: Evaluator) -> Iterator[Lanes]:
    """The lanes of a reduction in which its filter holds, block by block in binder order."""
    for lanes in blocks(node.binders, outer, evaluate, BLOCK):
        inside = lanes if node.filter is None else lanes.where(evaluate(node.filter, lanes))
        if inside.is_active:
            yield inside


def blocks(binders: Sequence[Binder], outer: Lanes, evaluate: Evaluator, limit: int) -> Iterator[Lanes]:
    """Lanes with the binders bound on axes of their own in front of the outer ones, block by block.

    A block has at most `limit` lanes, or as many as the outer lanes. Blocks without an active lane are left out.
    """
    shape = (1,) * len(binders) + outer.shape
    lanes = Lanes(outer.memory, shape, outer.mask, outer.symbols, outer.locals)
    for block in _split(binders, lanes, 0, evaluate, limit):
        if block.is_active:
            yield block


def _split(binders: Sequence[Binder], lanes: Lanes, axis: int, evaluate: Evaluator, limit: int) -> Iterator[Lanes]:
    if axis == len(binders):
        yield lanes
        return
    first, extent = _range(binders[axis], lanes, evaluate)
    longest = _longest(extent)
    start, count = 0, max(1, limit // lanes.size)
    while start < longest:
        count = min(count, longest - start)
        inner = _bind(binders[axis], lanes, axis, first, extent, start, count)
        while count > 1 and (size := _whole(binders, inner, axis + 1, evaluate, limit)) > limit:
            count = max(1, count * limit // size)
            inner = _bind(binders[axis], lanes, axis, first, extent, start, count)
        yield from _split(binders, inner, axis + 1, evaluate, limit)
        start += count


def _whole(binders: Sequence[Binder], lanes: Lanes, axis: int, evaluate: Evaluator, limit: int) -> int:
    """How many lanes there are with the remaining binders run in full; any number above the limit if it is above."""
    for number in range(axis, len(binders)):
        first, extent = _range(binders[number], lanes, evaluate)
        longest = max(1, _longest(extent))
        if lanes.size * longest > limit:
            return lanes.size * longest
        lanes = _bind(binders[number], lanes, number, first, extent, 0, longest)
    return lanes.size


def _range(binder: Binder, lanes: Lanes, evaluate: Evaluator) -> tuple[int | Array, int | Array]:
    """Where a range starts and how long it is; 0 (or less) in lanes that are not active."""
    first = form_value(binder.lo, lanes, evaluate, binder.span)
    extent = form_value(binder.hi, lanes, evaluate, binder.span) - first
    if lanes.mask is not None and not isinstance(extent, int):
        extent = np.where(lanes.mask, extent, 0)
    return first, extent


def _longest(extent: int | Array) -> int:
    return extent if isinstance(extent, int) else int(extent.max(initial=0))


def _bind(
    binder: Binder, lanes: Lanes, axis: int, first: int | Array, extent: int | Array, start: int, count: int
) -> Lanes:
    inner = lanes.bind(binder.index, axis, first, start, count)
    if isinstance(extent, int):
        return inner
    return inner.where(steps(start, count, axis, len(lanes.shape)) < extent)
