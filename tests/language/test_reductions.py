"""Comprehensions: their binders and filters, the built-in reducers, and reducers of the module."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tdl.language.analysis import Analysis
from tdl.language.check import check_op
from tdl.language.tree import Reduce, walk

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, np.ndarray]]


# ---- binders


def test_binders_with_and_without_ranges(marked: Marked) -> None:
    marked("""
        op f(X: f32[M, N]) -> (a: f32, b: f32, C: f32[N], d: f32) where M >= 3 {
            a    = sum(X[i, j] for i, j)
            b    = sum(X[i, j] for i in 0..3, j if j % 2 == 0 and X[i, j] > 0)
            C[j] = max(X[i, j] for i)
            d    = sum(sum(X[i, j] for j) * X[i, 0 | 0] for i)
        }
    """)


def test_ends_may_use_enclosing_and_earlier_indices(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], z: f32) {
            Y[i] = sum(X[k] for k in 0..i) + sum(X[k] for k in i..N)
            z    = sum(X[a] * X[b] for a, b in 0..a)
        }
        op late(X: f32[N]) -> z: f32 { z = sum(X[a] * X[b] for a in 0..b, b) }  # error: [unknown-name] <b> name `b`
    """)


def test_ends_may_use_data(marked: Marked) -> None:
    analysed = marked("""
        op spmv(p: i64[M + 1], c: i32[Z], v: f32[Z], X: f32[N]) -> Y: f32[M] {
            Y[i] = sum(v[k] * X[c[k]] for k in p[i]..p[i + 1])
        }
    """)
    (definition,) = check_op(analysed.module.ops["spmv"]).program.definitions
    reads = {node.tensor: node.checked for node in walk(definition.value) if hasattr(node, "checked")}
    assert reads["v"] == (True,)
    assert reads["X"] == (True,)


def test_what_is_wrong_with_a_binder(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], s: f32) -> (a: f32, b: f32, c: f32, d: f32, e: f32, g: f32) {
            a = sum(X[k] for k in 0..s)  # error: [dtype] <s> the end of a range is f32, not an integer
            b = sum(X[k] for k in 0..missing)  # error: [unknown-name] <missing> unknown name `missing`
            c = sum(X[k] for k in 0..N if k)  # error: [dtype] <k> the filter is i64, not bool
            d = sum(X[N] for N in 0..3)  # error: [duplicate-name] <N> `N` already names something here
            e = sum(X[k] for k, k)  # error: [duplicate-name] <k> `k` already names something here
            g = sum(1 for k)  # error: [unbounded-index] <k> nothing bounds the reduction index `k`
        }
    """)


# ---- built-in reducers


@pytest.mark.parametrize(
    ("text", "empty", "full"),
    [
        ("sum(X[k] for k)", 0, 3),
        ("prod(X[k] for k)", 1, -4),
        ("max(X[k] for k)", -(2**31), 4),
        ("min(X[k] for k)", 2**31 - 1, -1),
    ],
)
def test_reducers_of_numbers_and_their_values_over_nothing(run: Run, text: str, empty: int, full: int) -> None:
    program = f"op f(X: i32[N]) -> y: i32 {{ y = {text} }}"
    assert run(program, X=[])["y"] == empty
    assert run(program, X=[-1, 4])["y"] == full


def test_reducers_of_floats_over_nothing(run: Run) -> None:
    found = run("op f(X: f32[N]) -> (a: f32, b: f32) { a = max(X[k] for k)\nb = min(X[k] for k) }", X=[])
    assert (found["a"], found["b"]) == (-np.inf, np.inf)


def test_any_and_all_take_bool(marked: Marked, run: Run) -> None:
    text = "op f(X: bool[N]) -> (a: bool, b: bool) { a = any(X[k] for k)\nb = all(X[k] for k) }"
    marked(text)
    assert run(text, X=[])["b"]
    assert not run(text, X=[])["a"]
    marked("op f(X: i32[N]) -> a: bool { a = all(X[k] for k) }  # error: [dtype] <X[k]> `all` takes bool, not i32")


def test_argmax_and_argmin_take_a_key_and_payloads(marked: Marked, run: Run) -> None:
    text = """
        op f(X: f32[N], B: bool[N]) -> (k: f32, i: i64, b: bool, l: f32, j: u8) {
            (k, i, b) = argmax((X[n], n, B[n]) for n)
            (l, j)    = argmin((X[n], u8(n)) for n)
        }
    """
    marked(text)
    found = run(text, X=[3, 9, 9, 1], B=[False, True, False, True])
    assert [found[name] for name in "kiblj"] == [9, 1, True, 1, 3]
    found = run(text, X=[], B=[])
    assert [found[name] for name in "kiblj"] == [-np.inf, 0, False, np.inf, 0]
    assert run(text, X=[1, np.nan, 5], B=[True] * 3)["i"] == 1


def test_what_is_wrong_with_the_use_of_a_built_in_reducer(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], b: bool) -> (a: f32, c: f32, d: f32, e: f32, g: f32, h: f32, p: f32, q: f32) {
            a = sum(X[0])  # error: [reducer] <sum(X[0])> `sum` is a reduction and has no `for`
            c = sum((X[k], X[k]) for k)  # error: [reducer] <(X[k], X[k])> `sum` takes one value
            (d, e) = argmax(X[k] for k)  # error: [reducer] <X[k]> `argmax` takes a tuple
            g = prod(b for k in 0..3)  # error: [dtype] <b> `prod` takes numbers, not bool
            h = sum[f32](X[k] for k)  # error: [arguments] `sum` has no compile-time parameters
            p = total(X[j] for j)  # error: [unknown-name] <total> unknown reducer `total`
            q = exp(X[j] for j)  # error: [reducer] <exp> `exp` is not a reducer
        }
    """)


