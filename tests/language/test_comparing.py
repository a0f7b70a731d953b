"""When two results count as equal."""

from dataclasses import replace

import numpy as np
import pytest
from tdl.language import forms
from tdl.language.arrays import numpy_dtype
from tdl.language.comparing import EXACT, Tolerance, first_difference, magnitude_of, tolerances
from tdl.language.dtypes import BF16, F32, F64, I32
from tdl.language.forms import Symbol
from tdl.language.tree import Access, Binary, Binder, Definition, Program, Reduce, Reducer, Run, Sweep, Target, Tensor

N, I, K = Symbol("N", "dim"), Symbol("i", "index"), Symbol("k", "index")
LOOSE = Tolerance(1e-3, 1e-6)


def test_integers_and_bools_are_compared_exactly():
    wanted = np.array([[1, 2], [3, 4]], np.int32)
    found = np.array([[1, 2], [0, 5]], np.int32)
    assert first_difference("Y", wanted.copy(), wanted, LOOSE) is None
    difference = first_difference("Y", found, wanted, LOOSE)
    assert (difference.index, difference.found, difference.wanted, difference.count) == ((1, 0), 0, 3, 2)
    assert str(difference) == "Y[1, 0] is 0, not 3 (2 of 4 elements differ)"
    assert first_difference("s", np.array(True), np.array(False)).index == ()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_nan_equals_nan_and_infinities_themselves(dtype):
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], dtype)
    assert first_difference("Y", special.copy(), special, EXACT) is None
    for wrong in ([np.inf, np.inf, -np.inf, 0, 0], [np.nan, 1, -np.inf, 0, 0], [np.nan, np.inf, np.nan, 0, 0]):
        assert first_difference("Y", np.array(wrong, dtype), special, LOOSE) is not None


def test_floats_may_be_apart_by_the_tolerance():
    wanted = np.array([1.0, 100.0], np.float64)
    assert first_difference("Y", wanted + np.array([0.05, 0.15]), wanted, LOOSE) is None
    difference = first_difference("Y", wanted + np.array([0.05, 0.25]), wanted, LOOSE)
    assert difference.index == (1,)
    assert difference.tolerance == pytest.approx(1.001e-3 * (100 + np.sqrt(5000.5)) + 1e-6)
    assert "within 0.171" in str(difference)


def test_terms_that_cancel_are_as_inexact_as_the_terms():
    wanted, found = np.zeros(3, np.float32), np.full(3, 1e-6, np.float32)
    assert first_difference("Y", found, wanted, Tolerance(0, 2e-6)) is None
    assert first_difference("Y", found, wanted, Tolerance(0, 2e-6), magnitude=0.01) is not None
    assert magnitude_of({"X": np.array([3, 4], np.float32), "I": np.array([99])}) == pytest.approx(np.sqrt(12.5))
    assert magnitude_of({"I": np.array([99])}) == 1


def test_huge_and_infinite_values_do_not_make_everything_equal():
    wanted = np.array([1e300, np.inf, 1.0])
    assert first_difference("Y", np.array([2e300, np.inf, 1.0]), wanted, LOOSE).index == (0,)


def test_other_shapes_and_types_are_refused():
    with pytest.raises(ValueError, match=r"^Y is float32\[2\], not float32\[3\]$"):
        first_difference("Y", np.zeros(2, np.float32), np.zeros(3, np.float32))


def summing(dtype, swept=False):
    """`Y[i] = sum(X[k] + X[k] for k)`, once or for one element after another."""
    element = Access("X", (forms.symbol(K),), dtype)
    wide = F32 if dtype == BF16 else dtype
    terms = Binary("add", element, element, dtype)
    value = Reduce(Reducer("sum", (wide,)), (Binder(K, forms.ZERO, forms.symbol(N)),), None, (terms,))
    define = Definition(0, (Target("Y", (forms.symbol(I),)),), (Binder(I, forms.ZERO, forms.symbol(N)),), None, value)
    tensors = {name: Tensor(name, role, dtype, (forms.symbol(N),)) for name, role in (("X", "input"), ("Y", "output"))}
    steps = (Sweep({0: 0}, True, forms.ZERO, forms.symbol(N), (Run(0),)),) if swept else (Run(0),)
    return Program("op", {}, (N,), {}, tensors, ("X",), ("Y",), (), (define,), steps)


def test_the_tolerance_grows_with_the_terms_and_the_type():
    few, many = (tolerances(summing(F32), {N: size})["Y"].accumulation for size in (4, 4096))
    assert few < many < 1e-3
    assert tolerances(summing(F32, swept=True), {N: 4})["Y"].accumulation > few
    assert tolerances(summing(F64), {N: 4})["Y"].accumulation < 1e-13
    assert tolerances(summing(BF16), {N: 4})["Y"].rounding > 1e-2
    assert tolerances(summing(BF16), {N: 4})["Y"].accumulation == few
    assert tolerances(summing(I32), {N: 4})["Y"] == EXACT


def test_a_range_from_data_counts_as_the_longest_axis():
    program = summing(F32)
    (definition,) = program.definitions
    end = forms.opaque(Access("X", (forms.symbol(I),), F32))
    value = replace(definition.value, binders=(Binder(K, forms.ZERO, end),))
    unknown = replace(program, definitions=(replace(definition, value=value),))
    assert tolerances(unknown, {N: 100}) == tolerances(program, {N: 100})


@pytest.mark.parametrize(("dtype", "accumulator"), [(F32, "float32"), (F64, "float64"), (BF16, "float32")], ids=str)
def test_reassociated_sums_are_within_the_tolerance(dtype, accumulator):
    tolerance = tolerances(summing(dtype), {N: 3000})["Y"]
    values = np.random.default_rng(0).standard_normal((50, 3000)).astype(accumulator)
    forward, backward = (np.cumsum(each, 1)[:, -1].astype(numpy_dtype(dtype)) for each in (values, values[:, ::-1]))
    assert first_difference("Y", forward, backward, tolerance) is None
    wrong = (forward.astype(accumulator) * 1.5).astype(numpy_dtype(dtype))
    assert first_difference("Y", wrong, backward, tolerance) is not None
