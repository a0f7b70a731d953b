"""Names: one namespace inside an op, one of callables, and what hides what."""

from __future__ import annotations

from collections.abc import Callable

from tdl.language.analysis import Analysis

Marked = Callable[..., Analysis]


# ---- one namespace in an op, each name declared once


def test_parameters_dimensions_inputs_outputs_and_intermediates_share_a_namespace(marked: Marked) -> None:
    marked("""
        op a[N: int = 1](N: f32[3]) -> Y: f32 { Y = 0 }  # error: [duplicate-name] <N> `N` is declared twice
        op b(X: f32[N], X: f32[N]) -> Y: f32 { Y = 0 }  # error: [duplicate-name] <X> `X` is declared twice
        op c(X: f32[N]) -> X: f32[N] { X[i] = 0 }  # error: [duplicate-name] <X> `X` is declared twice
        op d(X: f32[N]) -> N: f32 { N = 0 }  # error: [duplicate-name] <N> `N` is declared twice
        op e(X: f32[..S]) -> S: f32 { S = 0 }  # error: [duplicate-name] <S> `S` is declared twice
        op f[k: int = 1, k: int = 2](X: f32) -> Y: f32 { Y = X }  # error: [duplicate-name] <k> `k` is declared twice
        op g(X: f32[N]) -> Y: f32[N] {
            let X: f32[N]  # error: [duplicate-name] <X> `X` is declared twice
            let t: f32[N]
            let t: f32[N]  # error: [duplicate-name] <t> `t` is declared twice
            t[i] = X[i]
            Y[i] = t[i]
        }
    """)


def test_a_pack_and_a_dimension_cannot_have_one_name(marked: Marked) -> None:
    marked("op f(X: f32[S], Z: f32[..S]) -> Y: f32 { Y = 0 }  # error: [duplicate-name] <S> `S` is declared twice")


def test_a_dimension_may_stand_in_several_shapes_and_need_not_be_used(marked: Marked) -> None:
    marked("op f(X: f32[N, M], Z: f32[N, K]) -> Y: f32[N] { Y[i] = 0 }")


def test_only_tensors_are_defined(marked: Marked) -> None:
    marked("""
        op f[k: int = 1](X: f32[N]) -> Y: f32[N] {
            N = 3  # error: [not-a-value] <N> `N` is not a tensor
            k = 3  # error: [not-a-value] <k> `k` is not a tensor
            X[i] = 0  # error: [definition] <X> `X` is an input
            Y[i] = X[i]
        }
    """)


# ---- index names


def test_index_names_belong_to_their_definition(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], Z: f32[N]) {
            Y[i] = X[i]
            Z[i] = sum(X[k] for k) + sum(X[k] for k)
        }
    """)


def test_an_index_is_not_known_outside_of_its_definition_or_comprehension(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], Z: f32) {
            Y[i] = sum(X[k] for k) + X[k]  # error: [unknown-name] <k> unknown name `k`
            Z    = X[i]  # error: [unknown-name] <i> unknown name `i`
        }
    """)


def test_an_index_does_not_repeat_an_enclosing_index(marked: Marked) -> None:
    marked("""
        op f(X: f32[N, N]) -> (Y: f32[N], Z: f32) {
            Y[i] = sum(X[i, i] for i)  # error: [duplicate-name] <i> `i` already names something
            Z    = sum(sum(X[k, k] for k) for k)  # error: [duplicate-name] <k> `k` already names something
        }
        op g(X: f32[N, N]) -> Y: f32 { Y = sum(X[k, k] for k, k) }  # error: [duplicate-name] <k> `k` already names
    """)


def test_an_index_does_not_repeat_a_name_of_the_op(marked: Marked) -> None:
    marked("""
        op f[p: int = 1](X: f32[N]) -> (A: f32[N], B: f32[N], C: f32, D: f32) {
            A[X] = 0  # error: [duplicate-name] <X> `X` already names something in this op
            B[t] = X[0 | 0]  # error: [duplicate-name] <t> `t` already names something in this op
            C    = sum(X[N] for N)  # error: [duplicate-name] <N> `N` already names something
            D    = sum(X[p] for p)  # error: [duplicate-name] <p> `p` already names something
            t    = 1
        }
    """)


