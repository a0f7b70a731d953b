"""The ranges that a text leaves open, and what it says about them.

    Y[i, j] = sum(X[i + 1, k] * W[k, j] for k)     k has the candidates 0..K by the shape of X and 0..L by that of W

The draft names every open end and size by an `unknown` symbol. Candidates may mention the unknown sizes of other
tensors; which of them count is found by `ranges.py`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from tdl.language import forms
from tdl.language.conditions import nature
from tdl.language.domains import Domain, visit_accesses
from tdl.language.forms import FloorDiv, Form, Symbol
from tdl.language.tree import Access, Binder, Definition, Program, Reduce, walk


@dataclass
class Slot:
    """An index whose range is open. `bounds` are candidates for its two ends.

    `is_excused` where what would bound it may be in something already reported.
    """

    binder: Binder
    definition: Definition
    is_left: bool
    declared: list[tuple[Form, Form]] = field(default_factory=list)
    bounds: list[tuple[Form, Form]] = field(default_factory=list)
    is_excused: bool = False

    @cached_property
    def unknowns(self) -> tuple[Symbol, Symbol]:
        return unknown_of(self.binder.lo), unknown_of(self.binder.hi)


@dataclass(frozen=True, slots=True)
class Read:
    """A read of a tensor by a definition that does not write it."""

    access: Access
    domain: Domain


@dataclass
class Open:
    """`slots` are by the unknown of their lower end, `reads` by tensor."""

    program: Program
    broken: Container[str]
    slots: dict[Symbol, Slot] = field(default_factory=dict)
    reads: dict[str, list[Read]] = field(default_factory=dict)

    def collect(self, definition: Definition) -> None:
        for binder in definition.indices:
            if is_open(binder.lo):
                declared = self._declared(definition, binder)
                self.slots[unknown_of(binder.lo)] = Slot(binder, definition, True, declared, list(declared))
        for binder in _reduction_binders(definition):
            if is_open(binder.lo):
                self.slots[unknown_of(binder.lo)] = Slot(binder, definition, False)
        own = {target.tensor for target in definition.targets}
        visit_accesses(definition, lambda access, domain: self._collect_access(own, access, domain))

    def _declared(self, definition: Definition, binder: Binder) -> list[tuple[Form, Form]]:
        """The ranges that declared shapes give to a left-hand index."""
        return [
            (forms.ZERO, size)
            for target in definition.targets
            for coordinate, size in zip(target.coordinates, self.program.tensors[target.tensor].shape)
            if coordinate.symbol == binder.index and not is_open(size)
        ]

    def _collect_access(self, own: set[str], access: Access, domain: Domain) -> None:
        tensor = self.program.tensors.get(access.tensor)
        if tensor is None or access.tensor in self.broken:
            self._excuse(access, domain)
            return
        if access.tensor in own:
            return
        self.reads.setdefault(access.tensor, []).append(Read(access, domain))
        if access.boundary is None:
            for subscript, size in zip(access.subscripts, tensor.shape):
                self._collect_subscript(subscript, size, domain)

    def _collect_subscript(self, subscript: Form, size: Form, domain: Domain) -> None:
        slot = self._only_index(subscript, domain)
        if slot is not None and not slot.declared:
            bounds = inverted(subscript, slot.binder.index, forms.ZERO, size - 1)
            if bounds is not None:
                slot.bounds.append((bounds[0], bounds[1] + 1))

    def _only_index(self, subscript: Form, domain: Domain) -> Slot | None:
        """The open slot of the subscript's only index, if it has just one and no data."""
        indices = {symbol for symbol in subscript.symbols() if symbol.kind == "index"}
        if len(indices) != 1 or nature(subscript) == "data":
            return None
        for binder in reversed(domain.binders):
            if binder.index in indices:
                return self.slots.get(unknown_of(binder.lo)) if is_open(binder.lo) else None
        return None

    def _excuse(self, access: Access, domain: Domain) -> None:
        for binder in domain.binders:
            if is_open(binder.lo) and any(form.mentions(binder.index) for form in access.subscripts):
                self.slots[unknown_of(binder.lo)].is_excused = True


def is_open(form: Form) -> bool:
    """Whether a form is an end or a size that the text does not give."""
    symbol = form.symbol
    return symbol is not None and symbol.kind == "unknown"


def is_solved(form: Form) -> bool:
    return all(symbol.kind != "unknown" for symbol in form.symbols())


def unknown_of(form: Form) -> Symbol:
    """The symbol of an open end or size."""
    symbol = form.symbol
    assert symbol is not None
    return symbol


def inverted(form: Form, index: Symbol, lo: Form, hi: Form) -> tuple[Form, Form] | None:
    """The least and greatest `index` for which `lo <= form <= hi`; None where that is not one interval to be found.

    2*i + 1 in 0..=9    becomes    i in 0..=4
    (i + 1)//2 in a..=b    becomes    i in 2*a - 1..=2*b
    """
    holding = [(atom, coefficient) for atom, coefficient in form.terms if Form(((atom, 1),), 0).mentions(index)]
    if len(holding) != 1:
        return None
    (atom, coefficient) = holding[0]
    rest = form - Form(((atom, coefficient),), 0)
    low, high = lo - rest, hi - rest
    if coefficient < 0:
        low, high = -high, -low
    by = forms.constant(abs(coefficient))
    low, high = -forms.floor_div(-low, by), forms.floor_div(high, by)
    match atom:
        case Symbol():
            return low, high
        case FloorDiv(dividend, divisor) if divisor.is_constant and divisor.constant > 0:
            width = divisor.constant
            return inverted(dividend, index, low * width, high * width + (width - 1))
    return None


def _reduction_binders(definition: Definition) -> Iterable[Binder]:
    for expr in (definition.value, *([definition.filter] if definition.filter is not None else [])):
        for node in walk(expr):
            if isinstance(node, Reduce):
                yield from node.binders


def collect_open(program: Program, broken: Container[str]) -> Open:
    """Everything about the open ranges of the definitions whose tensors are not broken."""
    found = Open(program, broken)
    for definition in program.definitions:
        if not any(target.tensor in broken for target in definition.targets):
            found.collect(definition)
    return found
