"""`min` and `max` in forms: spread over sums, flattened, and freed of sides that never decide.

64*jr + min(64, E - 64*jr)          is      min(64*jr + 64, E)
min(min(64*jr + 64, E), N)          is      min(64*jr + 64, E)      where E <= N is known
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from tdl.language import forms
from tdl.language.domains import Domain
from tdl.language.forms import Form
from tdl.language.inequalities import Facts, is_known
from tdl.language.proof import holds
from tdl.language.sets import Undecided
from tdl.language.tree import Binder

Kind = Literal["min", "max"]


def sides(form: Form) -> tuple[Kind, list[Form]]:
    """The forms of which this one is the least or the greatest; itself alone where it has no such part."""
    for atom, coefficient in form.terms:
        if not isinstance(atom, forms.Extreme):
            continue
        rest = form - Form(((atom, coefficient),), 0)
        kind: Kind = atom.kind if coefficient > 0 else ("max" if atom.kind == "min" else "min")
        found: list[Form] = []
        for side in (atom.left, atom.right):
            inner_kind, inner = sides(rest + side * coefficient)
            found += inner if inner_kind == kind or len(inner) == 1 else [rest + side * coefficient]
        return kind, found
    return "min", [form]


def extreme_of(kind: Kind, of: Sequence[Form], facts: Facts, binders: Sequence[Binder]) -> Form:
    """The least or greatest of several forms, without those that another is known never to exceed (or fall below)."""
    kept = _deciding(kind, of, facts, binders)
    if len(kept) > 1:
        flat: list[Form] = []
        for form in kept:
            inner_kind, inner = sides(form)
            flat += inner if inner_kind == kind or len(inner) == 1 else [form]
        kept = _deciding(kind, flat, facts, binders)
    return _joined(kind, kept)


def _joined(kind: Kind, of: Sequence[Form]) -> Form:
    result = of[0]
    for form in of[1:]:
        result = forms.extreme(kind, result, form)
    return result


def _deciding(kind: Kind, of: Sequence[Form], facts: Facts, binders: Sequence[Binder]) -> list[Form]:
    kept: list[Form] = []
    ranges = tuple(binders)
    for form in of:
        if any(_decides(kind, other, form, facts, ranges) for other in kept):
            continue
        kept = [other for other in kept if not _decides(kind, form, other, facts, ranges)]
        kept.append(form)
    return kept


def simplified(form: Form, facts: Facts, binders: Sequence[Binder]) -> Form:
    """The form with its outermost `min` or `max` spread, flattened and freed of needless sides.

    A number stays, where nothing else bounds it by one: tiles have a size. Loops count that the form speaks of; that
    others around may be empty says nothing, since a reduction begins outside of them.
    """
    kind, found = sides(form)
    if len(found) == 1:
        return form
    kept = _deciding(kind, found, facts, _spoken_of(form, binders))
    numbers = [side for side in found if side.is_constant]
    if numbers and not any(side.is_constant for side in kept):
        kept = [*kept, *numbers[:1]]
    return form if len(kept) == len(found) else _joined(kind, kept)


def _spoken_of(form: Form, binders: Sequence[Binder]) -> list[Binder]:
    """The indices in the form, and those in their ranges."""
    symbols = set(form.symbols())
    found: list[Binder] = []
    for binder in reversed(binders):
        if binder.index in symbols:
            symbols.update(binder.lo.symbols(), binder.hi.symbols())
            found.append(binder)
    return found[::-1]


def counted(form: Form, binder: Binder) -> Form | None:
    """`n` where the form is seen to take the values 0..n, in order or around, as the index runs over its range.

    x            over 0..A*B   gives A*B
    x//B         over 0..A*B   gives A
    x % B        over 0..A*B   gives B
    """
    if form == forms.symbol(binder.index):
        return binder.hi if binder.lo == forms.ZERO else None
    match form.terms:
        case ((forms.FloorDiv(dividend, divisor), 1),) if form.constant == 0:
            whole = counted(dividend, binder)
            return None if whole is None else quotient(whole, divisor)
    for atom, _ in form.terms:
        for division in _divisions_in(atom):
            if form == forms.modulo(division.dividend, division.divisor):
                whole = counted(division.dividend, binder)
                return None if whole is None or quotient(whole, division.divisor) is None else division.divisor
    return None


def _divisions_in(atom: forms.Atom) -> list[forms.FloorDiv]:
    """The division that an atom is, or is a multiple of."""
    match atom:
        case forms.FloorDiv():
            return [atom]
        case forms.Product(left, right):
            return [each for side in (left, right) for term, _ in side.terms for each in _divisions_in(term)]
    return []


def quotient(form: Form, divisor: Form) -> Form | None:
    """`q` where the form is written as a product `q * divisor`."""
    if form == divisor:
        return forms.constant(1)
    if divisor.is_constant:
        by = divisor.constant
        return (
            forms.floor_div(form, divisor)
            if by and all(c % by == 0 for _, c in form.terms) and form.constant % by == 0
            else None
        )
    left = _factors(form)
    for each in _factors(divisor):
        if each not in left:
            return None
        left.remove(each)
    result = forms.constant(1)
    for each in left:
        result = forms.product(result, each)
    return result


def _factors(form: Form) -> list[Form]:
    match form.terms:
        case ((forms.Product(left, right), coefficient),) if form.constant == 0:
            return [forms.constant(coefficient), *_factors(left), *_factors(right)]
        case ((atom, coefficient),) if form.constant == 0 and coefficient != 1:
            return [forms.constant(coefficient), Form(((atom, 1),), 0)]
    return [form]


def eliminated(form: Form, binder: Binder, end: Literal["least", "greatest"], facts: Facts) -> Form | None:
    """A form without the binder's index that is nowhere above (`greatest`: below) this one over its range.

    It is attained where the form is monotone in the index. None where it is not seen to be.
    """
    moved = Form(tuple(term for term in form.terms if Form((term,), 0).mentions(binder.index)), 0)
    rest = form - moved
    count = counted(moved, binder)
    if count is not None:
        return rest if end == "least" else rest + count - 1
    kind, found = sides(moved)
    ends = [
        _replaced(each, binder, end, facts) if len(found) == 1 else eliminated(each, binder, end, facts)
        for each in found
    ]
    known = [each for each in ends if each is not None]
    return None if len(known) < len(found) else rest + extreme_of(kind, known, facts, ())


def _replaced(form: Form, binder: Binder, end: Literal["least", "greatest"], facts: Facts) -> Form | None:
    result = forms.constant(form.constant)
    for atom, coefficient in form.terms:
        here = end if coefficient > 0 else ("greatest" if end == "least" else "least")
        replaced = _atom(atom, binder, here, facts)
        if replaced is None:
            return None
        result = result + replaced * coefficient
    return result


def _atom(atom: forms.Atom, binder: Binder, end: Literal["least", "greatest"], facts: Facts) -> Form | None:
    whole = Form(((atom, 1),), 0)
    if not whole.mentions(binder.index):
        return whole
    match atom:
        case forms.Symbol():
            return binder.lo if end == "least" else binder.hi - 1
        case forms.FloorDiv(dividend, divisor) if divisor.is_constant and divisor.constant > 0:
            inside = eliminated(dividend, binder, end, facts)
            return None if inside is None else forms.floor_div(inside, divisor)
    return None


@lru_cache(maxsize=8192)
def _decides(kind: Kind, left: Form, right: Form, facts: Facts, binders: tuple[Binder, ...]) -> bool:
    """Whether `left` is always the one that counts."""
    goal = right - left if kind == "min" else left - right
    if is_known(goal, facts, binders):
        return True
    try:
        return bool(binders) and goal.is_affine and holds(goal, facts, Domain(binders))
    except Undecided:
        return False
