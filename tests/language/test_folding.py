"""The value of an expression over literals is what the evaluator computes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tdl.language import tree
from tdl.language.analysis import analyse
from tdl.language.arrays import numpy_dtype
from tdl.language.binding import bind
from tdl.language.check import check_op
from tdl.language.dtypes import BF16, BOOL, DTYPES, F16, F32, F64, DType
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure
from tdl.language.folding import convert, fit, value_of
from tdl.language.source import Source

Draw = Callable[[st.SearchStrategy[str]], str]

FLOATS = ("f64", "f32", "f16", "bf16")
INTEGERS = ("i64", "i32", "i8", "u64", "u8")


@st.composite
def constants(draw: Draw, dtype: str, depth: int = 3) -> str:
    """A constant expression of a dtype, whose operators are exact or rounded once."""

    def of(wanted: str) -> str:
        return draw(constants(wanted, depth - 1))

    if depth == 0:
        return _literal(draw, dtype)
    a, b = of(dtype), of(dtype)
    if dtype == "bool":
        other = draw(st.sampled_from(("f32", "i8", "i64", "u64")))
        sign = draw(st.sampled_from(("<", "<=", ">", ">=", "==", "!=")))
        return draw(
            st.sampled_from(
                (f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({of(other)} {sign} {of(other)})", f"({a} == {b})")
            )
        )
    choices = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"(-{a})", f"max({a}, {b})", f"min({a}, {b}, {a})",
               f"({a} if {of('bool')} else {b})", f"{dtype}({of(draw(st.sampled_from((*FLOATS, *INTEGERS, 'bool'))))})",
               f"abs({a})", f"twice({a})"]  # fmt: skip
    if dtype in FLOATS:
        choices += [f"({a} / {b})", f"sqrt({a})", f"floor({a})", f"ceil({a})", f"trunc({a})", f"round({a})"]
    else:
        choices += [f"({a} // {b})", f"({a} % {b})", f"bit_and({a}, {b})", f"bit_or({a}, {b})", f"bit_xor({a}, {b})",
                    f"bit_not({a})", f"shl({a}, {b})", f"shr({a}, {b})", f"({a})**3", f"({a})**9"]  # fmt: skip
    return draw(st.sampled_from(choices))


def _literal(draw: Draw, dtype: str) -> str:
    if dtype == "bool":
        return draw(st.sampled_from(("true", "false")))
    if dtype in FLOATS:
        return f"{dtype}({draw(st.sampled_from(('0.0', '1.5', '0.1', '3', '-2.75', '1e-7', '6e4', 'inf', 'nan')))})"
    kind = DTYPES[dtype]
    return f"{dtype}({draw(st.sampled_from((0, 1, 2, 3, 7, 100, kind.least, kind.greatest)))})"


def both(dtype: str, text: str) -> tuple[object, object]:
    """The folded value and the evaluated one; both None where it raises."""
    program = f"fn twice[T: number](x: T) -> T = x + x\nop f() -> y: {dtype} {{ y = {text} }}"
    analysed = analyse(Source("folding.tdl", program), read={}.get)
    assert [diagnostic.message for diagnostic in analysed.diagnostics] == []
    op = analysed.module.ops["f"]
    (definition,) = check_op(op).program.definitions
    folded = value_of(definition.value)
    bound = bind(op, {})
    try:
        found = evaluate(bound.program, {}, bound.sizes)["y"]
    except Failure:
        return folded, None
    return folded, found


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, "bool"])
def test_folding_is_evaluation(dtype: str) -> None:
    @given(constants(dtype))
    @settings(max_examples=40, deadline=None)
    def folds(text: str) -> None:
        folded, found = both(dtype, text)
        if found is None or folded is None:
            assert folded is None or dtype == "bool"  # `and` and `or` stop early in one of them
            return
        expected = np.asarray(folded, numpy_dtype(DTYPES[dtype]))
        assert found.dtype == expected.dtype
        assert found == expected or (found != found and expected != expected)

    folds()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("exp(1.0)", math.e), ("log(2.0)", math.log(2)), ("tanh(1.0)", math.tanh(1)), ("erf(0.5)", math.erf(0.5)),
        ("sigmoid(0.0)", 0.5), ("rsqrt(4.0)", 0.5), ("sin(1.0)", math.sin(1)), ("cos(1.0)", math.cos(1)),
        ("2.0**0.5", math.sqrt(2)), ("pow(2, -1)", 0.5), ("7.5 // 2", 3.0), ("-7.5 % 2", 0.5), ("1 / 0", math.inf),
        ("-1 / 0", -math.inf), ("floor(-inf)", -math.inf), ("1 / ceil(-0.5)", -math.inf), ("round(2.5)", 2.0),
        ("f64(f32(1) / 3)", float(np.float32(1) / np.float32(3))),
    ],
)  # fmt: skip
def test_functions(text: str, value: float) -> None:
    folded, found = both("f64", f"f64({text})" if not text.startswith("f64") else text)
    assert folded == pytest.approx(value, rel=1e-15)
    assert found == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", ["1 // 0", "1 % 0", "i64(5) // (3 - 3)"])
def test_an_integer_divided_by_zero_has_no_value(text: str) -> None:
    assert both("i64", text) == (None, None)


def test_what_depends_on_something_has_no_value() -> None:
    analysed = analyse(
        Source("t.tdl", "op f(X: f32[N], b: bool) -> (y: f32, z: bool) { y = X[0 | 0] + 1\nz = b or N > 3 }")
    )
    first, second = check_op(analysed.module.ops["f"]).program.definitions
    assert value_of(first.value) is None
    assert value_of(second.value) is None
    assert value_of(tree.Binary("or", second.value, tree.Number(True, BOOL), BOOL)) is True
    assert value_of(tree.Binary("and", tree.Number(False, BOOL), second.value, BOOL)) is False
    assert value_of(tree.Parameter("e", F32)) is None


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@given(st.floats(), st.sampled_from([F64, F32, F16, BF16]))
@example(65519.99, F16)
@example(65520.0, F16)
@example(1e-45, F32)
@example(2.0**-133, BF16)
@example(2.0**-134, BF16)
@example(3.3961775292304957e38, BF16)
@example(1.794182015458288e308, BF16)
def test_floats_round_to_the_nearest_even(value: float, dtype: DType) -> None:
    rounded = fit(value, dtype)
    expected = float(np.asarray(value, np.float64).astype(numpy_dtype(dtype)))
    if dtype == BF16 and math.isfinite(value):
        expected = _nearest_bf16(value)
    assert rounded == expected or (rounded != rounded and expected != expected)


def _nearest_bf16(value: float) -> float:
    """By exact comparison with both neighbours: ml_dtypes rounds f64 twice, by way of f32."""
    near = np.asarray(value, np.float32).astype(numpy_dtype(BF16))
    bits = int(near.view(np.uint16))
    candidates = [
        float(np.asarray(each, np.uint16).view(numpy_dtype(BF16)))
        for each in (bits - 1, bits, bits + 1)
        if 0 <= each < 1 << 16
    ]
    finite = [each for each in candidates if math.isfinite(each)]
    if abs(value) >= 2.0**128 - 2.0**119:
        return math.copysign(math.inf, value)
    exact = Fraction(value)
    least = min(abs(Fraction(each) - exact) for each in finite)
    nearest = [each for each in finite if abs(Fraction(each) - exact) == least]
    even = [each for each in nearest if int(np.asarray(each).astype(numpy_dtype(BF16)).view(np.uint16)) % 2 == 0]
    return (even or nearest)[0]


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (2.75, "i32", 2), (-2.75, "i32", -2), (1e300, "i8", 127), (-1e300, "i8", -128), (math.nan, "i64", 0),
        (math.inf, "u8", 255), (-math.inf, "u8", 0), (300, "u8", 44), (-1, "u64", 2**64 - 1), (2**63, "i64", -(2**63)),
        (True, "i8", 1), (True, "f32", 1.0), (0.5, "bool", True), (0, "bool", False), (10**400, "f64", math.inf),
        (-(10**400), "f64", -math.inf), (2**24 + 1, "f32", 2.0**24),
    ],
)  # fmt: skip
def test_conversions(value: float, dtype: str, expected: float) -> None:
    converted = convert(value, DTYPES[dtype])
    assert converted == expected
    assert type(converted) is type(expected)
