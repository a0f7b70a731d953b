"""Inequalities that follow by putting range ends in for indices: nearly all of them, without isl.

    2*i + r >= 0   with i in 0..H//2, r in 0..2     becomes     0 >= 0
    H - 1 - 2*i - r >= 0                            becomes     H - 2*(H//2) >= 0, a remainder

`is_known` answers True only where the inequality holds; False says nothing. `extent` is the same step made public: a
form over sizes alone that is nowhere above (or below) a form over indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tdl.language import forms
from tdl.language.conditions import AtLeast, Equal, Every, Formula
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Symbol
from tdl.language.tree import Binder

End = Literal["least", "greatest"]

_DEPTH = 3  # how many facts one proof may add up


@dataclass(frozen=True, slots=True)
class Facts:
    """What holds of the sizes: as formulas, as forms that are >= 0, and the symbols among these."""

    formulas: tuple[Formula, ...]
    linear: tuple[Form, ...]
    natural: frozenset[Atom]


def facts_of(formulas: Iterable[Formula]) -> Facts:
    formulas = tuple(formulas)
    found = tuple(linear(formulas))
    natural = {f.terms[0][0] for f in found if len(f.terms) == 1 and f.terms[0][1] > 0 and f.constant <= 0}
    return Facts(formulas, found, frozenset(natural))


def is_known(form: Form, facts: Facts, binders: Sequence[Binder]) -> bool:
    """Whether `form >= 0` follows from the facts and the ranges, outermost binder first."""
    if not form.terms:
        return form.constant >= 0
    over_sizes = extent(form, binders, "least")
    return over_sizes is not None and _follows(over_sizes, facts, _DEPTH)


def extent(form: Form, binders: Sequence[Binder], end: End) -> Form | None:
    """A form without indices that is `<= form` (`greatest`: `>= form`) wherever no range is empty, if one is found.

    It is attained where the form is monotone in each index, so there it is the exact least (greatest) value.
    """
    form = _without_remainders(form, end)
    for binder in reversed(binders):
        if form.mentions(binder.index):
            replaced = _replaced(form, binder, end)
            if replaced is None:
                return None
            form = replaced
    return None if any(symbol.kind == "index" for symbol in form.symbols()) else _without_remainders(form, end)


def linear(formulas: Iterable[Formula]) -> list[Form]:
    """The forms that are >= 0 in every case that the formulas allow."""
    found: list[Form] = []
    for formula in formulas:
        match formula:
            case AtLeast(form):
                found.append(form)
            case Equal(form):
                found += [form, -form]
            case Every(parts):
                found += linear(parts)
    return found


def _replaced(form: Form, binder: Binder, end: End) -> Form | None:
    """The form at the end of the index's range where it is least (greatest)."""
    result = forms.constant(form.constant)
    for atom, coefficient in form.terms:
        here = end if coefficient > 0 else ("greatest" if end == "least" else "least")
        replaced = _replaced_atom(atom, binder, here)
        if replaced is None:
            return None
        result = result + replaced * coefficient
    return result


def _replaced_atom(atom: Atom, binder: Binder, end: End) -> Form | None:
    match atom:
        case Symbol():
            if atom != binder.index:
                return forms.symbol(atom)
            return binder.lo if end == "least" else binder.hi - 1
        case FloorDiv(dividend, divisor) if divisor.is_constant and divisor.constant > 0:
            inside = _replaced(dividend, binder, end)
            return None if inside is None else forms.floor_div(inside, divisor)
        case Extreme(kind, left, right):
            first, second = _replaced(left, binder, end), _replaced(right, binder, end)
            return None if first is None or second is None else forms.extreme(kind, first, second)
    whole = Form(((atom, 1),), 0)
    return None if whole.mentions(binder.index) else whole


def _without_remainders(form: Form, end: End) -> Form:
    """With `c * (x % k)` replaced by its bound, 0 or `c * (k - 1)`."""
    for atom, coefficient in form.terms:
        match atom:
            case FloorDiv(dividend, divisor) if _divides(divisor, coefficient):
                times = -coefficient // divisor.constant
                if dividend.terms and _contains(form, dividend, times):
                    remainder = (dividend - Form(((atom, divisor.constant),), 0)) * times
                    low = times > 0 if end == "least" else times < 0
                    bound = 0 if low else times * (divisor.constant - 1)
                    return _without_remainders(form - remainder + bound, end)
    return form


def _divides(divisor: Form, coefficient: int) -> bool:
    return divisor.is_constant and divisor.constant > 0 and coefficient % divisor.constant == 0


def _contains(form: Form, part: Form, times: int) -> bool:
    coefficients = dict(form.terms)
    return all(coefficients.get(atom) == times * coefficient for atom, coefficient in part.terms)


def _follows(form: Form, facts: Facts, depth: int) -> bool:
    """Whether `form >= 0` is a sum of facts, found by cancelling what is negative in it."""
    form = _without_divisions(form, facts, depth)
    form = Form(tuple(term for term in form.terms if term[1] < 0 or term[0] not in facts.natural), form.constant)
    negative = [atom for atom, coefficient in form.terms if coefficient < 0]
    positive = [atom for atom, coefficient in form.terms if coefficient > 0]
    if not form.terms:
        return form.constant >= 0
    if depth == 0:
        return False
    for fact in facts.linear:
        if not _helps(fact, negative, positive, form.constant < 0):
            continue
        times = max(1, min((-c for a, c in form.terms if c < 0 and a in dict(fact.terms)), default=1))
        if any(_follows(form - fact * each, facts, depth - 1) for each in {1, times}):
            return True
    return False


def _helps(fact: Form, negative: Sequence[Atom], positive: Sequence[Atom], short: bool) -> bool:
    """Whether taking the fact away cancels something: a negative term of its, or else a positive one."""
    signs = dict(fact.terms)
    if negative:
        return any(signs.get(atom, 0) < 0 for atom in negative)
    return any(signs.get(atom, 0) > 0 for atom in positive) and (not short or fact.constant < 0 or len(signs) == 1)


def _without_divisions(form: Form, facts: Facts, depth: int) -> Form:
    """A form that is >= 0 only if this one is: `-(x//k)` is at least `-x/k`, and `x//k` at least `(x - k + 1)/k`."""
    for atom, coefficient in form.terms:
        match atom:
            case FloorDiv(dividend, divisor) if divisor.is_constant and divisor.constant > 0:
                by = divisor.constant
                least = dividend if coefficient < 0 else dividend - (by - 1)
                rest = form - Form(((atom, coefficient),), 0)
                if coefficient > 0 and depth and not rest.terms and rest.constant >= 0:
                    return form if not _follows(dividend, facts, depth - 1) else forms.constant(0)
                return _without_divisions(rest * by + least * coefficient, facts, depth)
    return form
