"""Emptiness and least points against trying the values one by one."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tdl.language import forms, sets
from tdl.language.conditions import (
    FALSE,
    TRUE,
    AtLeast,
    Equal,
    Every,
    Formula,
    Some,
    at_least,
    equal,
    every,
    less,
    negation,
    some,
    substituted,
)
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import extent, facts_of, is_known
from tdl.language.proof import connected, holds
from tdl.language.sets import Undecided, is_empty, least_point
from tdl.language.tree import Binder

A, B, C = (Symbol(name, "index") for name in "abc")
N = Symbol("N", "dim")
a, b, c, n = map(forms.symbol, (A, B, C, N))
BOX = [formula for each in (a, b) for formula in (at_least(each, -3), at_least(forms.constant(4), each))]
POINTS = [{A: x, B: y} for x, y in product(range(-3, 5), repeat=2)]


def is_true(formula: Formula, values: Mapping[Symbol, int]) -> bool:
    match formula:
        case AtLeast(form):
            return forms.evaluate(form, values) >= 0
        case Equal(form):
            return forms.evaluate(form, values) == 0
        case Every(parts):
            return all(is_true(part, values) for part in parts)
        case Some(parts):
            return any(is_true(part, values) for part in parts)


def _combined(left: Form, right: Form, how: int) -> Form:
    match how:
        case 0:
            return left + right * 2
        case 1:
            return left - right
        case 2:
            return forms.floor_div(left, forms.constant(3)) + right
        case 3:
            return forms.modulo(left * 2 + 1, forms.constant(5)) - right
        case 4:
            return forms.extreme("max", left, right)
        case 5:
            return forms.extreme("min", left, right + 1)
    return forms.floor_div(forms.extreme("max", left, right), forms.constant(2)) * -1


LEAVES = st.one_of(st.sampled_from([a, b]), st.integers(-4, 4).map(forms.constant))
FORMS = st.recursive(LEAVES, lambda inner: st.builds(_combined, inner, inner, st.integers(0, 6)), max_leaves=4)
ATOMS = st.one_of(FORMS.map(AtLeast), FORMS.map(Equal))
FORMULAS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(st.lists(inner, max_size=3).map(every), st.lists(inner, max_size=3).map(some)),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(FORMULAS)
def test_emptiness_equals_enumeration(formula: Formula) -> None:
    assert is_empty((*BOX, formula)) == (not any(is_true(formula, point) for point in POINTS))


@settings(max_examples=200, deadline=None)
@given(FORMULAS)
def test_the_least_point_equals_enumeration(formula: Formula) -> None:
    expected = next((point for point in POINTS if is_true(formula, point)), None)
    assert least_point((*BOX, formula), [A, B]) == expected


@settings(max_examples=300, deadline=None)
@given(FORMULAS)
def test_the_negation_holds_exactly_elsewhere(formula: Formula) -> None:
    opposite = negation(formula)
    assert all(is_true(formula, point) != is_true(opposite, point) for point in POINTS)


@settings(max_examples=200, deadline=None)
@given(FORMULAS, FORMS)
def test_substitution_is_evaluation(formula: Formula, form: Form) -> None:
    replaced = substituted(formula, {A: form})
    for point in POINTS:
        assert is_true(replaced, point) == is_true(formula, {**point, A: forms.evaluate(form, point)})


@settings(max_examples=400, deadline=None)
@given(FORMS, st.integers(-2, 3), st.integers(-2, 3), st.integers(0, 4))
def test_what_is_known_holds(form: Form, lo: int, low: int, extra: int) -> None:
    facts = facts_of([at_least(n, extra)])
    binders = (Binder(A, forms.constant(lo), n), Binder(B, a + low, n + 1))
    domain = Domain(binders)
    true = all(
        forms.evaluate(form, {A: x, B: y, N: size}) >= 0
        for size in range(extra, 7)
        for x in range(lo, size)
        for y in range(x + low, size + 1)
    )
    if is_known(form, facts, binders):
        assert true
    if holds(form, facts, domain):
        assert true


@settings(max_examples=300, deadline=None)
@given(FORMS, st.integers(1, 5), st.integers(1, 5))
def test_an_extent_bounds_the_form(form: Form, first: int, second: int) -> None:
    binders = (Binder(A, forms.constant(-1), forms.constant(first)), Binder(B, a, a + second))
    low, high = extent(form, binders, "least"), extent(form, binders, "greatest")
    for x in range(-1, first):
        for y in range(x, x + second):
            value = forms.evaluate(form, {A: x, B: y})
            assert low is None or forms.evaluate(low, {}) <= value
            assert high is None or forms.evaluate(high, {}) >= value


def test_constants_fold() -> None:
    assert at_least(forms.constant(3), 2) == TRUE
    assert less(forms.constant(3), forms.constant(3)) == FALSE
    assert equal(a, a) == TRUE
    assert every([TRUE, TRUE]) == TRUE
    assert every([TRUE, FALSE]) == FALSE
    assert some([FALSE, FALSE]) == FALSE
    assert some([TRUE, FALSE]) == TRUE
    assert is_empty([FALSE])
    assert not is_empty([])


def test_a_data_value_is_a_variable() -> None:
    value = forms.product(a, b)
    assert is_empty([at_least(value, 3), less(value, forms.constant(3))])
    assert not is_empty([at_least(value, 3), equal(a, forms.ZERO)])


def test_what_has_no_least_is_looked_for_from_zero() -> None:
    assert least_point([less(a, b)], [A, B]) == {A: 0, B: 1}
    found = least_point([less(a, forms.ZERO)], [A])
    assert found is not None
    assert found[A] < 0


def test_only_what_is_connected_is_asked() -> None:
    formulas = [at_least(a, b), at_least(b, 1), at_least(c, 2)]
    assert connected(formulas, [A]) == formulas[:2]
    assert connected(formulas, [C]) == formulas[2:]


def test_contradictory_facts_prove_everything() -> None:
    assert holds(b - 1000, facts_of([at_least(n, 2), less(n, forms.constant(1))]), Domain())


def test_a_question_beyond_its_budget_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "_CASES", 1)
    even = equal(forms.modulo(a, forms.constant(2)), forms.ZERO)
    with pytest.raises(Undecided):
        is_empty([some([even, equal(a, b)]), at_least(a, 1)])
