"""Definitions: left-hand sides, ranges, filters, several targets, scalars, boundaries, and what is missing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tdl.language.analysis import Analysis
from tdl.language.check import check_op

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, np.ndarray]]


# ---- left-hand sides


def test_a_left_hand_subscript_is_an_index_a_pack_or_arithmetic_on_sizes(marked: Marked) -> None:
    marked("""
        const LAST = 2
        op f[p: int = 1](X: f32[N], Z: f32[..S]) -> (Y: f32[N], W: f32[..S], V: f32[4, N + 1]) where N >= 3 {
            Y[0]        = 0
            Y[N - 1]    = 1
            Y[i]        = X[i]      for i in 1..N-1
            W[..i]      = Z[..i]
            V[p, j]     = 1
            V[LAST, j]  = 2
            V[p - 1, j] = 0
            V[4 - p, N] = 3
            V[3, j]     = 3         for j in 0..N
        }
    """)


def test_other_left_hand_subscripts(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], I: i32[N], s: i32) -> (A: f32[N], B: f32[N], C: f32[N], D: f32[N], E: f32[N], G: f32[N]) {
            A[i + 1] = X[i]  # error: [definition] <i + 1> `i` stands in an expression on the left-hand side
            B[I[i]]  = X[i]  # error: [definition] <I[i]> a left-hand subscript is an index alone
            C[s]     = 0  # error: [duplicate-name] <s> `s` already names something in this op
            D[N*N]   = 0  # error: [definition] <N*N> a left-hand subscript is affine
            E[2.5]   = 0  # error: [dtype] <2.5> a left-hand subscript is a float, not an integer
            G["a"]   = 0  # error: [not-a-value] <"a"> a string is not a value
        }
    """)


def test_a_tensor_is_defined_with_all_of_its_subscripts(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N, N], Z: f32[N], w: f32) {
            Y[i] = X[i]  # error: [rank] <Y[i]> `Y` has 2 dimensions and is defined with 1 subscript
            Z[i, j] = X[i]  # error: [rank] <Z[i, j]> `Z` has 1 dimension and is defined with 2 subscripts
            w[i] = X[i]  # error: [rank] <w[i]> `w` has 0 dimensions and is defined with 1 subscript
            t[i] = X[i]
            t[..p, i, j] = X[i]  # error: [rank] <..p> more subscripts than the tensor
            t[i, j] = X[i]  # error: [rank] <t[i, j]> `t` has 1 dimension and is defined with 2 subscripts
        }
    """)


def test_an_input_is_not_defined(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], s: f32) -> Y: f32[N] {
            X[0] = 0  # error: [definition] <X> `X` is an input; inputs are given, not defined
            s = 1  # error: [definition] <s> `s` is an input
            Y[i] = X[i] + s
        }
    """)


# ---- for


def test_for_lists_any_of_the_left_hand_indices_with_or_without_a_range(marked: Marked) -> None:
    marked("""
        op f(X: f32[M, N]) -> (A: f32[M, N], B: f32[M, N], C: f32[M, N]) where M >= 1 {
            A[i, j] = X[i, j] for j, i in 0..M
            B[i, j] = X[i, j] for j
            C[0, j] = X[0, j]
            C[i, j] = X[i, j] for i in 1..M if i > 0
        }
        op pack(X: f32[..S]) -> Y: f32[..S] { Y[..i] = X[..i] for ..i }
    """)


