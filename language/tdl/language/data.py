"""What is known of a value that is no quasi-affine form: read from data, or a remainder by a size.

    i64(X[i])  where X is u8       is in 0..=255
    I[n] % 8                       is in 0..=7
    max(0, min(I[n], N - 1))       is in 0..=max(0, N - 1)
    (i + 1) % N                    is in 0..N, if N >= 1

So that a table of 256 entries looked up by a byte, and a clamped subscript, need no test when they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from tdl.language import forms
from tdl.language.conditions import AtLeast, Formula, every, some
from tdl.language.dtypes import DType
from tdl.language.forms import Extreme, FloorDiv, Form, Opaque, Product
from tdl.language.tree import Binary, Convert, Expr, Integer, Number, Select


def known_of_atoms(form: Form) -> Iterator[Formula]:
    """What holds of the atoms in a form that isl takes for variables."""
    for atom, _ in form.terms:
        match atom:
            case Opaque(expr):
                value = Form(((atom, 1),), 0)
                low, high = _limit(expr, "min"), _limit(expr, "max")
                if low is not None:
                    yield AtLeast(value - low)
                if high is not None:
                    yield AtLeast(high - value)
            case Product(left, right):
                yield from _known_of_product(atom, left, right)
                yield from _known_of_product(atom, right, left)
            case FloorDiv(left, right) | Extreme(_, left, right):
                yield from known_of_atoms(left)
                yield from known_of_atoms(right)


def _known_of_product(product: Product, quotient: Form, divisor: Form) -> Iterator[Formula]:
    """`x - (x//k)*k` is in 0..k where k >= 1."""
    match quotient.terms:
        case ((FloorDiv(dividend, by), 1),) if by == divisor and quotient.constant == 0:
            remainder = dividend - Form(((product, 1),), 0)
            inside = every((AtLeast(remainder), AtLeast(divisor - remainder - 1)))
            yield some((AtLeast(-divisor), inside))


def _limit(expr: Expr, end: Literal["min", "max"]) -> Form | None:
    """A form that an integer expression is never below (`min`) or above (`max`)."""
    match expr:
        case Integer(form):
            return form
        case Number(value):
            return forms.constant(int(value))
        case Binary("mod", _, divisor) if (_constant(divisor) or 0) > 0:
            return forms.constant(0 if end == "min" else (_constant(divisor) or 0) - 1)
        case Binary("bit_and", left, right):
            return _masked(left, right, end)
        case Binary("min" | "max" as operator, left, right):
            return _of_two(_limit(left, end), _limit(right, end), operator, any_will_do=operator != end)
        case Select(_, then, other):
            return _of_two(_limit(then, end), _limit(other, end), end, any_will_do=False)
        case Convert(operand, DType() as dtype) if _fits(operand, dtype):
            inner = _limit(operand, end)
            return _of_type(operand, end) if inner is None else inner
    return _of_type(expr, end)


def _of_type(expr: Expr, end: Literal["min", "max"]) -> Form | None:
    dtype = expr.dtype
    if not isinstance(dtype, DType) or not dtype.is_integer or dtype.bits >= 64:
        return None
    return forms.constant(dtype.least if end == "min" else dtype.greatest)


def _of_two(left: Form | None, right: Form | None, kind: Literal["min", "max"], any_will_do: bool) -> Form | None:
    """Of limits that both hold of their own side; with `any_will_do` either holds of the whole as well."""
    if left is None or right is None:
        return (left or right) if any_will_do else None
    return forms.extreme(kind, left, right)


def _masked(left: Expr, right: Expr, end: Literal["min", "max"]) -> Form | None:
    masks = [mask for mask in (_constant(left), _constant(right)) if mask is not None and mask >= 0]
    if not masks:
        return None
    return forms.constant(0 if end == "min" else min(masks))


def _constant(expr: Expr) -> int | None:
    match expr:
        case Number(int() as value):
            return value
        case Integer(form) if form.is_constant:
            return form.constant
    return None


def _fits(operand: Expr, dtype: DType) -> bool:
    """Whether the conversion keeps every value."""
    source = operand.dtype
    if not isinstance(source, DType) or not source.is_integer or not dtype.is_integer:
        return False
    return dtype.least <= source.least and source.greatest <= dtype.greatest
