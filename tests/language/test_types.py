"""Dtypes: which operations take which, and what conversions and powers are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tdl.language.analysis import Analysis
from tdl.language.check import check_op
from tdl.language.tree import Binary, Let, walk

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, np.ndarray]]

FLOATS = ("f64", "f32", "f16", "bf16")
INTEGERS = ("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8")


# ---- conversions


def test_there_is_no_implicit_conversion(marked: Marked) -> None:
    marked("""
        op f(a: f32, b: f64, c: i32, d: bool, e: bf16, g: f16, h: i64, k: u64) -> (Y: f32) {
            t1 = a + b  # error: [dtype] <a + b> the operands of `+` are f32 and f64
            t2 = a * c  # error: [dtype] <a * c> the operands of `*` are f32 and i32
            t3 = e - g  # error: [dtype] <e - g> the operands of `-` are bf16 and f16
            t4 = h // k  # error: [dtype] <h // k> the operands of `//` are i64 and u64
            t5 = a < c  # error: [dtype] <a < c> the operands of `<` are f32 and i32
            t6 = a == d  # error: [dtype] <a == d> the operands of `==` are f32 and bool
            t7 = a if d else b  # error: [dtype] <a if d else b> the branches of `if` are f32 and f64
            t8 = max(a, b)  # error: [dtype] <max(a, b)> the arguments of `max` are f32 and f64
            t9 = pow(a, b)  # error: [dtype] <pow(a, b)> the arguments of `pow` are f32 and f64
            Y  = b  # error: [dtype] <b> `Y` is f32 and its definition gives f64
        }
    """)


def test_the_message_offers_the_conversions(marked: Marked) -> None:
    (error,) = marked(
        "op f(a: f32, b: f64) -> y: f32 { y = a + b }  # error: [dtype] convert one of them: `f32(...)` or `f64(...)`"
    ).diagnostics
    assert {fix.text for fix in error.fixes} == {"f32(b)", "f64(a)"}


def test_every_dtype_converts_to_every_other(marked: Marked) -> None:
    names = (*FLOATS, *INTEGERS, "bool")
    for source in names:
        outputs = ", ".join(f"y{number}: {target}" for number, target in enumerate(names))
        body = "\n".join(f"y{number} = {target}(x)" for number, target in enumerate(names))
        marked(f"op f(x: {source}) -> ({outputs}) {{\n{body}\n}}")


def test_a_conversion_takes_one_value(marked: Marked) -> None:
    marked("""
        op f(x: f32) -> (a: f32, b: f32, c: f32) {
            a = f32()  # error: [arguments] <f32()> the conversion `f32` takes one value
            b = f32(x, x)  # error: [arguments] <f32(x, x)> the conversion `f32` takes one value
            c = f32(x=x)  # error: [arguments] <f32(x=x)> the conversion `f32` takes one value
        }
    """)


def test_an_index_and_a_size_are_i64(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (A: i64[N], B: i32[N], C: i32, D: f32[N]) {
            A[i] = i * N
            B[i] = i  # error: [dtype] <i> `B` is i32 and its definition gives i64
            C    = N  # error: [dtype] <N> `C` is i32 and its definition gives i64
            D[i] = X[i] / N  # error: [dtype] <X[i] / N> the operands of `/` are f32 and i64
        }
    """)


def test_subscripts_may_have_any_integer_dtype_and_no_other(marked: Marked) -> None:
    for dtype in INTEGERS:
        marked(f"op f(X: f32[N], I: {dtype}[M]) -> Y: f32[M] {{ Y[i] = X[I[i]] + X[I[i] + 1 | 0] }}")
    for dtype in ("f32", "bool"):
        marked(
            f"op f(X: f32[N], I: {dtype}[M]) -> Y: f32[M] {{ Y[i] = X[I[i]] }}"
            f"  # error: [dtype] <I[i]> a subscript is {dtype}, not an integer"
        )


def test_a_subscript_of_constants_is_proved_like_any_other(marked: Marked) -> None:
    marked("""
        const K: u8 = 2
        op f(X: f32[N]) -> Y: f32 where N >= 3 { Y = X[K] + X[u8(2)] + X[i32(1) + i32(1)] }
        op g(X: f32[N]) -> Y: f32 where N >= 2 { Y = X[K] }  # error: [out-of-bounds] <X[K]> N = 2: X[2]
    """)


# ---- arithmetic


