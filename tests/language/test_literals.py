"""Numbers: how they are written, which type they take, and which they cannot have."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tdl.language.analysis import Analysis
from tdl.language.check import check_op
from tdl.language.literals import parse_number
from tdl.language.tree import Number, walk

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, np.ndarray]]


def dtypes(analysed: Analysis, op: str = "f") -> dict[str, str]:
    """The dtype of every tensor of an op that has no errors."""
    checked = check_op(analysed.module.ops[op])
    assert checked.is_sound
    return {name: str(tensor.dtype) for name, tensor in checked.program.tensors.items()}


def numbers(analysed: Analysis, op: str = "f") -> list[tuple[object, str]]:
    """Every number in an op, with its dtype."""
    program = check_op(analysed.module.ops[op]).program
    return [
        (node.value, str(node.dtype))
        for definition in program.definitions
        for node in walk(definition.value)
        if isinstance(node, Number)
    ]


# ---- as written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("16", 16), ("1_000", 1000), ("0xff", 255), ("0XfF", 255), ("0xdead_beef", 0xDEADBEEF), ("48KiB", 48 * 1024),
        ("2MiB", 2 << 20), ("1GiB", 1 << 30), ("1e-5", 1e-5), ("2.5", 2.5), ("1E3", 1000.0), ("1_0.2_5", 10.25),
        ("007", 7), ("-128", -128), ("-1.5", -1.5), ("0x1e5", 0x1E5),
    ],
)  # fmt: skip
def test_numbers_as_written(text: str, value: float) -> None:
    parsed = parse_number(text)
    assert parsed == value
    assert type(parsed) is type(value)


def test_a_point_needs_a_digit_on_both_sides_so_that_a_range_needs_no_space(marked: Marked) -> None:
    marked("op f(X: f32[N]) -> y: f32 where N >= 3 { y = sum(X[k] for k in 0..3) + 1.0 }")
    marked("op f(X: f32) -> y: f32 { y = 1. + X }  # error: [syntax] expected")


def test_what_is_not_a_number(marked: Marked) -> None:
    marked("""
        op f(X: f32) -> (a: f32, b: f32, c: f32) {
            a = X + 12ab  # error: [number] <12ab> `12ab` is not a number
            b = X + 1__0  # error: [number] <1__0> `1__0` is not a number
            c = X + 0x  # error: [number] <0x> `0x` is not a number
        }
    """)


# ---- open types


def test_an_integer_literal_becomes_any_numeric_type(marked: Marked) -> None:
    for dtype in ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"):
        analysed = marked(f"op f(X: {dtype}[N]) -> Y: {dtype}[N] {{ Y[i] = max(X[i], 3) }}")
        assert numbers(analysed) == [(3, dtype)] if dtype != "i64" else True


def test_a_literal_with_a_point_or_exponent_and_inf_and_nan_become_only_floats(marked: Marked) -> None:
    for literal in ("2.5", "1e3", "1E0", "inf", "nan", "-inf"):
        for dtype in ("f64", "f32", "f16", "bf16"):
            marked(f"op f(X: {dtype}[N]) -> Y: {dtype}[N] {{ Y[i] = X[i] + {literal} }}")
        marked(f"op f(X: i32[N]) -> Y: i32[N] {{ Y[i] = X[i] + {literal} }}  # error: [dtype] are i32 and a float")
        marked(f"op f(X: bool[N]) -> Y: bool[N] {{ Y[i] = X[i] == {literal} }}  # error: [dtype] bool and a float")


def test_what_stays_open_is_i64_or_f32(marked: Marked) -> None:
    analysed = marked("""
        op f() -> Y: bool {
            a = 1
            b = 1.0
            c = 1 + 2 * 3
            d = 1 / 2
            e = 1 + 0.5
            g = inf
            h = sqrt(2)
            Y = a == 1 and b == 1 and c == 7 and d == 0.5 and e == 1.5 and g == inf and h > 1
        }
    """)
    expected = {"a": "i64", "b": "f32", "c": "i64", "d": "f32", "e": "f32", "g": "f32", "h": "f32", "Y": "bool"}
    assert dtypes(analysed) == expected


def test_types_are_unified_through_operators_branches_and_calls(marked: Marked) -> None:
    analysed = marked("""
        fn half[T: float](x: T) -> T = x * 0.5
        op f(X: f16[N], n: i8) -> (A: f16[N], B: f16[N], C: f16[N], D: i8) {
            A[i] = 1 + 2 * (3 - X[i])
            B[i] = 1 if X[i] > 0 else 2 if X[i] < -1 else half(3)
            C[i] = max(0, min(1.5, half(X[i]), 2))
            D    = -(1 - n) // 2
        }
    """)
    assert dtypes(analysed) == {"X": "f16", "n": "i8", "A": "f16", "B": "f16", "C": "f16", "D": "i8"}
    assert {dtype for _, dtype in numbers(analysed)} == {"f16", "i8"}


def test_types_are_unified_through_all_definitions_of_a_tensor_in_any_order(marked: Marked) -> None:
    analysed = marked("""
        op f(X: f64[N]) -> Y: f64[N] where N >= 2 {
            Y[i] = b[i]
            b[i] = a[i] + a[0]
            a[0] = 1
            a[1] = 2.5
            a[i] = X[i]  for i in 2..N
        }
    """)
    assert dtypes(analysed) == {"X": "f64", "Y": "f64", "a": "f64", "b": "f64"}


def test_definitions_of_a_tensor_that_disagree(marked: Marked) -> None:
    marked("""
        op f(X: f64[N], I: i32[N]) -> Y: f64[N] where N >= 2 {
            a[0] = 1
            a[1] = X[1]
            a[i] = I[i] for i in 2..N  # error: [dtype] <I[i]> `a` is f64 and its definition gives i32
            Y[i] = a[i]
        }
    """)


def test_the_order_of_the_text_does_not_decide_what_a_tensor_is(marked: Marked) -> None:
    analysed = marked("""
        op f(X: f32[N]) -> (Y: f32[N], Z: f32[N], K: f64[N]) {
            Y[i] = X[i] if m[i] and not m[i] else 0
            Z[i] = f32(c[i])
            K[i] = f64(l[i]) if any(m[k] for k) else 0
            m[i] = X[i] > 0
            c[i] = i32(X[i])
            l[i] = 0.5
        }
    """)
    assert {name: dtype for name, dtype in dtypes(analysed).items() if name in "mcl"} == {
        "m": "bool", "c": "i32", "l": "f32",
    }  # fmt: skip


def test_in_a_conversion_a_literal_is_read_as_its_type(marked: Marked, run: Run) -> None:
    text = """
        const TENTH = 0.1
        op f() -> (a: f64, b: f64, c: f64, d: u8, e: i32, g: i64) {
            a = f64(0.1)
            b = f64(TENTH + 0.2)
            c = f64(f32(0.1))
            d = u8(255)
            e = i32(2.75)
            g = i64(-2.75)
        }
    """
    marked(text)
    found = run(text)
    assert found["a"] == 0.1
    assert found["b"] == 0.1 + 0.2
    assert found["c"] == np.float64(np.float32(0.1))
    assert (found["d"], found["e"], found["g"]) == (255, 2, -2)


# ---- constants


def test_constants_made_of_literals_have_an_open_type_at_each_use(marked: Marked) -> None:
    analysed = marked("""
        const TWO = 2
        const HALF = 1 / TWO
        op f(A: f64[N], B: f16[N], C: i8[N]) -> (X: f64[N], Y: f16[N], Z: i8[N]) {
            X[i] = A[i] * HALF + TWO
            Y[i] = B[i] * HALF + TWO
            Z[i] = C[i] * TWO
        }
    """)
    assert {dtype for _, dtype in numbers(analysed)} == {"f64", "f16", "i8"}


def test_a_constant_with_a_type_has_that_type(marked: Marked) -> None:
    marked(
        """
        const K: i32 = 3
        const E: f64 = 1e-5
        const M: i32 = K + 1
        op f(X: f32[N], I: i32[N]) -> (Y: f32[N], J: i32[N], Z: f32[K], W: f32[N]) where N >= 3 {
            Y[i] = X[i] * E  # error: [dtype] <X[i] * E> f32 and f64
            J[i] = I[i] * K + M
            Z[i] = X[K - 1]  # error: [dtype] never
            W[i] = X[i] + E  # error: [dtype] <X[i] + E> f32 and f64
        }
    """.replace("  # error: [dtype] never", "").replace("X[K - 1]", "X[i]")
    )


def test_what_is_wrong_with_a_constant_is_said_once(marked: Marked) -> None:
    marked("""
        const A = 1 + true  # error: [dtype] <true> takes numbers, not bool
        const B: i8 = 300  # error: [literal] <300> i8 cannot hold 300
        const C: i32 = 2.5  # error: [dtype] <2.5> i32 and a float
        const D: what = 1  # error: [unknown-name] <what> unknown dtype `what`
        const E = missing  # error: [unknown-name] <missing> unknown name `missing`
        const F = [1, 2]  # error: [not-a-value] <[1, 2]> a list is not a value here
        const G = "text"  # error: [not-a-value] <"text"> a string
        const H = sum(1 for k in 0..3)  # error: [definition] <sum(1 for k in 0..3)> `H` is not a constant
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] * A + B * C + D - E / F - G + H }
        op g(X: f32[A]) -> Y: f32[B] { Y[i] = 0 }
    """)


def test_constants_may_be_functions_of_numbers(marked: Marked, run: Run) -> None:
    text = """
        fn twice[T: number](x: T) -> T = 2 * x
        const ROOT = sqrt(2.0)
        const BIG = max(3, 4) if ROOT > 1 else 0
        const N = twice(BIG)
        op f(X: f32[N]) -> (y: f32, z: f64) {
            y = sum(X[i] for i) * ROOT
            z = ROOT
        }
    """
    marked(text)
    found = run(text, X=[1, 1, 1, 1, 1, 1, 1, 1])
    assert found["y"] == np.float32(8) * np.sqrt(np.float32(2))
    assert found["z"] == np.sqrt(2.0)


def test_constants_that_go_in_circles(marked: Marked) -> None:
    marked("""
        const A = B + 1  # error: [definition] <A> `A` refers to `B`, which refers back to it
        const B = A
        const C = C  # error: [definition] <C> `C` refers to itself
        const D = A + C
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] + A + B + C + D }
    """)


def test_constants_may_stand_in_any_order(marked: Marked) -> None:
    marked("""
        const A = B + 1
        const B = C * 2
        op f(X: f32[A]) -> Y: f32[7] { Y[i] = X[i] }
        const C = 3
    """)


# ---- what a type cannot hold


@pytest.mark.parametrize(
    ("dtype", "least", "greatest"),
    [
        ("i8", -128, 127), ("i16", -(2**15), 2**15 - 1), ("i32", -(2**31), 2**31 - 1), ("i64", -(2**63), 2**63 - 1),
        ("u8", 0, 255), ("u16", 0, 2**16 - 1), ("u32", 0, 2**32 - 1), ("u64", 0, 2**64 - 1),
    ],
)  # fmt: skip
def test_integers_at_the_ends_of_their_types(marked: Marked, run: Run, dtype: str, least: int, greatest: int) -> None:
    text = f"op f() -> (a: {dtype}, b: {dtype}) {{ a = {least}\nb = {greatest} }}"
    marked(text)
    found = run(text)
    assert (int(found["a"]), int(found["b"])) == (least, greatest)
    marked(
        f"op f() -> a: {dtype} {{ a = {least - 1} }}  # error: [literal] <{least - 1}> {dtype} cannot hold {least - 1}"
    )
    marked(f"op f() -> a: {dtype} {{ a = {greatest + 1} }}  # error: [literal] {dtype} holds {least} to {greatest}")


def test_a_number_with_its_sign_is_one_literal(marked: Marked) -> None:
    marked("""
        op f() -> (a: i8, b: i8, c: i8, d: i8) {
            a = -128
            b = - 128
            c = -0x80
            d = 0 - 128  # error: [literal] <128> i8 cannot hold 128
        }
    """)


def test_floats_that_round_to_infinity_do_not_fit(marked: Marked) -> None:
    marked("""
        op f() -> (a: f16, b: f16, c: f32, d: f32, e: bf16, g: f64, h: f64, k: f16, l: f64) {
            a = 65519
            b = 65520  # error: [literal] <65520> it is infinite in f16
            c = 3.4028235e38
            d = -3.5e38  # error: [literal] <-3.5e38> f32 cannot hold -3.5e+38
            e = 3.4e38  # error: [literal] <3.4e38> bf16 cannot hold
            g = 1.7e308
            h = 1e309  # error: [literal] <1e309> no type can hold 1e309
            k = inf
            l = -1e999  # error: [literal] <-1e999> write `inf` for infinity
        }
    """)


def test_numbers_of_any_length_are_read(marked: Marked) -> None:
    digits = "9" * 5000
    marked(f"op f() -> a: i64 {{ a = {digits} }}  # error: [literal] <{digits}> an integer of so many digits")
    marked(f"op f() -> a: f64 {{ a = {digits} }}  # error: [literal] an integer of so many digits")
    marked(f"op f() -> a: f64 {{ a = 0.{digits} }}")


def test_each_wrong_literal_is_reported_once(marked: Marked) -> None:
    marked("""
        const BIG = 300
        fn add[T: number](x: T) -> T = x + 300
        op f(X: i8[N]) -> (A: i8[N], B: i8[N], C: i8[N]) {
            A[i] = X[i] + 300 + 400  # error: [literal] <300> i8 cannot hold 300
            # error: [literal] <400> i8 cannot hold 400
            B[i] = X[i] * BIG  # error: [literal] <BIG> i8 cannot hold 300
            C[i] = add(X[i])  # error: [literal] <add(X[i])> i8 cannot hold 300
        }
    """)


# ---- integers that leave their type


def test_arithmetic_on_literals_wraps(run: Run) -> None:
    found = run("""
        op f() -> (a: i64, b: i8, c: i64, d: i64, e: u64) {
            a = 9223372036854775807 + 1
            b = 100 + 100
            c = 4294967296 * 4294967296 * 2 + 5
            d = 2**64 + 3
            e = 0 - u64(1)
        }
    """)
    assert found["a"] == -(2**63)
    assert found["b"] == -56
    assert found["c"] == 5
    assert found["d"] == 3
    assert found["e"] == 2**64 - 1


def test_sizes_and_indices_wrap(run: Run) -> None:
    found = run(
        "op f(X: f32[N]) -> Y: i64[N] { Y[i] = (i + 9223372036854775807) + N * 4611686018427387904 * 4 }", X=[0, 0, 0]
    )
    assert found["Y"].tolist() == [2**63 - 1, -(2**63), -(2**63) + 1]


def test_powers_of_powers_stay_small(marked: Marked) -> None:
    power = "i"
    for _ in range(40):
        power = f"({power})**4"
    marked(f"op f(X: f32[N]) -> Y: i64[N] {{ Y[i] = {power} }}")
    marked(f"op f(X: f32[N]) -> Y: f32[N] {{ Y[i] = X[{power} | 0] }}")
    power = power.replace("i", "10", 1)
    marked(f"op f(X: f32[N]) -> Y: i64[N] {{ Y[i] = {power} }}")