def test_for_lists_no_others(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], Z: f32[N], W: f32[N]) {
            Y[i] = X[i] for k in 0..3  # error: [definition] <k> `k` is not an index of the left-hand side
            Z[i] = X[i] for i in 0..N, i in 0..N  # error: [duplicate-name] <i> `i` is listed twice
            W[i] = X[i] for N in 0..3  # error: [definition] <N> `N` is not an index of the left-hand side
        }
    """)


def test_range_ends_are_arithmetic_on_sizes_and_parameters(marked: Marked) -> None:
    marked("""
        const ONE = 1
        op f[k: int = 2](X: f32[N], I: i64[N], s: i32) -> (A: f32[N], B: f32[N], C: f32[N], D: f32[N], E: f32[N]) {
            A[i] = X[i] for i in (ONE - 1)*k..max(N, N - k)
            B[i] = X[i] for i in 0..s  # error: [definition] <s> arithmetic on sizes
            C[i] = X[i] for i in 0..I[0]  # error: [definition] <I[0]> data can decide in a filter
            D[i] = X[i] for i in 0..2.5  # error: [dtype] <2.5> the end of a range is a float, not an integer
            E[i] = X[i] for i in 0..i  # error: [definition] <i> the range of `i` depends on the index `i`
        }
        op g(X: f32[N, N]) -> Y: f32[N, N] {
            Y[i, j] = X[i, j] for i in 0..N, j in 0..i  # error: [definition] <i> give `j` its whole range, and filter
        }
        op h(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] for i in 0..N if N > 3 else 2 }  # error: [syntax] <else> expected
    """)


def test_a_range_that_ends_before_it_starts_is_empty(run: Run) -> None:
    found = run("""
        op f(X: f32[N]) -> (Y: f32[N], s: f32) {
            Y[i] = X[i] for i in 0..N
            Y[i] = 7    for i in N..N-5
            s    = sum(X[k] for k in 3..1)
        }
    """, X=[1, 2])  # fmt: skip
    assert found["Y"].tolist() == [1, 2]
    assert found["s"] == 0


# ---- filters


def test_filters_divide_an_index_range(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] {
            Y[i] = X[i]      for i if i % 2 == 0
            Y[i] = -X[i - 1] for i if i % 2 == 1
        }
    """)


def test_an_if_without_for_is_a_conditional_that_lacks_its_else(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] {
            Y[i] = X[i] if i > 2  # error: [definition] <X[i] if i > 2> `if` without `else` is not a value
        }
    """)


# ---- several targets


def test_several_tensors_from_one_reduction_or_tuple(marked: Marked) -> None:
    marked("""
        op f(X: f32[M, N]) -> (V: f32[M], I: i32[M], A: f32[M], B: i64[M]) {
            (V[i], I[i]) = argmax((X[i, j], i32(j)) for j)
            (A[i], B[i]) = (V[i] * 2, i)
        }
        op three(X: f32[N]) -> (k: f32, a: i64, b: bool) { (k, a, b) = argmin((X[i], i, X[i] > 0) for i) }
    """)


def test_all_targets_have_the_same_indices(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (A: f32[N], B: f32[N, N], C: f32[N], D: f32[N], E: f32[N], G: f32) {
            (A[i], B[i, j]) = (X[i], X[j])  # error: [definition] <B[i, j]> all tensors of one definition
            (C[i], D[j]) = (X[i], X[i])  # error: [definition] <D[j]> all tensors of one definition
            (E[i], G) = argmax((X[k], X[i]) for k)  # error: [definition] <G> all tensors of one definition
        }
    """)


def test_a_definition_gives_as_many_values_as_it_has_targets(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (A: f32[N], B: f32[N], C: f32, D: f32, E: f32, G: f32, H: f32, I: f32) {
            (A[i], B[i]) = X[i]  # error: [definition] <X[i]> 2 tensors are defined by 1 value
            (C, D) = sum(X[k] for k)  # error: [definition] `sum` gives 1 value for 2 tensors
            (E, G) = argmax((X[k], X[k], k) for k)  # error: [definition] `argmax` gives 3 values for 2 tensors
            (H, I) = (1, 2, 3)  # error: [definition] <(1, 2, 3)> 2 tensors are defined by 3 values
        }
    """)


def test_one_target_takes_one_value(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (A: f32, B: f32) {
            A = (1, 2)  # error: [not-a-value] <(1, 2)> a tuple is not a single value
            B = argmax((X[k], k) for k)  # error: [reducer] <argmax((X[k], k) for k)> define all of them
        }
    """)