def test_division_of_integers_is_an_error(marked: Marked) -> None:
    for dtype in INTEGERS:
        marked(f"op f(x: {dtype}) -> y: {dtype} {{ y = x / 2 }}  # error: [dtype] <x / 2> `//` divides integers")
    marked("op f(x: f32) -> y: i64 { y = 7 / 2 }  # error: [dtype] <7 / 2> `y` is i64 and its definition gives a float")
    marked("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i / 2] }  # error: [dtype] <i / 2> `//` divides integers")


def test_floor_division_and_remainder_take_integers_and_floats(marked: Marked) -> None:
    for dtype in (*INTEGERS, *FLOATS):
        marked(f"op f(x: {dtype}) -> y: {dtype} {{ y = x // 2 + x % 3 }}")


def test_bool_takes_no_arithmetic(marked: Marked) -> None:
    marked("""
        op f(b: bool, X: bool[N]) -> y: bool {
            t1 = b + b  # error: [dtype] <b> `+` takes numbers, not bool
            t2 = 1 * b  # error: [dtype] <b> `*` takes numbers, not bool
            t3 = -b  # error: [dtype] <b> `-` takes numbers, not bool
            t4 = b ** 2  # error: [dtype] <b> `**` takes numbers, not bool
            t5 = b < b  # error: [dtype] <b < b> `<` takes numbers, not bool
            t6 = max(b, b)  # error: [dtype] <b> `max` takes numbers, not bool
            t7 = abs(b)  # error: [dtype] <b> `abs` takes numbers, not bool
            t8 = sum(X[k] for k)  # error: [dtype] <X[k]> `sum` takes numbers, not bool
            t9 = bit_and(b, b)  # error: [dtype] <b> `bit_and` takes integers, not bool
            y  = b == b and b != true and (b or not b)
        }
    """)


def test_conditions_are_bool(marked: Marked) -> None:
    marked("""
        op f(x: f32, n: i32, X: f32[N]) -> (a: f32, b: bool, c: bool, d: f32, E: f32[N], g: bool) {
            a    = x if n else x  # error: [dtype] <n> the condition of `if` is i32, not bool
            b    = n and x > 0  # error: [dtype] <n> the left side of `and` is i32, not bool
            c    = not n or 1  # error: [dtype] <n> the operand of `not` is i32, not bool
            # error: [dtype] <1> the right side of `or` is a number, not bool
            d    = sum(X[k] for k if X[k])  # error: [dtype] <X[k]> the filter is f32, not bool
            E[i] = X[i] for i if i  # error: [dtype] <i> the filter is i64, not bool
            g    = any(X[k] for k)  # error: [dtype] compare, as in `x != 0`
        }
    """)


def test_bitwise_functions_and_shifts_take_integers(marked: Marked) -> None:
    for dtype in INTEGERS:
        marked(f"""
            op f(x: {dtype}, y: {dtype}) -> z: {dtype} {{
                z = bit_xor(bit_and(x, 3), bit_or(y, shl(x, 1))) + bit_not(shr(y, x))
            }}
        """)
    marked("op f(x: f32) -> z: f32 { z = bit_not(x) }  # error: [dtype] <x> `bit_not` takes integers, not f32")
    marked("op f(x: i32) -> z: i32 { z = shl(x, 1.5) }  # error: [dtype] <shl(x, 1.5)> i32 and a float")


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "erf", "sigmoid", "sqrt", "rsqrt", "sin", "cos", "floor",
                                  "ceil", "trunc", "round", "isnan"])  # fmt: skip
def test_functions_take_one_float(marked: Marked, name: str) -> None:
    result = "bool" if name == "isnan" else "f16"
    marked(f"op f(x: f16) -> y: {result} {{ y = {name}(x) }}")
    marked(f"op f(x: i32) -> y: i32 {{ y = {name}(x) }}  # error: [dtype] <x> `{name}` takes floats, not i32")
    marked(f"op f(x: f32) -> y: f32 {{ y = {name}(x, x) }}  # error: [arguments] `{name}` takes 1 argument, not 2")
    marked(f"op f(x: f32) -> y: f32 {{ y = {name}() }}  # error: [arguments] `{name}` takes 1 argument, not 0")
    marked(f"op f(x: f32) -> y: f32 {{ y = {name}[3](x) }}  # error: [arguments] <3> has no compile-time parameters")
    marked(f"op f(x: f32) -> y: f32 {{ y = {name}(x=x) }}  # error: [arguments] takes its arguments by position")


