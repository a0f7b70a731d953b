"""Numbers that forms are seen not to exceed."""

from __future__ import annotations

from tdl.compiler.schedule.tree import Loop
from tdl.language import forms
from tdl.language.forms import Form


def greatest_extent(loop: Loop) -> int | None:
    """A number that the loop's iterations never exceed, if its range shows one."""
    most = greatest_value(loop.hi - loop.lo)
    return None if most is None else max(most, 0)


def greatest_value(form: Form) -> int | None:
    """The least constant that a form is seen not to exceed: a side of a `min`, for example."""
    total = form.constant
    for atom, coefficient in form.terms:
        most = _greatest(atom, coefficient)
        if most is None:
            return None
        total += most
    return total


def _greatest(atom: forms.Atom, coefficient: int) -> int | None:
    """The greatest value of a multiple of an atom."""
    match atom:
        case forms.Extreme(kind, left, right):
            sides = [greatest_value(left * coefficient), greatest_value(right * coefficient)]
            known = [side for side in sides if side is not None]
            if (kind == "min") == (coefficient > 0):
                return min(known) if known else None
            return max(known) if len(known) == 2 else None
        case forms.FloorDiv(dividend, divisor) if divisor.is_constant and coefficient > 0:
            most = greatest_value(dividend)
            return None if most is None else coefficient * (most // divisor.constant)
    return None
