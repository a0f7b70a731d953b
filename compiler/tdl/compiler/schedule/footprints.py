"""How much memory an iteration of each loop touches, in numbers, to be held against the sizes of caches.

    for io in 0..171            an iteration: A 24 KB, B 4 MB, C 24 KB
        for k in 0..1024                      A 24 B,  B 4 KB, C 24 KB

The loops around are at their first iteration. A count is of the box between the least and the greatest subscript, as
intervals give them, within the tensor; what lies in registers counts nothing. Nothing is proved here, and where sizes
are open nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from tdl.compiler.schedule.regions import brought
from tdl.compiler.schedule.touches import Touch, touches
from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Nest
from tdl.compiler.schedule.walk import Path, leaves_of
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.forms import Form, Symbol

Interval = tuple[int, int]
"""The least and the greatest value."""
Box = tuple[Interval, ...]
Ranges = Mapping[Symbol, Interval]


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one iteration touches of a tensor."""

    tensor: str
    bytes: int
    is_written: bool


def footprints(nest: Nest) -> dict[Symbol | None, tuple[Footprint, ...]]:
    """What one iteration of each loop touches, and under None what the op touches; nothing where that is open."""
    reached = [(path, leaf, touches(nest, leaf)) for path, leaf in leaves_of(nest.body)]
    found: dict[Symbol | None, tuple[Footprint, ...]] = {}
    for symbol in dict.fromkeys([None, *(loop.symbol for path, _, _ in reached for loop in path)]):
        total = _total(nest, symbol, reached)
        if total is not None:
            found[symbol] = total
    return found


def interval(form: Form, ranges: Ranges) -> Interval | None:
    """The least and the greatest value that a form can have; None where that is open."""
    low = high = form.constant
    for atom, coefficient in form.terms:
        ends = _ends(atom, ranges)
        if ends is None:
            return None
        first, last = ends[0] * coefficient, ends[1] * coefficient
        low, high = low + min(first, last), high + max(first, last)
    return low, high


def extent(loop: Loop, ranges: Ranges) -> int | None:
    """The most iterations of a loop while those around it are in their ranges."""
    ends = interval(loop.hi - loop.lo, ranges)
    return None if ends is None else max(ends[1], 0)


def first_ranges(path: Iterable[Loop]) -> dict[Symbol, Interval] | None:
    """Every loop of a path at its first iteration."""
    ranges: dict[Symbol, Interval] = {}
    for loop in path:
        ends = interval(loop.lo, ranges)
        if ends is None:
            return None
        ranges[loop.symbol] = ends[0], ends[0]
    return ranges


Reached = tuple[Path, Leaf, list[Touch]]


def _total(nest: Nest, symbol: Symbol | None, reached: list[Reached]) -> tuple[Footprint, ...] | None:
    boxes: dict[str, Box] = {}
    stored: dict[str, int] = {}
    written: set[str] = set()
    for path, _, touched in reached:
        ranges = _ranges(path, symbol)
        if ranges is None:
            return None
        if not ranges and path:
            continue
        for touch in touched:
            box = _box(nest, touch, ranges)
            if box is None:
                return None
            known = boxes.get(touch.tensor)
            boxes[touch.tensor] = box if known is None else _hull(known, box)
            kept = _stored(nest.buffers.get(touch.tensor), ranges)
            if kept is not None:
                stored[touch.tensor] = max(stored.get(touch.tensor, 0), kept)
            if touch.is_write:
                written.add(touch.tensor)
    counts = {tensor: prod(last - first + 1 for first, last in box) for tensor, box in boxes.items()}
    return tuple(
        Footprint(tensor, min(count, stored.get(tensor, count)) * size, tensor in written)
        for tensor, count in counts.items()
        if (size := _size(nest, tensor))
    )


def _ranges(path: Path, symbol: Symbol | None) -> dict[Symbol, Interval] | None:
    """The loops down to one at their first iteration, those in it over all; empty where a leaf is not in it."""
    place = -1 if symbol is None else next((at for at, loop in enumerate(path) if loop.symbol == symbol), None)
    if place is None:
        return {}
    ranges = first_ranges(path[: place + 1])
    if ranges is None:
        return None
    for loop in path[place + 1 :]:
        least, greatest = interval(loop.lo, ranges), interval(loop.hi, ranges)
        if least is None or greatest is None:
            return None
        ranges[loop.symbol] = least[0], max(greatest[1] - 1, least[0])
    return ranges


def _box(nest: Nest, touch: Touch, ranges: Ranges) -> Box | None:
    within = dict(ranges)
    for binder in brought(touch):
        least, greatest = interval(binder.lo, within), interval(binder.hi, within)
        if least is not None and greatest is not None:
            within[binder.index] = least[0], max(greatest[1] - 1, least[0])
    box: list[Interval] = []
    for axis, subscript in enumerate(touch.element):
        size = interval(nest.tensors[touch.tensor].shape[axis], {})
        ends = interval(subscript, within)
        if size is None and ends is None:
            return None
        first, last = ends if ends is not None else (0, size[1] - 1 if size else 0)
        if size is not None:
            first, last = max(first, 0), min(last, size[1] - 1)
        box.append((first, max(last, first)))
    return tuple(box)


def _stored(buffer: Buffer | None, ranges: Ranges) -> int | None:
    """How many elements are stored at a time at most, where that is known."""
    if buffer is None:
        return None
    rings, total = dict(buffer.ring), 1
    for axis, form in enumerate(buffer.extents):
        ends = interval(form, ranges)
        count = rings.get(axis, None if ends is None else ends[1])
        if count is None:
            return None
        total *= max(count, 1)
    return total


def _hull(one: Box, other: Box) -> Box:
    return tuple((min(a, c), max(b, d)) for (a, b), (c, d) in zip(one, other))


def _size(nest: Nest, tensor: str) -> int:
    """Bytes of an element in memory."""
    buffer = nest.buffers.get(tensor)
    dtype = nest.tensors[tensor].dtype
    return dtype.bytes if isinstance(dtype, DType) and (buffer is None or buffer.memory != "register") else 0


def _ends(atom: forms.Atom, ranges: Ranges) -> Interval | None:
    match atom:
        case Symbol():
            return ranges.get(atom)
        case forms.FloorDiv(dividend, divisor):
            ends = interval(dividend, ranges)
            by = divisor.constant
            if ends is None or not divisor.is_constant or by <= 0:
                return None
            return ends[0] // by, ends[1] // by
        case forms.Extreme(kind, left, right):
            one, other = interval(left, ranges), interval(right, ranges)
            if one is None or other is None:
                return None
            choose = min if kind == "min" else max
            return choose(one[0], other[0]), choose(one[1], other[1])
        case forms.Product(left, right):
            one, other = interval(left, ranges), interval(right, ranges)
            if one is None or other is None:
                return None
            corners = [a * b for a in one for b in other]
            return min(corners), max(corners)
    return None
