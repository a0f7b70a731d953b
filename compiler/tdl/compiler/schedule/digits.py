"""The digits that loops make of a subscript: `j = 128*jp + 64*jr + ji` has, inside `jp`, the digits `jr` and `ji`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.regions import Region, Touching
from tdl.compiler.schedule.tree import Nest
from tdl.language import forms
from tdl.language.forms import Form


@dataclass(frozen=True, slots=True)
class Digit:
    """`(x // step) % count` of the offset `x` on an axis; `count` is None for the uppermost digit."""

    name: str
    axis: int
    step: int
    count: int | None
    label: str = ""

    def of(self, offset: Form) -> Form:
        """The digit's value."""
        value = offset
        if self.count is not None:
            value = forms.modulo(value, forms.constant(self.step * self.count))
        return forms.floor_div(value, forms.constant(self.step))


def digits_of(nest: Nest, accesses: Sequence[Touching], box: Region | None) -> list[Digit]:
    """The digits of all axes, the largest step of each axis first; an axis that no loop inside moves has none.

    All accesses must make the same digits.
    """
    found: list[list[Digit]] = []
    for access in accesses:
        made: list[Digit] = []
        for axis, form in enumerate(access.touch.element):
            made.extend(_axis_digits(access, axis, form))
        if made not in found:
            found.append(made)
    if len(found) > 1:
        message = "the accesses have different parts in their subscripts, so no layout by loops fits them all"
        raise Refusal("cache", message)
    return found[0]


def _axis_digits(access: Touching, axis: int, form: Form) -> list[Digit]:
    steps: list[tuple[int, str, str]] = []
    for loop in access.inside:
        if (loop.hi - loop.lo) == forms.constant(1):
            continue
        coefficient = dict(form.terms).get(loop.symbol, 0)
        if coefficient > 0:
            steps.append((coefficient, loop.name, loop.label))
        elif form.mentions(loop.symbol):
            raise Refusal("cache", f"the subscript {form} is no sum of digits in `{loop.name}`")
    steps.sort(reverse=True)
    digits: list[Digit] = []
    above: int | None = None
    for step, name, label in steps:
        if above == step:
            raise Refusal(
                "cache", f"the subscript {form} moves by {step} with several loops, which make no digits of it"
            )
        if above is not None and above % step:
            raise Refusal(
                "cache", f"the subscript {form} has steps {above} and {step}, of which neither divides the other"
            )
        digits.append(Digit(name, axis, step, None if above is None else above // step, label))
        above = step
    return digits
