"""What the operands of an intrinsic are in a nest: for each of their elements, an element of a tensor.

    b[n, k]  is  B[4*ko + ki, 16*jo + ji]      with n counted by ji and k by ki:   b[n, k]  is  B[4*ko + k, 16*jo + n]

Subscripts may be any arithmetic on the loops of the region that is linear in them; so operands may be parts of tensors
of more dimensions, with their axes in any order, and what does not depend on a loop is the same for all of it. Every
point of the intrinsic is compared: a relation that would take one element for two different ones is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from tdl.compiler.schedule.text import access_text
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Binder

Values = Sequence[int]
"""One for each point."""


@dataclass(frozen=True, slots=True)
class Operand:
    """`steps` says of each element, row by row, how far it is from `base` on each axis of the tensor.

    `written` is the base as the statement writes it, in its own indices.
    """

    name: str
    tensor: str
    base: tuple[Form, ...]
    steps: tuple[tuple[int, ...], ...]
    written: tuple[Form, ...] = field(default=(), compare=False)

    def elements(self) -> list[tuple[Form, ...]]:
        return [tuple([start + by for start, by in zip(self.base, step)]) for step in self.steps]


@dataclass(frozen=True, slots=True)
class Unlike:
    """Why an operand is nothing of the nest, in words."""

    why: str


@dataclass(frozen=True)
class Points:
    """Every point of an intrinsic: values of its indices, and of the loops that count them, from 0 on."""

    indices: Mapping[Symbol, Values]
    loops: Mapping[Symbol, Values]
    count: int

    @classmethod
    def of(cls, binders: Sequence[Binder], loops: Mapping[Symbol, Symbol]) -> Points:
        """`loops` gives the index that each loop counts."""
        grid = list(product(*(range(binder.lo.constant, binder.hi.constant) for binder in binders)))
        indices = {binder.index: [point[axis] for point in grid] for axis, binder in enumerate(binders)}
        first = {binder.index: binder.lo.constant for binder in binders}
        counted = {loop: [value - first[index] for value in indices[index]] for loop, index in loops.items()}
        return cls(indices, counted, len(grid))

    def of_indices(self, form: Form) -> Values | None:
        """The values of a form over the intrinsic's indices; None for one that is more than arithmetic."""
        total = [form.constant] * self.count
        for atom, times in form.terms:
            match atom:
                case Symbol() if atom in self.indices:
                    values: Values | None = self.indices[atom]
                case forms.FloorDiv(dividend, divisor) if divisor.is_constant and divisor.constant > 0:
                    above = self.of_indices(dividend)
                    values = None if above is None else [value // divisor.constant for value in above]
                case _:
                    values = None
            if values is None:
                return None
            total = [sum_ + times * value for sum_, value in zip(total, values)]
        return total

    def of_loops(self, form: Form) -> tuple[Form, Values] | None:
        """A form of the nest as what it is where the loops begin, and how far it goes from there."""
        moved = [0] * self.count
        rest = form
        for loop, values in self.loops.items():
            times = dict(form.terms).get(loop, 0)
            if times:
                moved = [sum_ + times * value for sum_, value in zip(moved, values)]
                rest = rest - forms.symbol(loop) * times
        return None if any(rest.mentions(loop) for loop in self.loops) else (rest, moved)


def operand(
    points: Points, name: str, shape: Sequence[int], subscripts: Sequence[Form], tensor: str, element: Sequence[Form]
) -> Operand | Unlike:
    """The operand that is read (or written) at `subscripts` where the nest touches `element` of a tensor."""
    ours, theirs = [], []
    for subscript in subscripts:
        values = points.of_indices(subscript)
        if values is None:
            return Unlike(f"`{name}[{subscript}]` is more than arithmetic on indices")
        ours.append(values)
    for form in element:
        found = points.of_loops(form)
        if found is None:
            return Unlike(f"the subscript `{form}` of `{tensor}` is not linear in the loops")
        theirs.append(found)
    base = tuple(rest for rest, _ in theirs)
    steps: list[tuple[int, ...] | None] = [None] * prod(shape)
    for point in range(points.count):
        at = [values[point] for values in ours]
        step = tuple([values[point] for _, values in theirs])
        place = _flat(shape, at)
        if steps[place] not in (None, step):
            one, other = (_shown(tensor, base, each) for each in (steps[place] or (), step))
            return Unlike(f"`{_place(name, shape, place)}` would be both {one} and {other}")
        steps[place] = step
    filled = [step for step in steps if step is not None]
    if len(filled) < len(steps):
        return Unlike(f"it does not read `{_place(name, shape, steps.index(None))}`, so nothing says what that is")
    return Operand(name, tensor, base, tuple(filled))


def overlap(of: Operand, shape: Sequence[int]) -> str | None:
    """Two elements of an operand that are one element of the tensor, in words."""
    seen: dict[tuple[int, ...], int] = {}
    for position, step in enumerate(of.steps):
        other = seen.setdefault(step, position)
        if other != position:
            one, two = _place(of.name, shape, other), _place(of.name, shape, position)
            return f"`{one}` and `{two}` would both be {_shown(of.tensor, of.base, step)}"
    return None


def _flat(shape: Sequence[int], at: Sequence[int]) -> int:
    place = 0
    for size, value in zip(shape, at):
        place = place * size + value
    return place


def _place(name: str, shape: Sequence[int], place: int) -> str:
    at: list[int] = []
    for size in reversed(shape):
        place, value = divmod(place, size)
        at.insert(0, value)
    return f"{name}[{', '.join(map(str, at))}]" if at else name


def _shown(tensor: str, base: Sequence[Form], step: Sequence[int]) -> str:
    return access_text(tensor, tuple(start + by for start, by in zip(base, step)))
