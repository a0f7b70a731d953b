"""The one door to isl: is a set of integer points empty, and what is its least point?

A question is a conjunction of formulas; every symbol in it is a variable, and so is every atom that is not quasi-affine
(data, products), which makes "empty" hold for any value of those. A division `x//k` becomes a variable `q` with
`0 <= x - k*q < k`, `min` and `max` become cases. Cases are searched one by one, each a matrix of constraints for isl,
and given up as soon as they are empty. Answers are kept by the content of the matrix, so renamed programs share them.

isl is imported at the first question that `inequalities.py` cannot answer. A question that takes more than its budget
raises `Undecided`: never a wrong answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from tdl.language import forms
from tdl.language.conditions import AtLeast, Equal, Every, Formula, Some
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Symbol

_OPERATIONS = 200_000  # by isl's own count; 0.1 to 1 s
_OPERATIONS_FOR_LEAST = 50_000
_CASES = 1_500
_PARTS = 10_000  # of the formulas, once `min` and `max` are made into cases
_LEAST_OF = 50  # cases
_UNBOUNDED, _GIVEN_UP = 3, 4
_GREATEST_SHOWN = 1 << 40  # what one point at random may be
_MEMORY = 20_000


class Undecided(Exception):
    """The budget ended before the answer."""


def is_empty(formulas: Iterable[Formula]) -> bool:
    """Whether no integer values satisfy all formulas."""
    return next(_System(()).cases(formulas, _OPERATIONS), None) is None


def least_point(formulas: Iterable[Formula], order: Sequence[Symbol]) -> dict[Symbol, int] | None:
    """The lexicographically least values (in the given order) that satisfy all formulas; None where there are none.

    Where there is no least, because something may be negative without end, it is looked for from 0 up; then anywhere.
    Of very many cases only the first are looked at.
    """
    system = _System(order)
    points: list[tuple[int, tuple[int, ...]]] = []
    for rows in islice(system.cases(formulas, _OPERATIONS_FOR_LEAST), _LEAST_OF):
        points.append(system.point(rows))
        if points[-1][0] == _GIVEN_UP:
            break
    if not points:
        return None
    _, point = min(points)
    if max(map(abs, point), default=0) > _GREATEST_SHOWN:
        raise Undecided
    return dict(zip(order, point))


class _Row(NamedTuple):
    """`sum of coefficient * column + constant` is `>= 0`, or `== 0`."""

    is_equality: bool
    terms: tuple[tuple[int, int], ...]
    constant: int


class _Case(NamedTuple):
    """Rows that all hold, and choices of which one case each must hold."""

    rows: tuple[_Row, ...]
    choices: tuple[tuple[_Case, ...], ...]


@dataclass
class _System:
    """Formulas as rows over numbered columns: those of `order`, then what else appears."""

    order: Sequence[Symbol]
    columns: dict[Atom, int] = field(init=False)
    divisions: list[_Row] = field(default_factory=list)
    spent: int = 0

    def __post_init__(self) -> None:
        self.columns = {symbol: column for column, symbol in enumerate(self.order)}

    def cases(self, formulas: Iterable[Formula], operations: int) -> Iterator[tuple[_Row, ...]]:
        """The conjunctions that have points and together are the formulas."""
        rows, choices = self._all(formulas)
        self.spent = 0
        _set_budget(operations)
        yield from self._search((*rows, *self.divisions), choices)

    def point(self, rows: tuple[_Row, ...]) -> tuple[int, tuple[int, ...]]:
        """The least values of the columns in one case, after a number that is the less the better they are bounded."""
        width = len(self.columns)
        free = [column for atom, column in self.columns.items() if not isinstance(atom, FloorDiv)]
        sizes = [column for atom, column in self.columns.items() if column in free and not _is_index(atom)]
        try:
            for effort, natural in enumerate(((), sizes, free)):
                bounded = (*rows, *(_Row(False, ((column, 1),), 0) for column in natural))
                least = None if _is_empty(bounded, width) else _least(bounded, width)
                if least is not None:
                    return effort, least
            return _UNBOUNDED, _any(rows, width)
        except Undecided:
            _set_budget(_OPERATIONS_FOR_LEAST)
            return _GIVEN_UP, _any(rows, width)

    def _search(self, rows: tuple[_Row, ...], choices: tuple[tuple[_Case, ...], ...]) -> Iterator[tuple[_Row, ...]]:
        self.spent += 1
        if self.spent > _CASES:
            raise Undecided
        if _is_empty(rows, len(self.columns)):
            return
        if not choices:
            yield rows
            return
        for case in choices[0]:
            yield from self._search((*rows, *case.rows), (*case.choices, *choices[1:]))

    def _all(self, formulas: Iterable[Formula]) -> _Case:
        rows: list[_Row] = []
        choices: list[tuple[_Case, ...]] = []
        for formula in formulas:
            case = self._case(formula)
            rows += case.rows
            choices += case.choices
        return _Case(tuple(rows), tuple(choices))

    def _case(self, formula: Formula) -> _Case:
        self.spent += 1
        if self.spent > _PARTS:
            raise Undecided
        match formula:
            case Every(parts):
                return self._all(parts)
            case Some(parts):
                return _Case((), (tuple(self._case(part) for part in parts),))
            case AtLeast(form) if (sides := _both_sides(form)) is not None:
                return self._all(map(AtLeast, sides))
            case AtLeast(form) | Equal(form):
                extreme = _extreme_in(form)
                if extreme is None:
                    return _Case((self._row(form, isinstance(formula, Equal)),), ())
                return self._case(_cases_of(formula, extreme))

    def _row(self, form: Form, is_equality: bool) -> _Row:
        return _Row(is_equality, tuple((self._column(atom), c) for atom, c in form.terms), form.constant)

    def _column(self, atom: Atom) -> int:
        column = self.columns.get(atom)
        if column is None:
            column = self.columns[atom] = len(self.columns)
            if isinstance(atom, FloorDiv) and atom.divisor.is_constant and atom.divisor.constant > 0:
                by = atom.divisor.constant
                remainder = atom.dividend - Form(((atom, by),), 0)
                self.divisions += [self._row(remainder, False), self._row(-remainder + (by - 1), False)]
        return column


def _is_index(atom: Atom) -> bool:
    return isinstance(atom, Symbol) and atom.kind == "index"


def _both_sides(form: Form) -> tuple[Form, Form] | None:
    """The two forms that are both >= 0 exactly where one with a `min` added, or a `max` subtracted, is."""
    for atom, coefficient in form.terms:
        if isinstance(atom, Extreme) and (atom.kind == "min") == (coefficient > 0):
            rest = form - Form(((atom, coefficient),), 0)
            return rest + atom.left * coefficient, rest + atom.right * coefficient
    return None


def _extreme_in(form: Form) -> Extreme | None:
    for atom, _ in form.terms:
        match atom:
            case Extreme():
                return atom
            case FloorDiv(dividend, divisor) if divisor.is_constant:
                inner = _extreme_in(dividend)
                if inner is not None:
                    return inner
    return None


def _cases_of(formula: AtLeast | Equal, extreme: Extreme) -> Formula:
    """The formula where the left is the extreme one, or where the right is."""
    kind = type(formula)
    left, right = (kind(_replaced(formula.form, extreme, each)) for each in (extreme.left, extreme.right))
    ahead = extreme.left - extreme.right if extreme.kind == "max" else extreme.right - extreme.left
    return Some((Every((AtLeast(ahead), left)), Every((AtLeast(-ahead - 1), right))))


def _replaced(form: Form, extreme: Extreme, value: Form) -> Form:
    result = forms.constant(form.constant)
    for atom, coefficient in form.terms:
        match atom:
            case FloorDiv(dividend, divisor) if divisor.is_constant:
                result = result + forms.floor_div(_replaced(dividend, extreme, value), divisor) * coefficient
            case _:
                result = result + (value if atom == extreme else Form(((atom, 1),), 0)) * coefficient
    return result


# ---- isl

_Answer = TypeVar("_Answer")
_local = threading.local()
_verdicts: dict[tuple[tuple[_Row, ...], int], bool] = {}


def _is_empty(rows: tuple[_Row, ...], width: int) -> bool:
    key = (rows, width)
    verdict = _verdicts.get(key)
    if verdict is None:
        if len(_verdicts) >= _MEMORY:
            _verdicts.clear()
        verdict = _verdicts[key] = _asked(lambda: bool(_basic_set(rows, width).is_empty()))
    return verdict


def _least(rows: tuple[_Row, ...], width: int) -> tuple[int, ...] | None:
    """The least point of a set that has one, column by column; None if some column has no least value."""
    import islpy

    def ask() -> tuple[int, ...] | None:
        points = islpy.Set.from_basic_set(_basic_set(rows, width))
        found: list[int] = []
        for column in range(width):
            least = points.dim_min_val(column)
            if not least.is_int():
                return None
            found.append(least.to_python())
            points = points.fix_val(islpy.dim_type.set, column, least)
        return tuple(found)

    return _asked(ask)


def _any(rows: tuple[_Row, ...], width: int) -> tuple[int, ...]:
    import islpy

    def ask() -> tuple[int, ...]:
        point = _basic_set(rows, width).sample_point()
        return tuple(point.get_coordinate_val(islpy.dim_type.set, k).to_python() for k in range(width))

    return _asked(ask)


def _basic_set(rows: tuple[_Row, ...], width: int) -> Any:
    import islpy

    space = islpy.Space.set_alloc(_context(), 0, width)
    local = islpy.LocalSpace.from_space(space)
    points = islpy.BasicSet.universe(space)
    for row in rows:
        make = islpy.Constraint.alloc_equality if row.is_equality else islpy.Constraint.alloc_inequality
        constraint = make(local)
        for column, coefficient in row.terms:
            constraint = constraint.set_coefficient_val(islpy.dim_type.set, column, coefficient)
        points = points.add_constraint(constraint.set_constant_val(row.constant))
    return points


def _asked(ask: Callable[[], _Answer]) -> _Answer:
    import islpy

    try:
        return ask()
    except (islpy.Error, TypeError) as error:  # a number asked for beyond the budget comes as None
        raise Undecided from error


def _context() -> Any:
    """This thread's isl: a context belongs to one thread."""
    import islpy

    if not hasattr(_local, "context"):
        _local.context = islpy.Context()
        _local.context.set_max_operations(_OPERATIONS)
    return _local.context


def _set_budget(operations: int) -> None:
    if hasattr(_local, "context"):
        _local.context.reset_operations()
        _local.context.set_max_operations(operations)