def test_a_result_of_several_need_not_be_used(marked: Marked) -> None:
    marked("""
        op f(X: f32[M, N]) -> I: i32[M] { (V[i], I[i]) = argmax((X[i, j], i32(j)) for j) }
    """)


def test_a_tensor_that_is_defined_twice_at_once(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> V: f32[N] {
            (V[i], V[i]) = (X[i], 0)  # error: [overlap] `V[0]` is written twice
        }
    """)


# ---- scalars


def test_scalars_are_read_and_defined_by_their_name(marked: Marked, run: Run) -> None:
    text = """
        op f(X: f32[N], scale: f32, n: i64) -> (y: f32, z: i64) {
            total = sum(X[k] for k)
            y     = total * scale
            z     = n + 1
        }
    """
    marked(text)
    found = run(text, X=[1, 2], scale=0.5, n=3)
    assert (found["y"], found["z"]) == (1.5, 4)


def test_tensors_are_read_with_all_of_their_subscripts(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], Z: f32[M, N], s: f32) -> (a: f32, b: f32, c: f32, d: f32, e: f32) {
            a = X  # error: [rank] <X> write its subscripts: `X[i]`
            b = Z[0]  # error: [rank] <Z[0]> `Z` has 2 dimensions and is read with 1 subscript
            c = X[0, 0]  # error: [rank] <X[0, 0]> `X` has 1 dimension and is read with 2 subscripts
            d = s[0]  # error: [rank] <s[0]> `s` has 0 dimensions and is read with 1 subscript
            t[i, j] = Z[i, j]
            e = t[0 | 0]  # error: [rank] <t[0 | 0]> `t` has 2 dimensions and is read with 1 subscript
        }
    """)


# ---- boundaries


def test_a_boundary_value_is_any_constant_expression(marked: Marked) -> None:
    marked("""
        const PAD = 0.5
        fn half(x: f32) -> f32 = x / 2
        op f[e: f32 = 1, k: int = 1](X: f32[N], I: i64[N]) -> (Y: f32[N], Z: i64[N]) {
            Y[i] = X[i - 1 | 0] + X[i - 1 | -inf] + X[i | PAD * 2 + 1] + X[i | half(e)] + X[i | f32(k)]
            Z[i] = I[i + 1 | k - 1] + I[i | 9223372036854775807]
        }
    """)


def test_what_is_no_boundary_value(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], I: u8[N], s: f32) -> (A: f32[N], B: f32[N], C: u8[N], D: f32[N], E: f32[N], G: f32[N]) {
            A[i] = X[i | s]  # error: [boundary] <s> what is read outside is a constant
            B[i] = X[i | X[0 | 0]]  # error: [boundary] <X[0 | 0]> what is read outside is a constant
            C[i] = I[i | 256]  # error: [literal] <256> u8 cannot hold 256
            D[i] = X[i | f32(i)]  # error: [boundary] <f32(i)> what is read outside is a constant
            E[i] = X[i | true]  # error: [dtype] <true> `X` and its boundary value are f32 and bool
            G[i] = X[i | clamp]  # error: [unknown-name] <clamp> unknown name `clamp`
        }
    """)


@pytest.mark.parametrize("mode", ["edge", "wrap", "mirror"])
def test_modes_need_a_tensor_that_is_not_empty(marked: Marked, mode: str) -> None:
    marked(f"op f(X: f32[N]) -> Y: f32[N] {{ Y[i] = X[i - 1 | {mode}] }}")
    marked(f"op f(X: f32[N]) -> Y: f32 {{ Y = X[3 | {mode}] }}  # error: [boundary] N = 0: `X` is empty")


def test_a_scalar_has_no_subscripts_to_bound(marked: Marked) -> None:
    marked("op f(s: f32) -> Y: f32 { Y = s[| 0] }  # error: [syntax] expected")


# ---- bodies


def test_definitions_may_refer_to_each_other_in_any_order(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] {
            Y[i] = c[i]
            c[i] = b[i] + a
            b[i] = X[i] * a
            a    = sum(X[k] for k)
        }
    """)


