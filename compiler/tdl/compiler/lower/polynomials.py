"""Offsets as polynomials: products are spread over sums, so that what cancels is seen to cancel.

(t//S)*S + t - (t//S)*S         is          t
"""

from __future__ import annotations

from tdl.language import forms
from tdl.language.forms import Atom, Form, Product

_Monomial = tuple[Atom, ...]
_LIMIT = 64  # terms: larger ones are left as they are


def expanded(form: Form) -> Form:
    """The form with every product a product of atoms, in one order."""
    if not any(isinstance(atom, Product) for atom, _ in form.terms):
        return form
    sums = _polynomial(form)
    return form if sums is None else _form(sums)


def _polynomial(form: Form) -> dict[_Monomial, int] | None:
    sums: dict[_Monomial, int] = {(): form.constant}
    for atom, coefficient in form.terms:
        part = _of_atom(atom)
        if part is None:
            return None
        for monomial, count in part.items():
            sums[monomial] = sums.get(monomial, 0) + coefficient * count
    return sums if len(sums) <= _LIMIT else None


def _of_atom(atom: Atom) -> dict[_Monomial, int] | None:
    if not isinstance(atom, Product):
        return {(atom,): 1}
    left, right = _polynomial(atom.left), _polynomial(atom.right)
    if left is None or right is None or len(left) * len(right) > _LIMIT:
        return None
    sums: dict[_Monomial, int] = {}
    for one, count in left.items():
        for other, times in right.items():
            monomial = tuple(sorted((*one, *other), key=str))
            sums[monomial] = sums.get(monomial, 0) + count * times
    return sums


def _form(sums: dict[_Monomial, int]) -> Form:
    result = forms.constant(sums.get((), 0))
    for monomial, count in sums.items():
        if monomial and count:
            result = result + _product(monomial) * count
    return result


def _product(monomial: _Monomial) -> Form:
    *rest, last = (Form(((atom, 1),), 0) for atom in monomial)
    for factor in reversed(rest):
        last = Form(((Product(factor, last), 1),), 0)
    return last
