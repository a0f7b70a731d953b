"""What operations on numbers mean: `docs/language.md`, Arithmetic and Conversions."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from tdl.language.arrays import numpy_dtype
from tdl.language.dtypes import DTYPES
from tdl.language.failure import DivisionByZero

INTEGERS = [dtype for dtype in DTYPES.values() if dtype.is_integer]
FLOATS = ["f16", "bf16", "f32", "f64"]
DIGITS = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149), "f64": (53, -1074)}  # precision, least exponent
INF, NAN = math.inf, math.nan


def binary(expression, dtype, result=None):
    return f"op f(a: {dtype}[N], b: {dtype}[N]) -> Y: {result or dtype}[N] {{ Y[i] = {expression} }}"


def unary(expression, dtype, result=None):
    return f"op f(a: {dtype}[N]) -> Y: {result or dtype}[N] {{ Y[i] = {expression} }}"


def wrap(value, dtype):
    return (value - dtype.least) % (1 << dtype.bits) + dtype.least


def interesting(dtype):
    """Every number of 8 bits, and those around the edges of the others."""
    if dtype.bits == 8:
        return range(dtype.least, dtype.greatest + 1)
    steps = (0, 1, 2, 3, 7, dtype.bits - 1, dtype.bits, 1 << dtype.bits // 2)
    around = {base + sign * step for base in (dtype.least, 0, dtype.greatest) for step in steps for sign in (1, -1)}
    return sorted(value for value in around if dtype.least <= value <= dtype.greatest)


def pairs(dtype):
    values = interesting(dtype)
    left, right = zip(*((x, y) for x in values for y in values))
    return np.array(left, numpy_dtype(dtype)), np.array(right, numpy_dtype(dtype))


def same(results, wanted):
    np.testing.assert_array_equal(results["Y"].astype(float), wanted)


def listed(array):
    return array.astype(object).tolist()


# ---- integers

INTEGER_OPERATORS = {
    "a[i] + b[i]": lambda x, y, _: x + y,
    "a[i] - b[i]": lambda x, y, _: x - y,
    "a[i] * b[i]": lambda x, y, _: x * y,
    "a[i] // b[i]": lambda x, y, _: x // y,
    "a[i] % b[i]": lambda x, y, _: x % y,
    "max(a[i], b[i])": lambda x, y, _: max(x, y),
    "min(a[i], b[i])": lambda x, y, _: min(x, y),
    "bit_and(a[i], b[i])": lambda x, y, _: x & y,
    "bit_or(a[i], b[i])": lambda x, y, _: x | y,
    "bit_xor(a[i], b[i])": lambda x, y, _: x ^ y,
    "shl(a[i], b[i])": lambda x, y, bits: x << y % bits,
    "shr(a[i], b[i])": lambda x, y, bits: x >> y % bits,
}


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("expression", INTEGER_OPERATORS)
def test_integers_wrap_floor_and_shift_modulo_the_width(run, expression, dtype):
    a, b = pairs(dtype)
    if "//" in expression or "%" in expression:
        a, b = a[b != 0], b[b != 0]
    Y = run(binary(expression, dtype), a=a, b=b)["Y"]
    assert Y.dtype == numpy_dtype(dtype)
    meaning = INTEGER_OPERATORS[expression]
    assert listed(Y) == [wrap(meaning(x, y, dtype.bits), dtype) for x, y in zip(listed(a), listed(b))]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize(
    ("expression", "meaning"),
    [("-a[i]", lambda x: -x), ("abs(a[i])", abs), ("bit_not(a[i])", lambda x: ~x), ("a[i]**3", lambda x: x**3)],
)
def test_integer_functions_wrap(run, expression, meaning, dtype):
    if expression == "-a[i]" and dtype.kind == "unsigned":
        expression = "0 - a[i]"
    a = np.array(interesting(dtype), numpy_dtype(dtype))
    assert listed(run(unary(expression, dtype), a=a)["Y"]) == [wrap(meaning(x), dtype) for x in listed(a)]


@pytest.mark.parametrize("operator", ["//", "%"])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_division_by_zero_raises(run, operator, dtype):
    with pytest.raises(DivisionByZero, match=r"^integer division by zero, at i = 2$"):
        run(binary(f"a[i] {operator} b[i]", dtype), a=[1, 2, 3, 4], b=[1, 2, 0, 0])


def test_index_arithmetic_raises_on_division_by_zero_too(run):
    text = "op f(d: i64) -> Y: i64[4] { Y[i] = i // d }"
    assert run(text, d=3)["Y"].tolist() == [0, 0, 0, 1]
    with pytest.raises(DivisionByZero, match="integer division by zero"):
        run(text, d=0)


def test_an_index_is_an_i64_that_wraps(run):
    text = "op f(d: i64) -> Y: i64[3] { Y[i] = i * d + i }"
    assert run(text, d=2**62)["Y"].tolist() == [0, 2**62 + 1, -(2**63) + 2]


@pytest.mark.parametrize("dtype", [each for each in DTYPES.values() if each.name != "bool"], ids=str)
def test_comparisons(run, dtype):
    values = [0, 1, 5] if dtype.kind == "unsigned" else [-3, 0, 5]
    a, b = zip(*((x, y) for x in values for y in values))
    for operator, meaning in (("<", "__lt__"), ("<=", "__le__"), ("==", "__eq__"), ("!=", "__ne__"), (">", "__gt__")):
        Y = run(binary(f"a[i] {operator} b[i]", dtype, "bool"), a=a, b=b)["Y"]
        assert Y.tolist() == [getattr(x, meaning)(y) for x, y in zip(a, b)]
    assert run(binary("a[i] >= b[i]", dtype, "bool"), a=a, b=b)["Y"].tolist() == [x >= y for x, y in zip(a, b)]
    chained = run(binary("a[i] < b[i] <= 5", dtype, "bool"), a=a, b=b)["Y"]
    assert chained.tolist() == [x < y <= 5 for x, y in zip(a, b)]


def test_logic(run):
    a, b = [False, False, True, True], [False, True, False, True]
    assert run(binary("a[i] and not b[i]", "bool"), a=a, b=b)["Y"].tolist() == [False, False, True, False]
    assert run(binary("a[i] or b[i]", "bool"), a=a, b=b)["Y"].tolist() == [False, True, True, True]
    assert run(binary("a[i] != b[i]", "bool"), a=a, b=b)["Y"].tolist() == [False, True, True, False]


# ---- floats


def rounded(value, dtype):
    """An exact value rounded once, to nearest and even."""
    precision, least = DIGITS[dtype]
    if value == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(value))) - precision + 1
    while abs(value) >= Fraction(2) ** (exponent + precision):
        exponent += 1
    while abs(value) < Fraction(2) ** (exponent + precision - 1):
        exponent -= 1
    exponent = max(exponent, least)
    digits = round(value / Fraction(2) ** exponent)
    result = digits * Fraction(2) ** exponent
    greatest = Fraction(float(np.finfo(np.float64).max if dtype == "f64" else ml_dtypes.finfo(named(dtype)).max))
    return float(result) if abs(result) <= greatest else math.copysign(INF, value)


def named(dtype):
    return numpy_dtype(DTYPES[dtype])


def floats(dtype, count, seed):
    """Random numbers of all sizes, subnormal ones and close neighbours included."""
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 1 << 16, count).astype(np.uint16)
    if dtype in ("f16", "bf16"):
        values = bits.view(named(dtype))
    else:
        values = (generator.standard_normal(count) * 2.0 ** generator.integers(-140, 100, count)).astype(named(dtype))
    return finite(values)


def finite(values):
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(values.astype(float)), values, values.dtype.type(1))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("operator", "meaning"),
    [("+", Fraction.__add__), ("-", Fraction.__sub__), ("*", Fraction.__mul__), ("/", Fraction.__truediv__)],
)
def test_each_float_operation_rounds_once(run, operator, meaning, dtype):
    a, b = floats(dtype, 4000, 1), floats(dtype, 4000, 2)
    with np.errstate(over="ignore"):
        close = finite(a[:1000] * b.dtype.type(1.0078125))  # in a difference with `a` most digits cancel
    a, b = np.concatenate((a, a[:1000])), np.concatenate((b, close))
    b = np.where(b == 0, b.dtype.type(1), b)
    Y = run(binary(f"a[i] {operator} b[i]", dtype), a=a, b=b)["Y"]
    wanted = [rounded(meaning(Fraction(float(x)), Fraction(float(y))), dtype) for x, y in zip(a, b)]
    assert Y.astype(float).tolist() == wanted


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_the_square_root_of_a_half_is_rounded_once(run, dtype):
    a = np.arange(0, 1 << 15, 5, dtype=np.uint16).view(named(dtype))  # those that are not negative
    a = finite(a)
    wanted = [rounded(Fraction(math.isqrt(int(Fraction(float(x)) * 4**200)), 2**200), dtype) for x in a]
    assert run(unary("sqrt(a[i])", dtype), a=a)["Y"].astype(float).tolist() == wanted


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_division_by_zero_is_ieee(run, dtype):
    a, b = [1, -1, 0, INF, NAN], [0, 0, 0, 0, 0]
    same(run(binary("a[i] / b[i]", dtype), a=a, b=b), [INF, -INF, NAN, INF, NAN])


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_floor_division_and_modulo_are_pythons(run, dtype):
    a, b = zip(*((x, y) for x in (7.5, -7.5, 1, 0, 6) for y in (2, -2, 0.75, 3)))
    quotients = run(binary("a[i] // b[i]", dtype), a=a, b=b)["Y"].astype(float)
    remainders = run(binary("a[i] % b[i]", dtype), a=a, b=b)["Y"].astype(float)
    assert quotients.tolist() == [x // y for x, y in zip(a, b)]
    assert remainders.tolist() == [x % y for x, y in zip(a, b)]
    special = {"a": [1, -1, 0, 5, -5], "b": [0, 0, 0, INF, INF]}
    same(run(binary("a[i] % b[i]", dtype), **special), [NAN] * 3 + [5, INF])
    same(run(binary("a[i] // b[i]", dtype), **special), [INF, -INF, NAN, 0, -1])


@pytest.mark.parametrize("dtype", FLOATS)
def test_max_and_min_propagate_nan(run, dtype):
    a, b = [1, NAN, 1, NAN, -INF], [2, 1, NAN, NAN, INF]
    same(run(binary("max(a[i], b[i])", dtype), a=a, b=b), [2, NAN, NAN, NAN, INF])
    same(run(binary("min(a[i], b[i])", dtype), a=a, b=b), [1, NAN, NAN, NAN, -INF])


@pytest.mark.parametrize("dtype", FLOATS)
def test_comparison_with_nan_is_false_except_for_inequality(run, dtype):
    for operator in ("<", "<=", "==", ">", ">=", "!="):
        Y = run(binary(f"a[i] {operator} b[i]", dtype, "bool"), a=[NAN, 1, NAN], b=[1, NAN, NAN])["Y"]
        assert Y.tolist() == [operator == "!="] * 3
    assert run(unary("isnan(a[i])", dtype, "bool"), a=[NAN, 1, INF])["Y"].tolist() == [True, False, False]


@pytest.mark.parametrize("dtype", FLOATS)
def test_rounding_to_whole_numbers(run, dtype):
    a = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.25, -2.75, INF]
    assert run(unary("round(a[i])", dtype), a=a)["Y"].tolist() == [-2, -2, 0, 0, 2, 2, 2, -3, INF]
    assert run(unary("floor(a[i])", dtype), a=a)["Y"].tolist() == [-3, -2, -1, 0, 1, 2, 2, -3, INF]
    assert run(unary("ceil(a[i])", dtype), a=a)["Y"].tolist() == [-2, -1, 0, 1, 2, 3, 3, -2, INF]
    assert run(unary("trunc(a[i])", dtype), a=a)["Y"].tolist() == [-2, -1, 0, 0, 1, 2, 2, -2, INF]
    assert run(unary("abs(a[i])", dtype), a=a)["Y"].tolist() == [2.5, 1.5, 0.5, 0.5, 1.5, 2.5, 2.25, 2.75, INF]
    assert run(unary("-a[i]", dtype), a=a)["Y"].tolist() == [-x for x in a]


FUNCTIONS = {
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "erf": math.erf,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sin": math.sin,
    "cos": math.cos,
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_within_a_unit_in_the_last_place(run, function, dtype):
    a = np.linspace(-6, 6, 501).astype(named(dtype))
    if function in ("log", "sqrt", "rsqrt"):
        a = np.abs(a[a != 0])
    Y = run(unary(f"{function}(a[i])", dtype), a=a)["Y"].astype(float)
    wanted = np.array([FUNCTIONS[function](float(x)) for x in a])
    precision, least = DIGITS[dtype]
    unit = 2.0 ** np.maximum(np.floor(np.log2(np.abs(wanted) + 2.0**-1000)) - precision + 1, least)
    assert (np.abs(Y - wanted) <= (2 if dtype == "f64" else 0.501) * unit).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_at_the_edges(run, dtype):
    edges = {
        "exp": ([INF, -INF, NAN], [INF, 0, NAN]),
        "log": ([0, -1, INF, NAN], [-INF, NAN, INF, NAN]),
        "tanh": ([INF, -INF, NAN], [1, -1, NAN]),
        "erf": ([INF, -INF, NAN, 0], [1, -1, NAN, 0]),
        "sigmoid": ([INF, -INF, NAN, 0], [1, 0, NAN, 0.5]),
        "sqrt": ([-1, INF, 0, NAN], [NAN, INF, 0, NAN]),
        "rsqrt": ([-1, INF, 0, NAN, 4], [NAN, 0, INF, NAN, 0.5]),
        "sin": ([INF, NAN], [NAN, NAN]),
        "cos": ([INF, NAN, 0], [NAN, NAN, 1]),
    }
    for function, (a, wanted) in edges.items():
        same(run(unary(f"{function}(a[i])", dtype), a=a), wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers(run, dtype):
    a, b = [2, 9, 4, 0, -2, NAN], [3, 0.5, -1, 0, 0.5, 0]
    same(run(binary("a[i] ** b[i]", dtype), a=a, b=b), [8, 3, 0.25, 1, NAN, 1])
    assert run(unary("a[i] ** 3", dtype), a=[-2, 0.5])["Y"].tolist() == [-8, 0.125]
    assert run(unary("a[i] ** 0", dtype), a=[-2, NAN])["Y"].tolist() == [1, 1]


# ---- conversions


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_integer_truncates_and_saturates(run, source, target):
    steps = (-1, Fraction(-1, 2), 0, 1)
    edges = [float(Fraction(bound) + step) for bound in (target.least, target.greatest) for step in steps]
    values = [0.0, -0.5, 0.99, -0.99, 1.5, -1.5, 2.75, 100.7, -100.7, 1e4, -1e4, INF, -INF, NAN, *edges]
    with np.errstate(over="ignore"):
        a = np.concatenate((np.array(values).astype(named(source)), floats(source, 200, 3)))
    Y = run(unary(f"{target}(a[i])", source, target), a=a)["Y"]

    def meaning(x):
        return 0 if math.isnan(x) else min(max(math.trunc(min(max(x, -1e30), 1e30)), target.least), target.greatest)

    assert Y.dtype == numpy_dtype(target)
    assert listed(Y) == [meaning(float(x)) for x in a]


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_integer_to_integer_wraps(run, source, target):
    a = np.array(interesting(source), numpy_dtype(source))
    Y = run(unary(f"{target}(a[i])", source, target), a=a)["Y"]
    assert listed(Y) == [wrap(x, target) for x in listed(a)]


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_integer_to_float_rounds_once(run, source, target):
    ties = [base + step for base in (2**32 + 2**24, 2**53, 2**62 + 2**54, 2**63 + 2**55) for step in (-1, 0, 1)]
    values = sorted({*interesting(source), *(sign * x for x in ties for sign in (1, -1))})
    a = np.array([x for x in values if source.least <= x <= source.greatest], numpy_dtype(source))
    Y = run(unary(f"{target}(a[i])", source, target), a=a)["Y"]
    assert Y.astype(float).tolist() == [rounded(Fraction(x), target) for x in listed(a)]


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("source", FLOATS)
def test_float_to_float_rounds_once(run, source, target):
    ties = np.array([1 + 2.0**-8 + 2.0**-30, 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8, 1e300, 65519.9999999, 3.4e38])
    with np.errstate(over="ignore"):
        a = finite(np.concatenate((ties.astype(named(source)), floats(source, 500, 4))))
    Y = run(unary(f"{target}(a[i])", source, target), a=a)["Y"]
    assert Y.astype(float).tolist() == [rounded(Fraction(float(x)), target) for x in a]
    same(run(unary(f"{target}(a[i])", source, target), a=[NAN, INF, -INF]), [NAN, INF, -INF])


@pytest.mark.parametrize("dtype", [each for each in DTYPES.values() if each.name != "bool"], ids=str)
def test_bool_is_zero_or_one_and_anything_else_is_true(run, dtype):
    assert run(unary(f"{dtype}(a[i])", "bool", dtype), a=[False, True])["Y"].tolist() == [0, 1]
    special = [0, 1, 2] + ([NAN, 0.25] if dtype.is_float else [])
    assert run(unary("bool(a[i])", dtype, "bool"), a=special)["Y"].tolist() == [False, *[True] * (len(special) - 1)]


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_literal_is_rounded_once_to_its_type(run, dtype):
    for literal in ("0.1", "1.00390625", "1.003906251", "65504.0", "1e-7", "-0.3"):
        Y = run(f"op f(a: {dtype}) -> Y: {dtype} {{ Y = a + {literal} }}", a=0)["Y"]
        assert float(Y) == rounded(Fraction(float(literal)), dtype)
