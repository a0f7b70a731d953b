"""Shapes: dimensions, packs and facts, in declarations and as arguments fix them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tdl.language.analysis import Analysis
from tdl.language.check import check_op

Marked = Callable[..., Analysis]


# ---- declared dimensions


def test_dimensions_are_integer_expressions_over_constants_parameters_and_dimensions(marked: Marked) -> None:
    marked("""
        const K = 3
        op f[p: int = 2](X: f32[M, 2*N, 3], Z: f32[N, K + 1, p*N - 1])
            -> (Y: f32[M + N, max(M, N)], W: f32[(M + 2*p - K)//p + 1, M % 8]) where M >= 3 {
            Y[i, j] = 0
            W[i, j] = 0
        }
    """)


def test_dimensions_are_not_data_and_not_floats(marked: Marked) -> None:
    marked("""
        op a(n: i64, X: f32[n]) -> Y: f32 { Y = 0 }  # error: [duplicate-name] <n> `n` is declared twice
        op b(I: i32[N]) -> Y: f32[I[0]] { Y[i] = 0 }  # error: [shape] <I[0]> a dimension is arithmetic on sizes
        op c(X: f32[2.5]) -> Y: f32 { Y = 0 }  # error: [dtype] <2.5> a dimension is a float, not an integer
        op d(X: f32[N/2]) -> Y: f32 { Y = 0 }  # error: [dtype] <N/2> `//` divides integers
        op e(X: f32[N]) -> Y: f32[N if N > 3 else 3] { Y[i] = 0 }  # error: [shape] arithmetic on sizes
        op g(X: f32[true]) -> Y: f32 { Y = 0 }  # error: [dtype] <true> a dimension is bool, not an integer
    """)


def test_dimensions_of_outputs_come_from_the_inputs(marked: Marked) -> None:
    marked("op f(X: f32[N]) -> Y: f32[M] { Y[i] = 0 }  # error: [unknown-name] <M> unknown name `M`")
    marked("op f(X: f32[N]) -> Y: f32[..S] { Y[..i] = 0 }  # error: [unknown-name] <S> unknown pack `S`")
    marked("op f(X: f32[N]) -> Y: f32[..N] { Y[..i] = 0 }  # error: [not-a-value] <..N> `N` is not a pack")


def test_a_shape_has_at_most_one_pack(marked: Marked) -> None:
    marked("""
        op f(X: f32[..S, ..T]) -> Y: f32 { Y = X[0, 0] }  # error: [definition] <..T> a shape has at most one pack
        op g(X: f32[..S], Z: f32[3, ..S, N], W: f32[..T]) -> Y: f32[..S] { Y[..i] = X[..i] }
    """)


def test_a_constant_dimension_is_not_negative(marked: Marked) -> None:
    marked("""
        const D = -2
        op f(X: f32[-1]) -> Y: f32 { Y = 0 }  # error: [shape] <-1> a dimension is not negative, and this is -1
        op g(X: f32[1 + D]) -> Y: f32 { Y = 0 }  # error: [shape] <1 + D> a dimension is not negative, and this is -1
        op h(X: f32[0]) -> Y: f32[0] { Y[i] = X[i] }
    """)


def test_every_declared_dimension_is_known_not_to_be_negative(marked: Marked) -> None:
    marked("""
        op f(X: f32[H]) -> Y: f32[H - 2] { Y[i] = X[i] + X[i + 1] + X[i + 2] }
        op g(X: f32[H]) -> Y: f32[H] { Y[0] = X[2] }  # error: [out-of-bounds] <Y[0]> H = 0: Y[0]
        # error: [out-of-bounds] <X[2]> H = 0: X[2]
        test small: f(H=2)
        test wrong: f(H=1)  # error: [fact] <H=1> H - 2 would be negative at H = 1
    """)


@pytest.mark.parametrize("form", ["M*K", "M//2", "M % 4", "max(M, 3)", "M + K", "M*M"])
def test_an_input_dimension_that_can_never_be_solved(marked: Marked, form: str) -> None:
    marked(
        f"op f(X: f32[{form}]) -> Y: f32 {{ Y = 0 }}"
        f"  # error: [unsolved-dimension] <{form}> no argument can fix the dimension `M`"
    )


def test_every_dimension_that_cannot_be_solved_is_reported_once(marked: Marked) -> None:
    marked("""
        op f(X: f32[A*B, A*B], Z: f32[..S, 3, C*D], W: f32[E, E*G]) -> Y: f32 { Y = 0 }
        # error: [unsolved-dimension] <A*B> no argument can fix the dimension `A`
        # error: [unsolved-dimension] <C*D> no argument can fix the dimension `C`
    """)


def test_what_another_input_fixes_is_known(marked: Marked) -> None:
    marked("""
        op f(X: f32[M*K], Z: f32[K, K + M], W: f32[2*L + 1, L//2]) -> Y: f32 { Y = 0 }
        test t: f(X=[1, 2, 3, 4, 5, 6], Z=[[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]], W=[[1], [1], [1], [1], [1]])
    """)


# ---- matching arguments


def test_dimensions_linear_in_one_unknown_are_solved_exactly(marked: Marked) -> None:
    marked("""
        op f(X: f32[2*N + 1]) -> Y: f32[N] { Y[i] = X[2*i] }
        test good: f(X=[1, 2, 3, 4, 5]) expect Y = [1, 3]
        test none: f(X=[1]) expect Y = []
        test even: f(X=[1, 2])  # error: [shape] <X=[1, 2]> `X` has 2 in dimension 0, and no N gives 2*N + 1 = 2
        test zero: f(X=[])  # error: [shape] <X=[]> no N gives 2*N + 1 = 0
        op g(X: f32[10 - N]) -> Y: f32[N] { Y[i] = 0 }
        test down: g(X=[1, 2, 3]) expect Y = [0, 0, 0, 0, 0, 0, 0]
        test more: g(X=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])  # error: [shape] `X` has 11 in dimension 0
    """)


def test_known_dimensions_are_compared(marked: Marked) -> None:
    marked("""
        op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
        test inner: mm(A=[[1, 2, 3]], B=[[1], [2]])  # error: [shape] <B=[[1], [2]]> dimension 0 of `B` is 2
        test given: mm(A=[[1, 2, 3]], K=2)  # error: [shape] <A=[[1, 2, 3]]> dimension 1 of `A` is 3
        op f(X: f32[3, N], Z: f32[N + 1]) -> Y: f32 { Y = 0 }
        test fixed: f(X=[[1], [2]], N=1)  # error: [shape] <X=[[1], [2]]> dimension 0 of `X` is 2, and should be 3
        test later: f(X=[[1], [2], [3]], Z=[1])  # error: [shape] <Z=[1]> should be N + 1 = 2
    """)


def test_a_mismatch_names_what_fixed_the_size(marked: Marked) -> None:
    (error,) = marked("""
        op f(X: f32[N], Z: f32[N]) -> Y: f32 { Y = 0 }
        test t: f(X=[1, 2, 3], Z=[1])  # error: [shape] N = 3 by `X`
    """).diagnostics
    assert error.notes == ("N = 3 by `X`",)


def test_matching_does_not_depend_on_the_order_of_inputs(marked: Marked) -> None:
    marked("""
        op f(X: f32[N*M], Z: f32[M + 1], W: f32[N]) -> Y: f32[M, N] { Y[i, j] = 0 }
        test t: f(X=[1, 2, 3, 4, 5, 6], Z=[1, 2, 3], W=[1, 2, 3]) expect Y = [[0, 0, 0], [0, 0, 0]]
        test u: f(X=[1, 2, 3, 4, 5], Z=[1, 2, 3], W=[1, 2])  # error: [shape] should be M*N = 4
    """)


def test_ranks_are_compared(marked: Marked) -> None:
    marked("""
        op f(X: f32[M, N], s: f32) -> Y: f32 { Y = s }
        test flat: f(X=[1, 2], s=1)  # error: [rank] <X=[1, 2]> `X` has 2 dimensions, and is given an array with 1
        test deep: f(M=1, N=1, s=[1])  # error: [rank] <s=[1]> `s` has 0 dimensions, and is given an array with 1
    """)


# ---- packs


def test_a_pack_stands_for_any_number_of_dimensions_also_none(marked: Marked) -> None:
    marked("""
        op relu[T: float = f32](X: T[..S]) -> Y: T[..S] { Y[..i] = max(X[..i], 0) }
        test r0: relu(X=-1) expect Y = 0
        test s0: relu(S=[])
        test r1: relu(X=[-1, 1]) expect Y = [0, 1]
        test r3: relu(X=[[[-1, 1], [2, -2]]]) expect Y = [[[0, 1], [2, 0]]]
        test n3: relu(S=[2, 0, 3])
    """)


def test_a_pack_with_dimensions_beside_it(marked: Marked) -> None:
    marked("""
        op bias(X: f32[..S, C], b: f32[C]) -> Y: f32[..S, C] { Y[..i, c] = X[..i, c] + b[c] }
        test r1: bias(X=[1, 2], b=[10, 20]) expect Y = [11, 22]
        test r2: bias(X=[[1, 2]], b=[10, 20]) expect Y = [[11, 22]]
        test r0: bias(X=1, b=[1])  # error: [rank] <X=1> `X` has at least 1 dimension, and is given an array with 0
        op mean(X: f32[B, ..S, C]) -> Y: f32[..S] { Y[..i] = sum(X[b, ..i, c] for b, c) }
        test m: mean(X=[[[1, 2], [3, 4]]]) expect Y = [3, 7]
    """)


def test_a_pack_has_one_rank_and_one_size_in_all_inputs(marked: Marked) -> None:
    marked("""
        op add(X: f32[..S], Z: f32[..S]) -> Y: f32[..S] { Y[..i] = X[..i] + Z[..i] }
        test rank: add(X=[1], Z=[[1]])  # error: [rank] <Z=[[1]]> `Z` has 2 dimensions, and `..S` stands for 1 of them
        test size: add(X=[1, 2], Z=[1])  # error: [shape] <Z=[1]> dimension 0 of `Z` is 1
        test list: add(X=[1, 2], S=[3])  # error: [shape] <X=[1, 2]> dimension 0 of `X` is 2
        test long: add(X=[1, 2], S=[3, 3])  # error: [rank] <X=[1, 2]> `X` has 1 dimension, and `..S` stands for 2
        test bare: add(S=3)  # error: [shape] <S=3> `S` is a pack: give a list, as in `S=[3, 50]`
    """)


def test_indices_of_packs(marked: Marked) -> None:
    marked("""
        op a(X: f32[..S]) -> Y: f32[..S] { Y[..i] = X[..j] }  # error: [unknown-name] <j> unknown pack of indices `j`
        op b(X: f32[..S]) -> Y: f32[..S] { Y[..i] = X[..S] }  # error: [not-a-value] <..S> takes a pack of indices
        op c(X: f32[..S]) -> Y: f32[..S] { Y[..i] = X[i] }  # error: [not-a-value] <i> `i` is a pack, not a value
        op h(X: f32[..S]) -> y: f32 { y[..i, j, k] = 0 }  # error: [rank] <..i> more subscripts than
        op d(X: f32[N]) -> Y: f32[N] { t[..i] = 0  # error: [definition] <..i> this op has no pack of dimensions
            Y[i] = X[i] }
        op e(X: f32[..S]) -> Y: f32[..S] { Y[..i] = X[..i] for ..i if X[..i] > 0 }
        # error: [definition] <X[..i] > 0> would depend on data
        op g(X: f32[..S]) -> Y: f32 { Y = sum(1 for ..k) }  # error: [definition] <..k> nothing says how many indices
    """)


def test_an_intermediate_may_have_the_rank_of_the_pack(marked: Marked) -> None:
    analysed = marked("""
        op f(X: f32[..S]) -> Y: f32[..S] {
            t[..i] = X[..i] * 2
            Y[..i] = t[..i] + 1
        }
        test t: f(X=[[1, 2]]) expect Y = [[3, 5]]
        test u: f(X=1) expect Y = 3
    """)
    assert len(check_op(analysed.module.ops["f"]).program.tensors["t"].shape) == 1


# ---- facts


def test_facts_refuse_calls_where_they_fail(marked: Marked) -> None:
    marked("""
        op f[k: int = 1](X: f32[M], Z: f32[N]) -> Y: f32 where M >= N, N % 4 == 0, k == 1 or M > 8, M < 100 { Y = 0 }
        test good: f(M=4, N=4)
        test less: f(M=3, N=4)  # error: [fact] <f(M=3, N=4)> `f` requires M >= N, which does not hold at M = 3, N = 4
        test odd:  f(M=9, N=6)  # error: [fact] requires N % 4 == 0, which does not hold at N = 6
        test two:  f[k=2](M=4, N=4)  # error: [fact] requires k == 1 or M > 8
        test far:  f[k=2](M=9, N=4)
        test huge: f(M=100, N=0)  # error: [fact] requires M < 100, which does not hold at M = 100
    """)


def test_facts_may_speak_of_parameters_of_every_kind(marked: Marked) -> None:
    marked("""
        op f[e: f32 = 0.5, b: bool = true, T: float = f32](X: T[N]) -> Y: f32 where 0 < e < 1, b, f32(N) < 3 / e {
            Y = e
        }
        test good: f(N=3)
        test big:  f[e=2](N=3)  # error: [fact] requires 0 < e < 1
        test off:  f[b=false](N=3)  # error: [fact] requires b, which does not hold
        test long: f(N=6)  # error: [fact] requires f32(N) < 3 / e, which does not hold at N = 6
    """)


def test_facts_are_bool_and_without_data(marked: Marked) -> None:
    marked("""
        op a(X: f32[N]) -> Y: f32 where N { Y = 0 }  # error: [dtype] <N> a fact is i64, not bool
        op b(X: f32[N]) -> Y: f32 where X[0] > 0 { Y = 0 }  # error: [fact] <X[0] > 0> not about data
        op c(X: f32[N], s: f32) -> Y: f32 where s > 0 { Y = 0 }  # error: [fact] <s > 0> not about data
        op d(X: f32[N]) -> Y: f32 where M > 0, N > K { Y = 0 }  # error: [unknown-name] <M> unknown name `M`
        # error: [unknown-name] <K> unknown name `K`
        op e(X: f32[N]) -> Y: f32 where sum(k for k in 0..N) > 3 { Y = 0 }  # error: [fact] not about data
    """)


def test_proofs_use_facts(marked: Marked) -> None:
    marked("""
        op f(X: f32[M], Z: f32[N]) -> Y: f32[M] where M <= N { Y[i] = X[i] + Z[i] }
        op g(X: f32[M], Z: f32[N]) -> Y: f32[M] { Y[i] = X[i] + Z[i] }  # error: [out-of-bounds] <Z[i]> M = 1, N = 0
    """)
