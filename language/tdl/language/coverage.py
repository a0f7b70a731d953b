"""Do the definitions of a tensor give each of its elements exactly once?

    S[0] = ...                     0 and 1..T are inside 0..T, have no element in common,
    S[t] = ... for t in 1..T       and leave none out, if T >= 1

Proved for all sizes that the facts admit; else the error shows an element. Where filters, ranges or shapes are
quasi-affine only once sizes have numbers, the proof is owed before a call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tdl.language import forms
from tdl.language.conditions import (
    AtLeast,
    Formula,
    at_least,
    every,
    less,
    nature,
    nature_of_condition,
    negation,
    some,
)
from tdl.language.diagnostic import Label
from tdl.language.domains import Domain, contains, definition_domain
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts, is_known
from tdl.language.proof import holds
from tdl.language.report import Report
from tdl.language.sets import Undecided, is_empty
from tdl.language.tree import Definition, Obligation, Program, Target, Tensor
from tdl.language.witness import Point, find_witness, show_element, show_point, size_facts, size_symbols

_Box = list[tuple[Form, Form]]


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one target of a definition writes."""

    definition: Definition
    target: Target

    @property
    def box(self) -> _Box:
        """First and one past last of each coordinate; the piece is all of it unless the definition has a filter."""
        ranges = {binder.index: (binder.lo, binder.hi) for binder in self.definition.indices}
        return [_range(coordinate, ranges) for coordinate in self.target.coordinates]

    def contains(self, element: tuple[Form, ...]) -> Formula:
        return contains(self.definition, self.target, element)

    @property
    def forms(self) -> Iterable[Form]:
        yield from self.target.coordinates
        for binder in self.definition.indices:
            yield from (binder.lo, binder.hi)