def test_missing_outputs_are_each_reported(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (A: f32[N], B: f32[N, N], c: f32, D: f32[N]) { D[i] = X[i] }
        # error: [missing-output] <A> no definition gives the output `A`
        # error: [missing-output] <B> `B[i, j] = ...`
        # error: [missing-output] <c> `c = ...`
        op empty(X: f32[N]) -> Y: f32[N] { }  # error: [missing-output] <Y> no definition gives the output `Y`
        op blank() -> Y: f32 {  # error: [missing-output] <Y> no definition gives the output `Y`
            # nothing
        }
    """)


def test_an_output_is_not_missing_where_a_broken_statement_may_have_defined_it(marked: Marked) -> None:
    marked("""
        op a(X: f32[N]) -> Y: f32[N] { return X }  # error: [syntax] <X> expected `:` or `=`
        op b(X: f32[N]) -> Y: f32[N] { for i in 0..N { Y[i] = X[i] } }  # error: [syntax] <for> reserved word
        op c(X: f32[N]) -> Y: f32[N] { Y[i] += X[i] }  # error: [syntax] <+> expected
        op d(X: f32[N]) -> Y: f32[N] { t[i] = X[ }  # error: [missing-output] <Y> no definition gives the output `Y`
        # error: [syntax] <}> expected an expression
        op e(X: f32[N]) -> (Y: f32[N], Z: f32[N]) { Y[i] = X[ }  # error: [missing-output] <Z> no definition
        # error: [syntax] <}> expected an expression
    """)


def test_an_op_needs_no_inputs(marked: Marked, run: Run) -> None:
    text = "op f() -> (Y: i64[3], z: bool) { Y[i] = i * i\nz = true }\ntest t: f() expect Y = [0, 1, 4], z = true"
    marked(text)
    assert run(text)["Y"].tolist() == [0, 1, 4]


def test_names_of_documentation_are_kept(marked: Marked) -> None:
    analysed = marked("""
        ## What it does.
        op f(X: f32[N]) -> Y: f32[N] {
            ## Twice the input.
            t[i] = X[i] * 2
            Y[i] = t[i]
        }
    """)
    program = check_op(analysed.module.ops["f"]).program
    assert program.doc == "What it does."
    assert program.tensors["t"].doc == "Twice the input."


def test_independent_errors_are_all_reported(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], b: bool) -> (A: f32[N], B: f32[N], C: f32[N], D: f32[N]) where N >= 1 {
            A[i] = X[i] + b + missing  # error: [dtype] <b> `+` takes numbers, not bool
            # error: [unknown-name] <missing> unknown name `missing`
            B[i] = X[i + 1]  # error: [out-of-bounds] <X[i + 1]> reads outside of `X`
            C[0] = 0  # error: [uncovered] no definition gives `C[1]`
            D[i] = D[i + 1 | 0] + D[i - 1 | 0]  # error: [cycle] depends on itself
        }
        op g(X: f32[N]) -> Y: f64[N] { Y[i] = X[i] }  # error: [dtype] <X[i]> `Y` is f64
    """)


def test_data_dependent_subscripts_are_left_to_run_time_and_ranges_of_definitions_are_not(marked: Marked) -> None:
    marked("""
        op gather(X: f32[V, D], I: i32[N]) -> Y: f32[N, D] { Y[n, d] = X[I[n], d] }
        op nested(X: i64[N]) -> Y: i64[N] { Y[i] = X[X[X[i]]] }
        op rows(X: f32[N], p: i64[M + 1]) -> Y: f32[M] { Y[i] = sum(X[k] for k in p[i]..p[i + 1]) }
        op bad(X: f32[V, D], I: i32[N]) -> Y: f32[N, D] { Y[n, d] = X[I[n + 1], d] }
        # error: [out-of-bounds] <I[n + 1]> N = 1, n = 0: I[1]
        op set(X: f32[N], n: i64) -> Y: f32[N] { Y[i] = X[i] for i in 0..n }  # error: [definition] <n> on sizes
    """)
