"""Whether the accesses under a loop touch all of their box: no holes.

    C[6*ir + ii, j]    with ii in 0..min(6, M - 6*ir)       fills rows 6*ir..min(6*ir + 6, M)
    C[2*i, j]                                               leaves every second row out
    C[w - p, p]                                             fills a slanted region, not its box

A subscript fills its range if it is a sum of digits, each of which goes on where the last of the smaller ones ends; the
axes fill the box together if no loop moves two of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tdl.compiler.schedule.regions import Touching
from tdl.compiler.schedule.tree import Loop
from tdl.compiler.schedule.walk import Path, binders_of
from tdl.language import forms
from tdl.language.conditions import at_least
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts
from tdl.language.proof import holds
from tdl.language.sets import Undecided


def fills_box(access: Touching, outer: Path, facts: Facts) -> bool:
    """Whether what the access touches, over the loops inside, is the whole box from its least to its greatest."""
    used: set[Symbol] = set()
    for form in access.touch.element:
        moving = _moving(form, access.inside)
        symbols = {loop.symbol for loop in moving}
        if not used.isdisjoint(symbols) or not _has_no_gaps(form, moving, outer, facts):
            return False
        used |= symbols
    return True


def _moving(form: Form, inside: Path) -> list[Loop]:
    """The loops that move the subscript, and those that their ranges depend on."""
    found: set[Symbol] = set(form.symbols())
    for loop in reversed(inside):
        if loop.symbol in found:
            found.update((*loop.lo.symbols(), *loop.hi.symbols()))
    return [loop for loop in inside if loop.symbol in found]


def _has_no_gaps(form: Form, moving: Sequence[Loop], outer: Path, facts: Facts) -> bool:
    steps = dict(form.terms)
    if any(steps.get(loop.symbol, 0) <= 0 for loop in moving):
        return not moving
    if any(loop.symbol in atom_symbols for loop in moving for atom_symbols in _other_atoms(form)):
        return False
    digits = sorted(moving, key=lambda loop: steps[loop.symbol])
    lo, hi = forms.ZERO, forms.constant(1)  # what the smaller digits span, counted from their sum's origin
    for position, digit in enumerate(digits):
        step = steps[digit.symbol]
        here = forms.symbol(digit.symbol)
        after = {digit.symbol: here + 1}
        around = (*outer, *(each for each in moving if each in digits[position:]))
        condition = at_least(digit.hi - 2, here)
        if not _holds(hi - step - forms.substitute(lo, after), around, condition, facts):
            return False
        first, last = {digit.symbol: digit.lo}, {digit.symbol: digit.hi - 1}
        lo = digit.lo * step + forms.substitute(lo, first)
        hi = (digit.hi - 1) * step + forms.substitute(hi, last)
    return True


def _other_atoms(form: Form) -> list[set[Symbol]]:
    """The symbols of each part of the form that is no plain multiple of one."""
    return [set(Form(((atom, 1),), 0).symbols()) for atom, _ in form.terms if not isinstance(atom, Symbol)]


def _holds(goal: Form, around: Path, condition: object, facts: Facts) -> bool:
    try:
        return goal.is_affine and holds(goal, facts, Domain(binders_of(around), (condition,)))  # type: ignore[arg-type]
    except Undecided:
        return False
