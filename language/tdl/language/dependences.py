"""Which elements does an element need? One `Dependence` for each read of a tensor by a definition.

    S[t, j] = S[t - 1, j] + X[t, j]  for t in 1..T     reads, at (t, j), the element (t - 1, j) that S[t, j] writes
                                                       if t - 1 is in 1..T, and that S[0, j] writes if t - 1 == 0

Reads outside of a tensor need nothing where a constant stands in for them; `edge`, `wrap` and `mirror` count where they
land. A subscript through data is a variable like another: it may be any element.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tdl.language import forms
from tdl.language.conditions import Formula, at_least, equal, every, forms_of, less, nature, some
from tdl.language.domains import Domain, contains, visit_accesses
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts, is_known
from tdl.language.proof import connected
from tdl.language.sets import is_empty
from tdl.language.tree import Access, Definition, Program, Target


@dataclass(frozen=True, slots=True)
class Dependence:
    """`reader`, at the indices of `domain`, reads `element` of the tensor that `writer` writes by `target`.

    `formulas` hold for the instances that do.
    """

    reader: Definition
    writer: Definition
    target: Target
    access: Access
    domain: Domain
    element: tuple[Form, ...]
    formulas: tuple[Formula, ...]

    def distance(self, reader_axis: int, writer_axis: int) -> Form:
        """How far the reader's coordinate on its axis is past the writer's on its own."""
        return self.reader.targets[0].coordinates[reader_axis] - self._written(writer_axis)

    def _written(self, axis: int) -> Form:
        """The coordinate of the writer's first target, as the element that is read fixes it."""
        coordinate = self.writer.targets[0].coordinates[axis]
        for other, at in zip(self.target.coordinates, self.element):
            if other == coordinate and not coordinate.is_constant:
                return at
        return coordinate

    def restricted(self, formula: Formula) -> Dependence:
        return replace(self, formulas=(*self.formulas, formula))

    @property
    def is_deferred(self) -> bool:
        """Whether its set is known only once sizes have numbers."""
        every_form = (*self.element, *(form for formula in self.formulas for form in forms_of(formula)))
        return any(nature(form) == "deferred" for form in every_form)


@dataclass(frozen=True, slots=True)
class Signs:
    """Which signs a distance can have."""

    positive: bool
    zero: bool
    negative: bool

    @property
    def is_possible(self) -> bool:
        return self.positive or self.zero or self.negative


def dependences(program: Program, definition: Definition, writers: list[Definition]) -> list[Dependence]:
    """The reads of a definition from what the writers write; whether there are any at all is not yet asked."""
    found: list[Dependence] = []

    def visit(access: Access, domain: Domain) -> None:
        written = ((writer, target) for writer in writers for target in writer.targets)
        found.extend(
            _dependence(program, definition, writer, target, access, domain)
            for writer, target in written
            if target.tensor == access.tensor
        )

    visit_accesses(definition, visit)
    return found


def can_happen(dependence: Dependence, facts: Facts, *also: Formula) -> bool:
    """Whether any instance depends on another in this way, for any admitted sizes."""
    if not also:
        return not is_empty((*facts.formulas, *dependence.formulas))
    everything = (*facts.formulas, *dependence.formulas)
    symbols = [symbol for formula in also for form in forms_of(formula) for symbol in form.symbols()]
    relevant = connected(everything, symbols)
    if is_empty((*relevant, *also)):
        return False
    return len(relevant) == len(everything) or not is_empty((*everything, *also))


def signs_of(dependence: Dependence, facts: Facts, distance: Form) -> Signs:
    """The signs that a distance can have, where the dependence is known to happen."""
    if distance.is_constant:
        value = distance.constant
        return Signs(value > 0, value == 0, value < 0)
    binders = dependence.domain.binders
    if is_known(distance - 1, facts, binders):
        return Signs(True, False, False)
    if is_known(-distance - 1, facts, binders):
        return Signs(False, False, True)
    return Signs(
        can_happen(dependence, facts, at_least(distance, 1)),
        can_happen(dependence, facts, equal(distance, forms.ZERO)),
        can_happen(dependence, facts, less(distance, forms.ZERO)),
    )


def _dependence(
    program: Program, reader: Definition, writer: Definition, target: Target, access: Access, domain: Domain
) -> Dependence:
    shape = program.tensors[access.tensor].shape
    element: list[Form] = []
    landing: list[Formula] = []
    for axis, (subscript, size) in enumerate(zip(access.subscripts, shape)):
        at, formulas = _landing(access, axis, subscript, size)
        element.append(at)
        landing += formulas
    written = contains(writer, target, tuple(element))
    formulas = (*domain.formulas(), *landing, written)
    return Dependence(reader, writer, target, access, domain, tuple(element), formulas)


def _landing(access: Access, axis: int, subscript: Form, size: Form) -> tuple[Form, tuple[Formula, ...]]:
    """The coordinate that is read, and what is known of it."""
    mode = "constant" if access.boundary is None else access.boundary.mode
    if mode == "constant":
        return subscript, ()
    at = forms.symbol(Symbol(f"[{axis}]", "index"))
    inside = (at_least(at, 0), less(at, size))
    cases = some(every(case) for case in _landing_cases(mode, at, subscript, size))
    return at, (*inside, cases)


def _landing_cases(mode: str, at: Form, subscript: Form, size: Form) -> Iterator[tuple[Formula, ...]]:
    """Where an access with a boundary lands; beyond one period, anywhere."""
    zero = forms.ZERO
    yield at_least(subscript, 0), less(subscript, size), equal(at, subscript)
    match mode:
        case "edge":
            yield less(subscript, zero), equal(at, zero)
            yield at_least(subscript, size), equal(at, size - 1)
        case "wrap":
            yield less(subscript, zero), at_least(subscript, -size), equal(at, subscript + size)
            yield at_least(subscript, size), less(subscript, size * 2), equal(at, subscript - size)
            yield (less(subscript, -size),)
            yield (at_least(subscript, size * 2),)
        case "mirror":
            yield less(subscript, zero), less(-size, subscript), equal(at, -subscript)
            yield at_least(subscript, size), less(subscript, size * 2 - 1), equal(at, size * 2 - 2 - subscript)
            yield (at_least(-size, subscript),)
            yield (at_least(subscript, size * 2 - 1),)
