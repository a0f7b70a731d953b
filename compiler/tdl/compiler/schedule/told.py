"""Which loops' values follow from the values of some forms.

    8*io + ii, with ii in 0..8          tells io and ii
    t//N and t % N                      tell t
    t//N alone, or w - p                tell nothing

A form is read as digits: parts of which each steps further than the smaller ones together reach.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from tdl.compiler.schedule.bounds import greatest_value
from tdl.compiler.schedule.extremes import counted, sides
from tdl.compiler.schedule.tiles import balanced_tile
from tdl.compiler.schedule.walk import Path, binders_of
from tdl.language import forms
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts
from tdl.language.proof import holds
from tdl.language.sets import Undecided
from tdl.language.tree import Binder

_FAR = 1 << 62

Inside = Mapping[Symbol, int]
"""Loops that are not told yet, and how far the values of each are apart at most."""


def told_loops(given: Sequence[Form], others: Collection[Symbol], path: Path, around: int, facts: Facts) -> set[Symbol]:
    """Of the loops of a path from the position `around` inwards, those whose values the forms tell.

    A loop of one iteration is told if it is in the forms, but for `others`, which may have none.
    """
    return set(_told(tuple(given), frozenset(others), binders_of(path), around, facts))


@lru_cache(maxsize=1024)
def _told(
    given: tuple[Form, ...], others: frozenset[Symbol], path: tuple[Binder, ...], around: int, facts: Facts
) -> frozenset[Symbol]:
    loops = path[around:]
    reach: dict[Symbol, int] = {}
    still: dict[Symbol, Form] = {}  # loops of one iteration, and its value
    for position, loop in enumerate(loops):
        lo, hi = (forms.substitute(end, still) for end in (loop.lo, loop.hi))
        reach[loop.index] = _reach(lo, hi, path[: around + position], facts)
        if reach[loop.index] <= 0:
            still[loop.index] = lo
    mentioned = {symbol for form in given for symbol in form.symbols()}
    told = {symbol for symbol, far in reach.items() if far <= 0 and symbol in mentioned and symbol not in others}
    binders = {binder.index: binder for binder in loops}
    known = list(given)
    while True:
        inside = {symbol: far for symbol, far in reach.items() if symbol not in told}
        known = [_moving(form, inside) for form in known]
        parts = [part for form in known for part in _read(form, inside, binders)]
        known += [part for part in dict.fromkeys(parts) if part not in known]
        joined = [each for form in known for each in _joined(form, known) if each not in known]
        known += joined
        more = {form.symbol for form in parts if form.symbol is not None} & set(inside)
        if not more and not joined:
            return frozenset(told)
        told |= more


def _reach(lo: Form, hi: Form, around: tuple[Binder, ...], facts: Facts) -> int:
    """How far the values of an index are apart at most."""
    most = greatest_value(hi - 1)
    if most is not None and not lo.is_constant:
        try:
            least = 0 if lo.is_affine and holds(lo, facts, Domain(around)) else None
        except Undecided:
            least = None
        span = greatest_value(hi - lo - 1)
        found = [each for each in (None if least is None else most, span) if each is not None]
        return min(found, default=_FAR)
    return _FAR if most is None else most - lo.constant


def _moving(form: Form, inside: Inside) -> Form:
    """The part of the form that loops move whose values are not told yet."""
    return Form(tuple(term for term in form.terms if _moves(Form((term,), 0), inside)), 0)


def _moves(form: Form, inside: Inside) -> bool:
    return any(symbol in inside for symbol in form.symbols())


def _read(form: Form, inside: Inside, binders: Mapping[Symbol, Binder]) -> list[Form]:
    """The parts of a form whose values it tells: all of them, or none."""
    digits: list[tuple[int, int, Form]] = []
    for part, step in _parts(form):
        far = _span(part, inside, binders)
        if step < 1:
            return []
        digits.append((step, far, part))
    reach = 0
    for step, far, _ in sorted(digits, key=lambda digit: digit[:2]):
        if step <= reach:
            return _read_balanced(form, inside, binders) or _read_by_size(form, inside, binders)
        reach += step * far
    return [part for _, _, part in digits]


def _parts(form: Form) -> Iterator[tuple[Form, int]]:
    """The summands of a form and how often they are taken; a remainder is one."""
    for atom, _ in form.terms:
        for division in _divisions(atom):
            remainder = forms.modulo(division.dividend, division.divisor)
            rest = form - remainder
            if len(rest.terms) < len(form.terms) and not set(rest.terms) - set(form.terms):
                yield remainder, 1
                yield from _parts(Form(rest.terms, 0))
                return
    for atom, step in form.terms:
        yield Form(((atom, 1),), 0), step


def _divisions(atom: forms.Atom) -> list[forms.FloorDiv]:
    match atom:
        case forms.FloorDiv():
            return [atom]
        case forms.Product(left, right):
            return [each for side in (left, right) for term, _ in side.terms for each in _divisions(term)]
    return []


def _span(part: Form, inside: Inside, binders: Mapping[Symbol, Binder]) -> int:
    """How far apart the values of a part are at most."""
    if part.symbol is not None:
        return inside.get(part.symbol, _FAR)
    moving = [symbol for symbol in dict.fromkeys(part.symbols()) if symbol in inside]
    count = counted(part, binders[moving[0]]) if len(moving) == 1 else None
    most = None if count is None else greatest_value(count - 1)
    return _FAR if most is None else max(most, 0)


def _read_balanced(form: Form, inside: Inside, binders: Mapping[Symbol, Binder]) -> list[Form]:
    """`q*o + min(o, r) + n` where `n` stays below `q + 1` for `o < r` and below `q` from there on."""
    for atom, q in form.terms:
        if not isinstance(atom, Symbol) or atom not in inside or len(form.terms) != 3:
            continue
        o, rest = forms.symbol(atom), Form(tuple(term for term in form.terms if term[0] != atom), 0)
        for extreme, _ in rest.terms:
            n = (rest - Form(((extreme, 1),), 0)).symbol
            if n is None or n not in inside or not isinstance(extreme, forms.Extreme):
                continue
            r = next((side for side in (extreme.left, extreme.right) if side.is_constant), forms.ZERO)
            is_start = extreme == forms.extreme("min", o, r).terms[0][0]
            if is_start and binders[n].hi == balanced_tile(q, r, o):
                return [o, forms.symbol(n)]
    return []


def _read_by_size(form: Form, inside: Inside, binders: Mapping[Symbol, Binder]) -> list[Form]:
    """`c*(n*x) + c*y + ...` where `y` stays below `n`, a size, and the rest below `c`: tiles whose number is fixed."""
    for atom, step in form.terms:
        if not isinstance(atom, forms.Product):
            continue
        rest = dict(_parts(form - Form(((atom, step),), 0)))
        low = next((part for part, count in rest.items() if count == step and part.symbol is not None), None)
        reach = sum(
            count * inside.get(part.symbol, _FAR) if part.symbol else _FAR
            for part, count in rest.items()
            if part != low
        )
        if low is None or low.symbol is None or reach >= step:
            continue
        for high, size in ((atom.left, atom.right), (atom.right, atom.left)):
            if high.symbol in inside and not _moves(size, inside) and size in sides(binders[low.symbol].hi)[1]:
                return [high, *rest]
    return []


def _joined(form: Form, known: Sequence[Form]) -> list[Form]:
    """`y`, where `y // n` is the form and `y % n` is known as well."""
    match form.terms:
        case ((forms.FloorDiv(dividend, divisor), 1),):
            rest = forms.modulo(dividend, divisor)
            return [dividend] if Form(rest.terms, 0) in known else []
    return []
