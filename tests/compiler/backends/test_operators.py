"""Every operator, function and conversion on every dtype, on the values where machines and languages differ."""

from __future__ import annotations

import numpy as np
import pytest
from tdl.language.arrays import numpy_dtype
from tdl.language.dtypes import DTYPES, DType

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 7.0, 1e-8, -1e-3, 100.0, -88.0, 88.7, -104.0, 1e4,
    65504.0, 65519.0, 65520.0, 7e4, 3e38, -3e38, 1e-40, 6e-8, 5.9e-8, 2.9e-8, np.inf, -np.inf, np.nan, 0.1, 1 / 3,
    -5.7, 12.25,
]  # fmt: skip
INTEGERS = [0, 1, 2, 3, 5, 7, 15, 31, 63, 64, 100, 127]
NAMES = list(DTYPES)
FLOAT_NAMES = [name for name in NAMES if DTYPES[name].is_float]
INTEGER_NAMES = [name for name in NAMES if DTYPES[name].is_integer]


def values(dtype: DType) -> np.ndarray:
    if dtype.is_float:
        with np.errstate(all="ignore"):
            return np.array(FLOATS).astype(numpy_dtype(dtype))
    if dtype.kind == "bool":
        return np.array([False, True])
    edges = [dtype.least, dtype.least + 1, dtype.greatest, dtype.greatest - 1, dtype.greatest // 2]
    return np.array([*INTEGERS, *edges, *([-1, -2, -7, -64] if dtype.least else [])], numpy_dtype(dtype))


def pairs(dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    every = values(dtype)
    return np.repeat(every, len(every)), np.tile(every, len(every))


def many(dtype: DType) -> np.ndarray:
    """Values dense enough to meet every case of rounding."""
    random = np.random.default_rng(0)
    target = numpy_dtype(dtype)
    if dtype.bits == 16 and dtype.kind != "bool":
        return np.arange(1 << 16).astype(np.uint16).view(target)
    if dtype.is_float:
        with np.errstate(all="ignore"):
            wide = random.standard_normal(4000) * 10.0 ** random.integers(-9, 9, 4000)
            return np.concatenate([values(dtype), wide.astype(target)])
    if dtype.bits >= 32:
        powers = np.concatenate([(2 ** np.arange(dtype.bits - 2)) * odd + 1 for odd in (1, 3)])
        return np.concatenate(
            [values(dtype), random.integers(dtype.least, dtype.greatest, 4000, target), powers.astype(target)]
        )
    return values(dtype)


def unary(dtype: str, result: str, text: str) -> str:
    return f"op f(x: {dtype}[N]) -> z: {result}[N] {{ z[i] = {text} }}"


def binary(dtype: str, result: str, text: str) -> str:
    return f"op f(x: {dtype}[N], y: {dtype}[N]) -> z: {result}[N] {{ z[i] = {text} }}"


@pytest.mark.parametrize("name", NAMES)
def test_comparisons(check_both, name):
    signs = ["==", "!="] if name == "bool" else ["==", "!=", "<", "<=", ">", ">="]
    for sign in signs:
        check_both(binary(name, "bool", f"x[i] {sign} y[i]"), *pairs(DTYPES[name]))


@pytest.mark.parametrize("name", FLOAT_NAMES + INTEGER_NAMES)
def test_arithmetic(check_both, name):
    left, right = pairs(DTYPES[name])
    for text in ("x[i] + y[i]", "x[i] - y[i]", "x[i] * y[i]", "max(x[i], y[i])", "min(x[i], y[i])"):
        check_both(binary(name, name, text), left, right, exact=True)
    for text in ("-x[i]", "abs(x[i])", "x[i]**3", "max(x[i], 1)", "min(3, x[i])"):
        check_both(unary(name, name, text), left, exact=True)


@pytest.mark.parametrize("name", FLOAT_NAMES + INTEGER_NAMES)
@pytest.mark.parametrize("sign", ["//", "%", "/"])
def test_division(check_both, name, sign):
    left, right = pairs(DTYPES[name])
    if DTYPES[name].is_integer:
        if sign == "/":
            return
        left, right = left[right != 0], right[right != 0]
    check_both(binary(name, name, f"x[i] {sign} y[i]"), left, right, exact=True)


@pytest.mark.parametrize("name", INTEGER_NAMES)
@pytest.mark.parametrize("divisor", [1, 2, 3, 7, -1, -2, -3])
def test_division_by_constants(check_both, name, divisor):
    if divisor > 0 or DTYPES[name].least:
        for sign in ("//", "%"):
            check_both(unary(name, name, f"x[i] {sign} {divisor}"), values(DTYPES[name]), exact=True)


@pytest.mark.parametrize("name", INTEGER_NAMES)
def test_bits_and_shifts(check_both, name):
    """Counts are taken modulo the width, negative ones too."""
    left, right = pairs(DTYPES[name])
    for function in ("bit_and", "bit_or", "bit_xor", "shl", "shr"):
        check_both(binary(name, name, f"{function}(x[i], y[i])"), left, right)
    check_both(unary(name, name, "bit_not(x[i])"), left)


@pytest.mark.parametrize("name", FLOAT_NAMES)
def test_functions(check_both, name):
    for function in ("sqrt", "floor", "ceil", "trunc", "round"):
        check_both(unary(name, name, f"{function}(x[i])"), values(DTYPES[name]), exact=True)
    for function in ("exp", "log", "tanh", "erf", "sigmoid", "rsqrt", "sin", "cos"):
        check_both(unary(name, name, f"{function}(x[i])"), values(DTYPES[name]))
    check_both(unary(name, "bool", "isnan(x[i])"), values(DTYPES[name]))
    check_both(binary(name, name, "x[i] ** y[i]"), *pairs(DTYPES[name]))


@pytest.mark.parametrize("source", NAMES)
def test_conversions(check_both, source):
    """Each rounds once, from wherever to wherever; floats saturate, integers wrap."""
    for target in NAMES:
        check_both(unary(source, target, f"{target}(x[i])"), many(DTYPES[source]), exact=True)


def test_functions_are_within_4_ulp(load_text):
    """Against the same functions in f64, over the range in which f32 has results."""
    functions = {
        "exp": np.exp, "log": np.log, "tanh": np.tanh, "sin": np.sin, "cos": np.cos,
        "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    }  # fmt: skip
    random = np.random.default_rng(1)
    x = (random.standard_normal(20000) * 20).astype(np.float32)
    for name, exact in functions.items():
        given = np.abs(x) + np.float32(1e-6) if name in ("log", "rsqrt") else x
        found = load_text(unary("f32", "f32", f"{name}(x[i])")).f(given)
        with np.errstate(all="ignore"):
            wanted = exact(given.astype(np.float64))
            ulp = np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
        assert (np.abs(found - wanted) <= 4 * ulp)[np.isfinite(found)].all(), name


def test_bool_operators(check_both):
    left, right = pairs(DTYPES["bool"])
    for text in ("x[i] and y[i]", "x[i] or y[i]", "not x[i] and y[i]", "x[i] if y[i] else not x[i]"):
        check_both(binary("bool", "bool", text), left, right)