def test_an_index_stands_once_on_the_left(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N, N] {
            Y[i, i] = X[i]  # error: [duplicate-name] <i> `i` stands twice on the left-hand side
        }
    """)


# ---- hiding


def test_names_of_an_op_hide_those_of_the_module(marked: Marked) -> None:
    marked("""
        const EPS = 1e-5
        const i = 3
        const t = true
        op f[EPS: int = 2](X: f32[t]) -> Y: f32[t] where EPS >= 0 { Y[k] = X[k] }  # error: [dtype] <t> is bool
        # error: [dtype] <t> is bool
        op g[EPS: int = 2](X: f32[N]) -> Y: f32[EPS*N] { Y[k] = X[k // 2] }
        op h(EPS: f32[N]) -> Y: f32[N] {
            t[k] = EPS[k]
            Y[k] = t[k]
        }
        op index(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] for i in 0..N }
        op constant(X: f32[N]) -> Y: f32[i + 1] { Y[k] = sum(X[j] for j) }
    """)


def test_a_dimension_that_is_a_constant_of_the_module_is_that_constant(marked: Marked) -> None:
    analysed = marked("""
        const N = 4
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
        test good: f(X=[1, 2, 3, 4])
        test bad: f(X=[1, 2, 3])  # error: [shape] <X=[1, 2, 3]> dimension 0 of `X` is 3, and should be 4
        test none: f(N=4)  # error: [shape] <N=4> `f` has no dimension `N`
    """)
    assert analysed.module.find("value", "N") is not None


def test_a_left_hand_subscript_that_is_a_constant_is_no_index_unless_for_lists_it(marked: Marked) -> None:
    marked("""
        const LAST = 3
        op f(X: f32[4]) -> Y: f32[4] {
            Y[LAST] = 0
            Y[i]    = X[i] for i in 0..LAST
        }
        op g(X: f32[4]) -> Y: f32[4] { Y[LAST] = X[LAST] for LAST in 0..4 }
    """)


def test_functions_are_a_namespace_of_their_own(marked: Marked) -> None:
    marked("""
        const gelu = 2.0
        fn gelu(x: f32) -> f32 = x * gelu
        op f(exp: f32[N], gelu: f32[N]) -> sum: f32[N] {
            max[i] = exp(exp[i]) + gelu(gelu[i])
            sum[i] = max(max[i], sum(max[k] for k))
        }
    """)


def test_a_function_of_the_module_hides_a_built_in_one(marked: Marked) -> None:
    marked("""
        fn exp(x: f64) -> f64 = x
        op f(X: f32[N]) -> Y: f64[N] { Y[i] = exp(X[i]) }  # error: [dtype] <X[i]> `x` of `exp` is f64, and is given f32
    """)


def test_an_op_may_call_a_function_of_its_own_name_only_if_it_is_one(marked: Marked) -> None:
    marked("""
        op exp(X: f32[N]) -> Y: f32[N] { Y[i] = exp(X[i]) }
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = exp(X[i]) }  # error: [not-a-value] <exp(X[i])> `exp` is an op
    """)


# ---- unknown and misused names


def test_unknown_names_are_reported_each_with_what_was_likely_meant(marked: Marked) -> None:
    marked("""
        const EPSILON = 1e-5
        fn smooth_step(x: f32) -> f32 = x * x
        op f(X: f32[N], bias: f32[N]) -> Y: f32[N] {
            a[i] = X[i] + bais[i]  # error: [unknown-name] <bais> did you mean `bias`?
            b[i] = X[i] + EPSILN  # error: [unknown-name] <EPSILN> did you mean `EPSILON`?
            c[i] = smoth_step(X[i])  # error: [unknown-name] <smoth_step> did you mean `smooth_step`?
            d[i] = pord(X[k] for k)  # error: [unknown-name] <pord> did you mean `prod`?
            e[i] = fp32(X[i])  # error: [unknown-name] <fp32> did you mean `f32`?
            h[i] = X[i] if True else NaN  # error: [unknown-name] <True> did you mean `true`?
            # error: [unknown-name] <NaN> did you mean `nan`?
            Y[i] = a[i] + b[i] + c[i] + d[i] + e[i] + h[i]
        }
    """)


def test_a_suggestion_is_a_fix(marked: Marked) -> None:
    (error,) = marked("""
        op f(X: f32[N], bias: f32[N]) -> Y: f32[N] { Y[i] = X[i] + bais[i] }  # error: [unknown-name] <bais> tensor
    """).diagnostics
    (fix,) = error.fixes
    assert (fix.text, fix.span) == ("bias", error.primary)


def test_names_used_as_what_they_are_not(marked: Marked) -> None:
    marked("""
        const C = 1.0
        fn g(x: f32) -> f32 = x
        op f[T: float = f32](X: f32[N], Z: f32[..S]) -> Y: f32 {
            a = f32  # error: [not-a-value] <f32> `f32` is a dtype
            b = T  # error: [not-a-value] <T> `T` is a dtype
            c = g  # error: [not-a-value] <g> `g` is a function
            d = S  # error: [not-a-value] <S> `S` is a pack
            e = N[0]  # error: [not-a-value] <N> `N` is not a tensor
            h = C[0]  # error: [not-a-value] <C> `C` is a constant
            k = "text"  # error: [not-a-value] <"text"> a string is not a value
            l = [1, 2]  # error: [not-a-value] <[1, 2]> a list is not a value
            m = (1, 2)  # error: [not-a-value] <(1, 2)> a tuple is not a single value
            Y = a + b + c + d + e + h + k + l + m
        }
    """)


def test_words_of_schedules_are_free_elsewhere(marked: Marked) -> None:
    marked("""
        op split(layout: f32[by]) -> vectorize: f32[by] {
            at[into]        = layout[into]
            vectorize[pad] = at[pad] + sum(layout[edge] for edge)
        }
    """)


def test_names_may_be_of_any_script(marked: Marked) -> None:
    marked("op größe(α: f32[Ν]) -> β: f32[Ν] { β[ι] = α[ι] * 2 }")


# ---- one mistake, one message


def test_what_follows_from_a_broken_name_is_silent(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] {
            a[i] = missing[i]  # error: [unknown-name] <missing> unknown tensor `missing`
            b[i] = a[i] + true  # error: [dtype] <true> takes numbers, not bool
            c[i] = b[i] * a[i]
            Y[i] = sum(c[k] for k) + other  # error: [unknown-name] <other> unknown name `other`
        }
        test t: f(N=3)
    """)


def test_a_broken_definition_still_defines_its_left_hand_side(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> (Y: f32[N], Z: f32[N]) {
            a[i] = X[i] +* 2  # error: [syntax] <*> expected an expression
            (b[i], Z[i]) = argmax((X[k], i) for k  # error: [syntax] expected
            Y[i] = a[i] + b[i]
        }
        test t: f(N=3)
    """)


def test_a_broken_item_still_declares_its_name(marked: Marked) -> None:
    marked("""
        const A = )  # error: [syntax] <)> expected an expression
        fn g(x: f32) -> = x  # error: [syntax] <=> expected
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = g(X[i]) * A }
        op h(X: f32[N) -> Y: f32[N] { Y[i] = X[i] }  # error: [syntax] <)> expected
        test t: f(N=3)
        test u: h(N=3)
    """)


def test_wrong_heads_are_reported_once_and_bodies_still_checked(marked: Marked) -> None:
    marked("""
        op f(X: f32[N], Z: what[N]) -> Y: f32[Q] {  # error: [unknown-name] <what> unknown dtype
        # error: [unknown-name] <Q> unknown name `Q`
            Y[i] = X[i] + Z[i]
            a    = 1 + true  # error: [dtype] <true> takes numbers, not bool
        }
    """)