def test_abs_max_and_min_take_all_numbers(marked: Marked) -> None:
    for dtype in (*INTEGERS, *FLOATS):
        marked(f"op f(x: {dtype}) -> y: {dtype} {{ y = abs(x) + max(x, 1) + min(x, 1, 2, x) }}")


def test_max_and_min_of_one_scalar_are_reductions_that_lack_a_range(marked: Marked) -> None:
    marked("op f(x: f32) -> y: f32 { y = max(x) }  # error: [reducer] <max(x)> `max(X[i] for i)`")


# ---- powers


def test_a_literal_power_is_multiplication_on_all_numbers(marked: Marked, run: Run) -> None:
    for dtype in (*INTEGERS, *FLOATS):
        analysed = marked(f"op f(x: {dtype}) -> y: {dtype} {{ y = x**2 + x**3 + x**0 + x**1 + (x + 1)**7 }}")
        program = check_op(analysed.module.ops["f"]).program
        operators = {each.operator for each in walk(program.definitions[0].value) if isinstance(each, Binary)}
        assert operators == {"add", "mul"}
    assert run("op f(x: i32) -> y: i32 { y = x**3 - (x + 1)**5 }", x=-2)["y"] == -8 + 1


def test_the_base_of_a_power_is_evaluated_once(marked: Marked) -> None:
    analysed = marked("op f(X: f32[N]) -> y: f32 { y = sum(X[k] for k)**4 + sum(X[k] for k)**3 }")
    (definition,) = check_op(analysed.module.ops["f"]).program.definitions
    lets = [node for node in walk(definition.value) if isinstance(node, Let)]
    assert len({let.name for let in lets}) == len(lets) >= 2


def test_other_powers_are_of_floats(marked: Marked) -> None:
    marked("""
        op f(x: f32, n: i32, a: f64) -> (y: f32, z: f64) {
            y = x**x + x**-1 + 2**x + x**0.5 + pow(x, 2) + x**(1 + 1)
            z = 2**-1 + a**inf
        }
        op g(n: i32, x: f32) -> (a: i32, b: i32, c: i32, d: f32, e: i32) {
            a = n**n  # error: [dtype] <n**n> with a computed exponent takes floats, not i32
            b = n**-1  # error: [dtype] <n**-1> a literal that is not negative
            c = 2**n  # error: [dtype] <2**n> with a computed exponent takes floats, not i32
            d = x**n  # error: [dtype] <x**n> the operands of `**` are f32 and i32
            e = n**(1 + 1)  # error: [dtype] <n**(1 + 1)> takes floats, not i32
        }
    """)


def test_a_sign_binds_looser_than_a_power(run: Run) -> None:
    found = run("op f(x: f32) -> (a: f32, b: f32, c: f32) { a = -x**2\nb = (-x)**2\nc = 2**3**2 - x }", x=3)
    assert (found["a"], found["b"], found["c"]) == (-9, 9, 509)


def test_huge_exponents(marked: Marked) -> None:
    marked("op f(x: f32) -> y: f32 { y = x**1000000 }")
    marked(f"op f(x: f32) -> y: f32 {{ y = x**{'9' * 30} }}  # error: [literal] this exponent is too large")


# ---- comparisons


def test_comparisons_chain_as_in_python(marked: Marked, run: Run) -> None:
    marked("op f(X: f32[N]) -> Y: bool[N] { Y[i] = 0 <= i < N and 0.5 < X[i] <= 1 != 2 }")
    found = run("op f(X: i32[N]) -> Y: bool[N] { Y[i] = 1 < X[i] < 4 == 4 }", X=[0, 2, 3, 5])
    assert found["Y"].tolist() == [False, True, True, False]


def test_each_link_of_a_chain_has_one_dtype(marked: Marked) -> None:
    marked("""
        op f(a: f32, b: f64, n: i32) -> (y: bool, z: bool) {
            y = a < b < n  # error: [dtype] <a < b < n> the operands of `<` are f32 and f64
            # error: [dtype] <a < b < n> the operands of `<` are f64 and i32
            z = 0 < n == true  # error: [dtype] <0 < n == true> the operands of `==` are i32 and bool
        }
    """)


def test_what_stands_in_the_middle_of_a_chain_is_evaluated_once(marked: Marked) -> None:
    analysed = marked("op f(X: f32[N]) -> y: bool { y = 0 < sum(X[k] for k) < 1 }")
    (definition,) = check_op(analysed.module.ops["f"]).program.definitions
    assert isinstance(definition.value, Let)