@dataclass
class _Checker:
    program: Program
    report: Report
    facts: Facts
    obligations: list[Obligation] = field(default_factory=list)

    def check(self, tensor: Tensor) -> None:
        pieces = [
            _Piece(definition, target)
            for definition in self.program.definitions
            for target in definition.targets
            if target.tensor == tensor.name
        ]
        if not pieces:
            self._report_missing(tensor)
        elif not self._has_simple_cover(tensor, pieces):
            self._check_pieces(tensor, pieces)

    def _check_pieces(self, tensor: Tensor, pieces: list[_Piece]) -> None:
        for piece in pieces:
            condition = piece.definition.filter
            if condition is not None and nature_of_condition(condition) == "data":
                self._report_data(tensor, piece)
                return
        if self._is_deferred(tensor, pieces):
            self.obligations.append(Obligation("coverage", pieces[0].target.span))
            return
        try:
            _ = (
                self._leaves_shape(tensor, pieces)
                or self._writes_twice(tensor, pieces)
                or self._leaves_out(tensor, pieces)
            )
        except Undecided:
            self.report.error(
                "undecided",
                f"whether the definitions of `{tensor.name}` give each element once could not be decided",
                pieces[0].definition.span,
                "use fewer definitions or simpler filters",
            )

    def _is_deferred(self, tensor: Tensor, pieces: list[_Piece]) -> bool:
        conditions = [piece.definition.filter for piece in pieces if piece.definition.filter is not None]
        return any(nature_of_condition(condition) == "deferred" for condition in conditions) or any(
            nature(form) != "affine" for form in (*tensor.shape, *(form for piece in pieces for form in piece.forms))
        )

    # ---- without isl

    def _has_simple_cover(self, tensor: Tensor, pieces: list[_Piece]) -> bool:
        """Whether the pieces are the shape cut into boxes by cuts from one end to the other."""
        if any(piece.definition.filter is not None for piece in pieces):
            return False
        return self._fills([(forms.ZERO, size) for size in tensor.shape], [piece.box for piece in pieces])

    def _fills(self, whole: _Box, boxes: list[_Box]) -> bool:
        if len(boxes) == 1:
            return boxes[0] == whole
        for axis, (lo, hi) in enumerate(whole):
            parts: dict[tuple[Form, Form], list[_Box]] = {}
            for box in boxes:
                parts.setdefault(box[axis], []).append(box)
            if len(parts) > 1 and self._is_chain(list(parts), lo, hi):
                return all(self._fills([*whole[:axis], cut, *whole[axis + 1 :]], part) for cut, part in parts.items())
        return False

    def _is_chain(self, ranges: list[tuple[Form, Form]], at: Form, end: Form) -> bool:
        """Whether the ranges can be put one behind the other from `at` to `end`."""
        ends = dict(ranges)
        if len(ends) != len(ranges):
            return False
        for _ in ranges:
            following = ends.get(at)
            if following is None or not is_known(following - at, self.facts, ()):
                return False
            at = following
        return at == end

    # ---- with isl

    def _leaves_shape(self, tensor: Tensor, pieces: list[_Piece]) -> bool:
        for piece in pieces:
            domain = definition_domain(piece.definition)
            goals = [
                goal
                for coordinate, size in zip(piece.target.coordinates, tensor.shape)
                for goal in (coordinate, size - coordinate - 1)
                if not holds(goal, self.facts, domain)
            ]
            if goals:
                self._report_outside(tensor, piece, goals, domain)
                return True
        return False

    def _writes_twice(self, tensor: Tensor, pieces: list[_Piece]) -> bool:
        element = _element(tensor)
        for position, later in enumerate(pieces):
            for earlier in pieces[:position]:
                if self._are_apart(earlier, later):
                    continue
                both = (earlier.contains(element), later.contains(element))
                if not is_empty((*self.facts.formulas, *both)):
                    self._report_twice(tensor, earlier, later, every(both))
                    return True
        return False

    def _are_apart(self, first: _Piece, second: _Piece) -> bool:
        return any(
            is_known(lo - other_hi, self.facts, ()) or is_known(other_lo - hi, self.facts, ())
            for (lo, hi), (other_lo, other_hi) in zip(first.box, second.box)
        )

    def _leaves_out(self, tensor: Tensor, pieces: list[_Piece]) -> bool:
        element = _element(tensor)
        inside = [formula for at, size in zip(element, tensor.shape) for formula in (at_least(at, 0), less(at, size))]
        outside = [negation(piece.contains(element)) for piece in pieces]
        if is_empty((*self.facts.formulas, *inside, *outside)):
            return False
        point = self._witness(tensor, every((*inside, *outside)))
        shown = show_element(tensor.name, element, point or {})
        sizes = ", ".join(map(str, tensor.shape))
        self.report.error(
            "uncovered",
            f"no definition gives `{shown}`" if point else f"some elements of `{tensor.name}` have no definition",
            pieces[0].definition.span,
            *([f"{_shown_sizes(point)}: `{shown}` is in the shape [{sizes}] and nothing defines it"] if point else []),
            "add a definition for what is missing, widen a range, or state a `where` fact that leaves nothing out",
        )
        return True

    def _witness(self, tensor: Tensor, wrong: Formula) -> Point | None:
        element = _element(tensor)
        order = (*size_symbols(self.program), *(at.symbol for at in element if at.symbol is not None))
        return find_witness(self.facts.formulas, wrong, order, (*tensor.shape, *element))

    # ---- reports

    def _report_missing(self, tensor: Tensor) -> None:
        self.report.broken.add(tensor.name)
        if tensor.role == "output":
            self.report.error(
                "missing-output",
                f"no definition gives the output `{tensor.name}`",
                tensor.span,
                f"add a definition such as `{_example(tensor)} = ...`",
            )
        else:
            self.report.error(
                "definition",
                f"`{tensor.name}` is declared, but nothing defines it",
                tensor.span,
                f"add a definition such as `{_example(tensor)} = ...`, or remove the declaration",
            )

    def _report_data(self, tensor: Tensor, piece: _Piece) -> None:
        self.report.error(
            "definition",
            f"which elements of `{tensor.name}` are defined here would depend on data",
            piece.definition.filter.span if piece.definition.filter is not None else piece.definition.span,
            "a definition's filter may only compare indices and sizes, so that every element is surely given",
            "choose the value instead: `... if condition else ...`",
        )

    def _report_outside(self, tensor: Tensor, piece: _Piece, goals: list[Form], domain: Domain) -> None:
        known = (*self.facts.formulas, *domain.formulas())
        order = (*size_symbols(self.program), *(binder.index for binder in domain.binders))
        wrong = some(negation(AtLeast(goal)) for goal in goals)
        point = find_witness(known, wrong, order, piece.target.coordinates)
        written = show_element(tensor.name, piece.target.coordinates, {})
        sizes = ", ".join(map(str, tensor.shape))
        notes = ["give the indices a smaller range, or state a `where` fact"]
        if point:
            notes.insert(0, f"{show_point(point)}: {show_element(tensor.name, piece.target.coordinates, point)}")
        self.report.error(
            "out-of-bounds",
            f"`{written}` is outside of `{tensor.name}`, whose shape is [{sizes}]",
            piece.target.span,
            *notes,
        )

    def _report_twice(self, tensor: Tensor, earlier: _Piece, later: _Piece, both: Formula) -> None:
        element = _element(tensor)
        point = self._witness(tensor, both)
        shown = show_element(tensor.name, element, point) if point else tensor.name
        self.report.error(
            "overlap",
            f"`{shown}` is written twice",
            later.definition.span,
            *([f"{_shown_sizes(point)}: both definitions give `{shown}`"] if point else []),
            "give the definitions ranges or filters that have no element in common",
            secondary=(Label(earlier.definition.span, "it is also given here"),),
        )


def _range(coordinate: Form, ranges: dict[Symbol, tuple[Form, Form]]) -> tuple[Form, Form]:
    symbol = coordinate.symbol
    return ranges.get(symbol, (coordinate, coordinate + 1)) if symbol is not None else (coordinate, coordinate + 1)


def _element(tensor: Tensor) -> tuple[Form, ...]:
    """An element of the tensor, by symbols that no program can name."""
    return tuple(forms.symbol(Symbol(f"[{axis}]", "index")) for axis in range(len(tensor.shape)))


def _shown_sizes(point: Point) -> str:
    sizes = {symbol: value for symbol, value in point.items() if symbol.kind != "index"}
    return show_point(sizes) or "for all sizes"


def _example(tensor: Tensor) -> str:
    names = "ijklmnpqrstuvwxyz"
    return show_element(tensor.name, (forms.symbol(Symbol(names[a], "index")) for a in range(len(tensor.shape))), {})


def _is_broken(definition: Definition, report: Report) -> bool:
    return any(target.tensor in report.broken for target in definition.targets)


def check_coverage(program: Program, report: Report) -> Program:
    checker = _Checker(program, report, size_facts(program))
    for tensor in program.tensors.values():
        if tensor.role != "input" and tensor.name not in report.broken:
            checker.check(tensor)
    return replace(program, obligations=(*program.obligations, *checker.obligations))