def test_a_forgotten_for_is_said_once(marked: Marked) -> None:
    marked("""
        reducer r(a: f32, b: f32) -> f32 { identity 0
            combine a + b }
        op f(X: f32[N]) -> (a: f32, b: f32, c: f32) {
            a = sum(X[k])  # error: [reducer] <sum(X[k])> write what it runs over: `sum(X[i] for i)`
            b = max(X[k])  # error: [reducer] <max(X[k])> `max` is a reduction and has no `for`
            c = r(X[k], k)  # error: [reducer] <r(X[k], k)> `r` is a reduction and has no `for`
        }
    """)


def test_the_argument_of_a_sum_over_a_half_type_is_evaluated_in_f32(marked: Marked, run: Run) -> None:
    for dtype in ("f16", "bf16"):
        analysed = marked(f"op f(X: {dtype}[N]) -> y: {dtype} {{ y = sum(X[k] * X[k] + 1 for k) }}")
        (definition,) = check_op(analysed.module.ops["f"]).program.definitions
        (reduction,) = [node for node in walk(definition.value) if isinstance(node, Reduce)]
        assert {str(node.dtype) for node in walk(reduction.args[0]) if not hasattr(node, "tensor")} == {"f32"}
    found = run("op f(X: f16[N]) -> y: f16 { y = sum(X[k] * X[k] for k) - 1 }", X=[100, 150])
    assert found["y"] == np.float16(32499)


# ---- reducers of the module


def test_a_reducer_of_one_value(marked: Marked, run: Run) -> None:
    text = """
        reducer logsumexp[T: float](a: T, b: T) -> T {
            identity -inf
            combine  a if b == -inf else b if a == -inf else max(a, b) + log(1 + exp(-abs(a - b)))
        }
        op f(X: f32[N]) -> y: f32 { y = logsumexp(X[k] for k) }
    """
    marked(text)
    assert run(text, X=[])["y"] == -np.inf
    assert np.isclose(run(text, X=[0, 0])["y"], np.log(2))


def test_a_reducer_of_several_values(marked: Marked, run: Run) -> None:
    text = """
        reducer mean2[T: float]((s: T, n: T), (t: T, m: T)) -> (T, T) {
            identity (0, 0)
            combine  (s + t, n + m)
        }
        reducer last((a: f32, i: i64), (b: f32, j: i64)) -> (f32, i64) {
            identity (0, -1)
            combine  (a, i) if i > j else (b, j)
        }
        op f(X: f32[N]) -> (s: f32, n: f32, l: f32, i: i64) {
            (s, n) = mean2((X[k], 1) for k if X[k] > 0)
            (l, i) = last((X[k], k) for k)
        }
    """
    marked(text)
    found = run(text, X=[3, -1, 4])
    assert [found[name] for name in "snli"] == [7, 2, 4, 2]


def test_a_reducer_may_call_functions_and_use_constants_and_parameters(marked: Marked, run: Run) -> None:
    text = """
        const LIMIT = 100
        fn clip[T: number](x: T, hi: T) -> T = min(x, hi)
        reducer capped[limit: int = LIMIT](a: i32, b: i32) -> i32 { identity 0
            combine clip(a + b, i32(limit)) }
        op f(X: i32[N]) -> (y: i32, z: i32) {
            y = capped(X[k] for k)
            z = capped[limit=5](X[k] for k)
        }
    """
    marked(text)
    found = run(text, X=[60, 70])
    assert (found["y"], found["z"]) == (100, 5)


