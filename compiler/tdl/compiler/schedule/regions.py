"""Which box of a tensor the body of a loop touches: per axis, from the least to the greatest subscript.

    C[6*ir + ii, 64*jr + ji]  with ii in 0..min(6, M - 6*ir), ji in 0..64
    in the body of jr:        6*ir..min(6*ir + 6, M),  64*jr..64*jr + 64

Ends are forms over sizes and the loops around. Where subscripts are monotone in each loop the ends are attained; the
box may still hold elements that are not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tdl.compiler.schedule.extremes import eliminated, extreme_of, simplified
from tdl.compiler.schedule.touches import Touch, touches
from tdl.compiler.schedule.tree import Leaf, Loop, Nest
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of
from tdl.language import forms
from tdl.language.conditions import AtLeast
from tdl.language.forms import Form
from tdl.language.inequalities import Facts
from tdl.language.tree import Binder
from tdl.language.witness import size_facts


@dataclass(frozen=True, slots=True)
class Region:
    """`lo` up to, not including, `hi` on each axis; `extents` are the differences."""

    lo: tuple[Form, ...]
    hi: tuple[Form, ...]
    extents: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Touching:
    """An access under a loop: the leaf, the loops from just inside that loop to the leaf, and what is touched."""

    leaf: Leaf
    inside: Path
    touch: Touch


def touching(nest: Nest, loop: Loop, tensors: Iterable[str]) -> list[Touching]:
    """Every access of the tensors in the body of a loop."""
    wanted = set(tensors)
    return [
        Touching(leaf, path, touch)
        for path, leaf in leaves_of(loop.body)
        for touch in touches(nest, leaf)
        if touch.tensor in wanted
    ]


def region(nest: Nest, tensor: str, accesses: Sequence[Touching], outer: Path) -> Region:
    """The box of all accesses, within the tensor; the whole axis where an end is no form of sizes and outer loops.

    `outer` are the loops around, from the outermost to the one whose body it is.
    """
    shape = nest.tensors[tensor].shape
    facts, binders = size_facts(nest.program), binders_of(outer)
    los: list[Form] = []
    his: list[Form] = []
    for axis, size in enumerate(shape):
        ends = [_ends(each, axis, facts) for each in accesses]
        if any(end is None for end in ends):
            los.append(forms.ZERO)
            his.append(size)
            continue
        found = [end for end in ends if end is not None]
        lo = extreme_of("min", [lo for lo, _ in found], facts, binders)
        hi = extreme_of("max", [hi for _, hi in found], facts, binders)
        los.append(extreme_of("max", [lo, forms.ZERO], facts, binders))
        his.append(extreme_of("min", [hi, size], facts, binders))
    for axis, (lo, hi) in enumerate(_storage(nest, tensor, outer)):
        los[axis] = extreme_of("max", [los[axis], lo], facts, binders)
        his[axis] = extreme_of("min", [his[axis], hi], facts, binders)
    extents = tuple(simplified(hi - lo, facts, binders) for lo, hi in zip(los, his))
    return Region(tuple(los), tuple(his), extents)


def _storage(nest: Nest, tensor: str, outer: Path) -> list[tuple[Form, Form]]:
    """The ends of what is kept of a tensor around here: nothing outside of it is touched."""
    buffer = nest.buffers.get(tensor)
    if buffer is None or buffer.ring or buffer.at not in {loop.symbol for loop in outer}:
        return []
    return [(lo, lo + extent) for lo, extent in zip(buffer.origin, buffer.extents)]


def show_box(tensor: str, box: Region) -> str:
    return f"{tensor}[{', '.join(f'{lo}..{hi}' for lo, hi in zip(box.lo, box.hi))}]"


def _ends(access: Touching, axis: int, facts: Facts) -> tuple[Form, Form] | None:
    """The least and one past the greatest subscript, over the loops inside."""
    least: Form | None = access.touch.element[axis]
    greatest = least
    for binder in reversed((*binders_of(access.inside), *brought(access.touch))):
        least = None if least is None else eliminated(least, binder, "least", facts)
        greatest = None if greatest is None else eliminated(greatest, binder, "greatest", facts)
    return None if least is None or greatest is None else (least, greatest + 1)


def brought(touch: Touch) -> list[Binder]:
    """The ranges of the indices that an access brings along, read off its conditions."""
    result: list[Binder] = []
    for symbol in touch.inner:
        lo = hi = None
        for formula in touch.where:
            if not isinstance(formula, AtLeast):
                continue
            coefficient = dict(formula.form.terms).get(symbol)
            rest = formula.form - forms.symbol(symbol) * (coefficient or 0)
            if coefficient == 1:
                lo = -rest if lo is None else lo
            elif coefficient == -1:
                hi = rest + 1 if hi is None else hi
        if lo is not None and hi is not None:
            result.append(Binder(symbol, lo, hi))
    return result
