"""Forms print as people write them, and as Python reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tdl.language import forms
from tdl.language.forms import Form, Symbol

P, Q, B = Symbol("p", "index"), Symbol("q", "index"), Symbol("B", "dim")
p, q, b = map(forms.symbol, (P, Q, B))


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (forms.modulo(p, forms.constant(8)), "p % 8"),
        (-forms.modulo(p, forms.constant(8)), "-(p % 8)"),
        (forms.modulo(p, forms.constant(8)) * 3 + 1, "3*(p % 8) + 1"),
        (forms.modulo(p + 1, b), "(p + 1) % B"),
        (b - forms.modulo(p, b), "B - (p % B)"),
        (forms.product(b, forms.floor_div(p, b)), "B*(p//B)"),
        (p - q * 2 - 1, "p - 2*q - 1"),
        (forms.floor_div(p - q, forms.constant(2)), "(p - q)//2"),
        (forms.constant(-3), "-3"),
    ],
)
def test_printed(form: Form, text: str) -> None:
    assert str(form) == text


def _combined(left: Form, right: Form, how: int) -> Form:
    match how:
        case 0:
            return left - right * 2
        case 1:
            return forms.floor_div(left, right)
        case 2:
            return forms.modulo(left, right)
        case 3:
            return forms.product(left, right)
        case 4:
            return forms.modulo(left, forms.constant(4)) * -3 + right
    return forms.extreme("min", left, right)


FORMS = st.recursive(
    st.one_of(st.sampled_from([p, q, b]), st.integers(-3, 3).map(forms.constant)),
    lambda inner: st.builds(_combined, inner, inner, st.integers(0, 5)),
    max_leaves=5,
)


@given(FORMS, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 5))
def test_python_reads_the_same_value(form: Form, at: int, other: int, size: int) -> None:
    values = {P: at, Q: other, B: size}
    try:
        expected = forms.evaluate(form, values)
    except ZeroDivisionError:
        return
    assert eval(str(form), {"p": at, "q": other, "B": size, "min": min, "max": max}) == expected


def test_a_remainder_by_zero_raises_where_a_size_is_put_in() -> None:
    remainder = forms.modulo(p, b)
    with pytest.raises(ZeroDivisionError):
        forms.evaluate(remainder, {P: 3, B: 0})
    with pytest.raises(ZeroDivisionError):
        forms.evaluate(forms.substitute(remainder, {B: forms.ZERO}), {P: 3})