def test_dtype_parameters_of_a_reducer(marked: Marked) -> None:
    marked("""
        reducer add[T: number = f32](a: T, b: T) -> T { identity 0
            combine a + b }
        op f(X: f64[N], B: bool[N]) -> (w: f64, x: f32, y: f32, z: f64) {
            w = add(X[k] for k)
            x = add(1 for k in 0..3)
            y = add[f32](X[k] for k)  # error: [dtype] <X[k]> `add` and its argument are f32 and f64
            z = add(B[k] for k)  # error: [dtype] <B[k]> `add` and its argument are
        }
    """)


def test_what_is_wrong_with_a_reducer(marked: Marked) -> None:
    marked("""
        reducer a(x: f32, y: f32) -> f32 { identity true  # error: [dtype] <true> this value is bool
            combine x + y }
        reducer b(x: f32, y: f32) -> f32 { identity 0
            combine x < y }  # error: [dtype] <x < y> this value is bool, and f32 is declared
        reducer c(x: f32, y: f32) -> (f32, f32) { identity (0, 0)  # error: [reducer] <c> the left side has 1 value
            combine (x, y) }
        reducer d((s: f32, n: f32), (t: f32, m: f32)) -> (f32, f32) { identity 0  # error: [reducer] <0> tuple of 2
            combine (s + t, n, m) }  # error: [reducer] <(s + t, n, m)> this must be a tuple of 2 values
        reducer e(x: f32, x: f32) -> f32 { identity 0  # error: [duplicate-name] <x> `x` is declared twice
            combine x + x }
        reducer g(x: f32[3], y: f32) -> f32 { identity 0  # error: [definition] <f32[3]> take scalars
            combine y }
        reducer h(x: f32, y: f32) -> f32 { identity x  # error: [unknown-name] <x> unknown name `x`
            combine x + y }
        reducer i(x: f32, y: i32) -> f32 { identity 0  # error: [reducer] <y: i32> `y` is i32, and the result has f32
            combine x }
        op f(X: f32[N]) -> y: f32 {
            y = a(X[k] for k) + b(X[k] for k) + e(X[k] for k) + g(X[k] for k) + h(X[k] for k)
        }
    """)


def test_branches_of_a_reducer_of_several_values_are_tuples(marked: Marked) -> None:
    marked("""
        reducer a((s: f32, n: i64), (t: f32, m: i64)) -> (f32, i64) { identity (0, 0)
            combine (s, n) if s > t else t }  # error: [reducer] <t> this must be a tuple of 2 values
        reducer b((s: f32, n: i64), (t: f32, m: i64)) -> (f32, i64) { identity (0, 0)
            combine (s, n, n) if s > t else (t, m) }  # error: [reducer] <(s, n, n)> this must be a tuple of 2 values
        reducer c((s: f32, n: i64), (t: f32, m: i64)) -> (f32, i64) { identity (0, 0)
            combine (s, n) if s > t else (t, m) if m > n else (s + t, 0) }
        op f(X: f32[N]) -> (y: f32, z: i64) { (y, z) = a((X[k], k) for k) }
    """)


def test_a_reducer_needs_both_of_its_parts(marked: Marked) -> None:
    marked("""
        reducer a(x: f32, y: f32) -> f32 { identity 0 }  # error: [reducer] `combine`
        reducer b(x: f32, y: f32) -> f32 { combine x + y }  # error: [reducer] `identity`
        op f(X: f32[N]) -> y: f32 { y = a(X[k] for k) + b(X[k] for k) }
    """)


def test_what_is_wrong_with_the_use_of_a_reducer(marked: Marked) -> None:
    marked("""
        reducer two((s: f32, n: f32), (t: f32, m: f32)) -> (f32, f32) { identity (0, 0)
            combine (s + t, n + m) }
        fn g(x: f32) -> f32 = x
        op f(X: f32[N]) -> (a: f32, b: f32, c: f32, d: f32, e: f32) {
            a = two((X[k], 1) for k)  # error: [reducer] <two((X[k], 1) for k)> define all of them
            (b, c) = two(X[k] for k)  # error: [reducer] <X[k]> `two` takes 2 values, not 1
            d = two(X[0 | 0], X[1 | 0])  # error: [reducer] <two(X[0 | 0], X[1 | 0])> and has no `for`
            e = g(X[k] for k)  # error: [reducer] <g> `g` is not a reducer
        }
    """)


def test_a_reducer_that_refers_to_itself(marked: Marked) -> None:
    marked("""
        reducer r(a: f32, b: f32) -> f32 { identity 0  # error: [definition] <r> `r` refers to itself
            combine r(a for k in 0..2) + b }
        op f(X: f32[N]) -> y: f32 { y = r(X[k] for k) }
    """)