# ---- conditionals


def test_if_without_else_is_an_error_that_says_what_to_write(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], z: f32) {
            Y[i] = X[i] if X[i] > 0  # error: [definition] <X[i] if X[i] > 0> add `else ...`
            z    = sum((X[k] if X[k] > 0) for k)  # error: [definition] <X[k] if X[k] > 0> needs a `for` before its `if`
        }
    """)


def test_branches_are_one_type(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], b: bool) -> (Y: f32[N], z: bool) {
            Y[i] = 0 if i == 0 else X[i] if b else 0.5
            z    = true if b else 1  # error: [dtype] <true if b else 1> bool and a number
        }
    """)


# ---- dtypes of tensors


def test_unknown_dtypes(marked: Marked) -> None:
    marked(
        """
        op f(X: float32[N], Z: int[N], W: float[N]) -> Y: f33[N] { Y[i] = 0 }
        # error: [unknown-name] <float32> unknown dtype `float32`
        # error: [unknown-name] <int> unknown dtype `int`
        # error: [not-a-value] <float> `float` is a class of dtypes
        # error: [unknown-name] <f33> did you mean `f32`?
    """
    )


def test_annotations_of_left_hand_sides(marked: Marked) -> None:
    analysed = marked("""
        op f(X: f32[N]) -> Y: f64[N] where N >= 1 {
            a[i]: f64 = 0.1
            b[0]: i8  = 1
            b[i]      = 2  for i in 1..N
            s: u16    = 3
            Y[i]: f64 = a[i] + f64(b[i]) + f64(s)
        }
        op g(X: f32[N]) -> (Y: f32[N], Z: f32[N]) where N >= 2 {
            Y[i]: f64 = 0  # error: [dtype] <f64> `Y` is f32, and f64 here
            a[0]: i8  = 1
            a[1]: i16 = 1  # error: [dtype] <i16> `a` is i8, and i16 here
            a[i]      = 1 for i in 2..N
            c[i]: f32 = f64(X[i])  # error: [dtype] <f64(X[i])> `c` is f32 and its definition gives f64
            d[i]: N   = 1  # error: [not-a-value] <N> `N` is not a dtype
            Z[i]      = f32(a[i]) + c[i] + d[i]
        }
    """)
    tensors = check_op(analysed.module.ops["f"]).program.tensors
    assert [str(tensors[name].dtype) for name in "abs"] == ["f64", "i8", "u16"]


def test_let_fixes_a_dtype_and_shape(marked: Marked) -> None:
    analysed = marked("""
        op f[T: float = f16](X: T[M, N]) -> Y: T[M, N] where M >= 1 {
            let acc: f32[M, N]
            let one: i8
            let row: T[N + 1]
            acc[i, j] = f32(X[i, j]) for i in 0..M
            row[j]    = 1
            one       = 1
            Y[i, j]   = T(acc[i, j]) + row[j] * T(one)
        }
    """)
    tensors = check_op(analysed.module.ops["f"]).program.tensors
    assert [str(size) for size in tensors["row"].shape] == ["N + 1"]
    assert [str(tensors[name].dtype) for name in ("acc", "one", "row")] == ["f32", "i8", "f16"]


def test_what_is_wrong_with_a_let(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], Z: f32[N]) {
            let a: f32[Q]  # error: [unknown-name] <Q> unknown name `Q`
            let b: what[N]  # error: [unknown-name] <what> unknown dtype `what`
            let c: f32[N, N]
            let d: f32[N]  # error: [definition] <d> `d` is declared, but nothing defines it
            let e: i32[N]
            let Y: f32[N]  # error: [duplicate-name] <Y> `Y` is declared twice
            let g: f32[X[0]]  # error: [dtype] <X[0]> a dimension is f32, not an integer
            let h: f32[0 - 1]  # error: [shape] <0 - 1> a dimension is not negative, and this is -1
            a[i] = 0
            b[i] = 0
            c[i] = 0  # error: [rank] <c[i]> `c` has 2 dimensions and is defined with 1 subscript
            e[i] = X[i]  # error: [dtype] <X[i]> `e` is i32 and its definition gives f32
            g[i] = 0
            h[i] = 0
            Y[i] = a[i] + b[i] + f32(e[i]) + true  # error: [dtype] <true> takes numbers, not bool
            Z[i] = X[i + 1]  # error: [out-of-bounds] <X[i + 1]> N = 1, i = 0: X[1]
        }
    """)
