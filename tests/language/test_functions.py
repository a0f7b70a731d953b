"""Scalar functions: what they take and give, and what a call of one is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tdl.language.analysis import Analysis, analyse
from tdl.language.check import check_op
from tdl.language.source import Source
from tdl.language.tree import Access, Let, walk

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, np.ndarray]]


# ---- declarations


def test_functions_of_known_and_of_open_types(marked: Marked, run: Run) -> None:
    text = """
        const SCALE = 0.5
        fn gelu[T: float](x: T) -> T = SCALE * x * (1 + erf(x / sqrt(2)))
        fn clamp[T: number](x: T, lo: T, hi: T) -> T = max(lo, min(hi, x))
        fn is_even(n: i64) -> bool = n % 2 == 0
        fn pick(b: bool, x: f32) -> f32 = x if b else -x
        op f(X: f32[N], Z: f64[N], I: i8[N]) -> (A: f32[N], B: f64[N], C: i8[N], D: f32[N]) {
            A[i] = gelu(X[i])
            B[i] = gelu(Z[i])
            C[i] = clamp(I[i], 0, 10)
            D[i] = pick(is_even(i), X[i])
        }
    """
    marked(text)
    found = run(text, X=[1, 2], Z=[1, 2], I=[-5, 50])
    assert found["A"].dtype == np.float32
    assert np.allclose(found["B"], [0.84134475, 1.95449974])
    assert found["C"].tolist() == [0, 10]
    assert found["D"].tolist() == [1, -2]


def test_what_is_wrong_with_a_function(marked: Marked) -> None:
    marked("""
        fn a(x: f32) -> f64 = x  # error: [dtype] <x> the body is f32, and f64 is declared
        fn b(x: f32) -> f32 = y  # error: [unknown-name] <y> unknown name `y`
        fn c(x: f32[3]) -> f32 = x  # error: [definition] <f32[3]> functions and reducers take scalars
        fn d(x: f32) -> f32[3] = x  # error: [definition] <f32[3]> a function gives one scalar
        fn e(x: f32, x: f32) -> f32 = x  # error: [duplicate-name] <x> `x` is declared twice
        fn n[k: int, k: int = 2](x: f32) -> f32 = x  # error: [duplicate-name] <k> `k` is declared twice
        fn o[k: kind](x: f32) -> f32 = x  # error: [unknown-name] <kind> unknown kind of parameter
        fn g[T: float](T: f32) -> f32 = T  # error: [duplicate-name] <T> `T` is declared twice
        fn h[T: number](x: T) -> T = exp(x)  # error: [dtype] <x> `exp` takes floats, not T
        fn i(x: what) -> f32 = 1  # error: [unknown-name] <what> unknown dtype `what`
        fn j(x: f32) -> T = x  # error: [unknown-name] <T> unknown dtype `T`
        fn k(x: f32) -> f32 = (x, x)  # error: [not-a-value] <(x, x)> a tuple is not a single value
        fn l(x: f32) -> f32 = x[0]  # error: [not-a-value] <x> `x` is not a tensor
        fn m(x: i8) -> i8 = x + 200  # error: [literal] <200> i8 cannot hold 200
        op f(X: f32) -> Y: f32 {
            Y = b(X) + c(X) + d(X) + e(X, X) + h(X) + i(X) + j(X) + k(X) + l(X) + f32(a(X)) + f32(m(1)) + g(X)
        }
    """)


def test_functions_declared_twice(marked: Marked) -> None:
    marked("""
        fn g(x: f32) -> f32 = x
        fn g(x: f32) -> f32 = x * 2  # error: [duplicate-name] <g> `g` is declared twice in this module
        op g(X: f32) -> Y: f32 { Y = X }  # error: [duplicate-name] <g> `g` is declared twice in this module
        reducer g(a: f32, b: f32) -> f32 { identity 0  # error: [duplicate-name] <g> `g` is declared twice
            combine a + b }
        fn f32(x: f32) -> f32 = x  # error: [duplicate-name] <f32> `f32` is a dtype
    """)


# ---- calls


def test_arguments_are_given_by_position_or_name(marked: Marked, run: Run) -> None:
    text = """
        fn sub3(x: f32, y: f32, z: f32) -> f32 = x - y - z
        op f(X: f32) -> (a: f32, b: f32, c: f32) {
            a = sub3(10, X, 1)
            b = sub3(z=1, y=X, x=10)
            c = sub3(10, z=1, y=X)
        }
    """
    marked(text)
    assert {float(value) for value in run(text, X=2).values()} == {7}


def test_wrong_arguments(marked: Marked) -> None:
    marked("""
        fn g(x: f32, y: f32) -> f32 = x - y
        op f(X: f32, Z: f64) -> (a: f32, b: f32, c: f32, d: f32, e: f32, h: f32, i: f32) {
            a = g(X)  # error: [arguments] <g(X)> `g` takes 2 arguments; `y` is missing
            b = g(X, X, X)  # error: [arguments] <g(X, X, X)> `g` takes 2 arguments, not 3
            c = g(X, x=X)  # error: [arguments] <x=X> `x` of `g` is given twice
            d = g(X, z=X)  # error: [unknown-name] <z> argument of `g`
            e = g(X, Z)  # error: [dtype] <Z> `y` of `g` is f32, and is given f64
            h = g()  # error: [arguments] <g()> `g` takes 2 arguments; `x` is missing
            i = g(true, 1)  # error: [dtype] <true> `x` of `g` is f32, and is given bool
        }
    """)


def test_compile_time_arguments(marked: Marked, run: Run) -> None:
    text = """
        fn scaled[k: int = 2, e: f32 = 0.5, T: float = f32](x: T) -> T = x * T(k) + T(e)
        op f[n: int = 3, U: float = f64](X: f32, Z: U) -> (a: f32, b: f32, c: f32, d: U, e: f32) {
            a = scaled(X)
            b = scaled[3](X)
            c = scaled[e=0, k=n + 1](X)
            d = scaled[T=U](Z)
            e = scaled[n, 1, f32](X)
        }
    """
    marked(text)
    found = run(text, X=1, Z=1)
    assert [float(found[name]) for name in "abcde"] == [2.5, 3.5, 4, 2.5, 4]


def test_compile_time_arguments_may_be_symbolic(marked: Marked) -> None:
    marked("""
        fn scaled[k: int, e: f32, b: bool](x: f32) -> f32 = x * f32(k) + e if b else x
        fn same[T: dtype](x: T) -> T = x
        op f[n: int, e: f32, b: bool, T: number](X: T[N], Z: f32[N]) -> (Y: T[N], W: f32[N]) {
            Y[i] = same[T](X[i])
            W[i] = scaled[n + 1, e * 2, not b](Z[i])
        }
    """)


def test_wrong_compile_time_arguments(marked: Marked) -> None:
    marked("""
        fn g[k: int, T: float = f32](x: T) -> T = x * T(k)
        op f[U: number](X: f32[N], Z: f64, s: i64, V: U) -> (a: f32, b: f32, c: f32, d: f32, e: f32, h: f64, l: U) {
            a = g(1)  # error: [parameter] <g(1)> write `g[k=...]`
            b = g[2.5](1)  # error: [parameter] <2.5> `k` takes an integer, not a float
            c = g[s](1)  # error: [parameter] <s> `k` takes a constant
            d = g[N](1)  # error: [parameter] <N> `k` takes a constant
            e = g[1, i32](1)  # error: [parameter] <i32> `T` takes a dtype of class float, and i32 is not
            h = g[1, f32](Z)  # error: [dtype] <Z> `x` of `g` is f32, and is given f64
            l = g[1, U](V)  # error: [parameter] <U> `T` takes a dtype of class float, and U is not
        }
    """)


def test_a_default_dtype_holds_where_no_argument_fixes_it(marked: Marked) -> None:
    analysed = marked("""
        fn half[T: float = f64](x: T) -> T = x / 2
        op f(X: f16) -> (a: f16, b: f64) {
            a = half(X)
            t = half(1)
            b = t
        }
    """)
    assert str(check_op(analysed.module.ops["f"]).program.tensors["t"].dtype) == "f64"


def test_an_argument_is_evaluated_once_before_the_body(marked: Marked) -> None:
    analysed = marked("""
        fn square(x: f32) -> f32 = x * x + x
        op f(X: f32[N]) -> y: f32 { y = square(sum(X[k] for k)) }
    """)
    (definition,) = check_op(analysed.module.ops["f"]).program.definitions
    assert sum(isinstance(node, Access) for node in walk(definition.value)) == 1
    assert isinstance(definition.value, Let)


def test_an_argument_that_is_not_used_is_still_checked_and_evaluated(marked: Marked) -> None:
    analysed = marked("""
        fn first(x: f32, y: f32) -> f32 = x
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = first(X[i], X[i] * 2) }
        op g(X: f32[N]) -> Y: f32[N] { Y[i] = first(X[i], X[i + 1]) }  # error: [out-of-bounds] <X[i + 1]> N = 1
    """)
    (definition,) = check_op(analysed.module.ops["f"]).program.definitions
    assert any(isinstance(node, Let) for node in walk(definition.value))


def test_a_function_sees_its_module_and_not_its_caller(marked: Marked) -> None:
    marked("""
        fn g(x: f32) -> f32 = x * scale  # error: [unknown-name] <scale> unknown name `scale`
        op f(X: f32, scale: f32) -> Y: f32 { Y = g(X) }
    """)


def test_functions_call_functions_in_any_order(marked: Marked, run: Run) -> None:
    text = """
        op f(X: f32) -> Y: f32 { Y = a(X) }
        fn a(x: f32) -> f32 = b(x) + b(2 * x)
        fn b(x: f32) -> f32 = c(x + 1)
        fn c(x: f32) -> f32 = x * x
    """
    marked(text)
    assert run(text, X=1)["Y"] == 4 + 9


def test_an_argument_may_have_the_name_of_another_function_or_of_its_own(marked: Marked) -> None:
    marked("""
        fn scale(scale: f32) -> f32 = scale * 2
        fn f(g: f32) -> f32 = g
        fn g(f: f32) -> f32 = f
        op h(X: f32) -> Y: f32 { Y = f(g(scale(X))) }
    """)


# ---- recursion


def test_recursion_is_refused(marked: Marked) -> None:
    marked("""
        fn f(x: f32) -> f32 = f(x - 1) if x > 0 else 0  # error: [definition] <f> `f` refers to itself
        fn g(x: f32) -> f32 = h(x)  # error: [definition] <g> `g` refers to `h` and `k`, which refer back to it
        fn h(x: f32) -> f32 = k(x)
        fn k(x: f32) -> f32 = g(x) + 1
        fn l(x: f32) -> f32 = g(x) + f(x)
        op o(X: f32[N]) -> Y: f32[N] { Y[i] = f(X[i]) + g(X[i]) + h(X[i]) + l(X[i]) }
        test t: o(N=3)
    """)


def test_recursion_through_constants_and_reducers(marked: Marked) -> None:
    marked("""
        const A = f(1)  # error: [definition] <A> `A` refers to `f`, which refers back to it
        fn f(x: i64) -> i64 = x + A
        reducer r(a: f32, b: f32) -> f32 { identity g(0)  # error: [definition] <r> `r` refers to `g`
            combine a + b }
        fn g(x: f32) -> f32 = r(x for k in 0..3)
    """)


def test_long_chains_and_wide_expansions_are_refused_once(marked: Marked) -> None:
    chain = "\n".join(f"fn g{n}(x: f32) -> f32 = g{n - 1}(x) + 1" for n in range(1, 300))
    error = "  # error: [definition] <g40> refers to others more than 40 deep"
    for lines in (chain, "\n".join(reversed(chain.splitlines()))):
        text = lines.replace("= g39(x) + 1", "= g39(x) + 1" + error)
        marked(f"fn g0(x: f32) -> f32 = x\n{text}\nop f(X: f32) -> Y: f32 {{ Y = g299(X) }}")
    tree = "\n".join(f"fn h{n}(x: f32) -> f32 = h{n - 1}(x) * h{n - 1}(x)" for n in range(1, 30))
    found = errors(f"fn h0(x: f32) -> f32 = x + 1\n{tree}\nop f(X: f32) -> Y: f32 {{ Y = h29(X) }}")
    assert len(found) == 1
    assert "more than 10,000 parts" in found[0]


def errors(text: str) -> list[str]:
    return [diagnostic.message for diagnostic in analyse(Source("main.tdl", text)).diagnostics]
