"""Which loops and stages a schedule can name, and what its lines make of the names."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest
from tdl.language.analysis import Analysis, analyse
from tdl.language.schedules.loops import Loop, Loops, Several
from tdl.language.schedules.stages import loops_of, offered_loops
from tdl.language.source import Source

Marked = Callable[..., Analysis]

MM = "op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"


def offered(text: str, op: str = "f") -> Loops:
    analysed = analyse(Source("test.tdl", dedent(text).strip()))
    assert not analysed.has_errors, [each.message for each in analysed.diagnostics]
    loops = offered_loops(analysed.module.ops[op])
    assert loops is not None
    return loops


def names(loops: Loops) -> list[str]:
    return [loop.name for loop in loops.live]


def meant(loops: Loops, spelling: str) -> list[str]:
    found = loops.find(spelling)
    several = found.loops if isinstance(found, Several) else (found,) if found is not None else ()
    return [loop.name for loop in several]


# ---- what an op offers


def test_a_tensor_offers_its_indices_and_a_reduction_that_is_the_whole_shares_them() -> None:
    loops = offered(MM, "mm")
    assert names(loops) == ["C.i", "C.j", "C.k"]
    assert [loop.is_reduction for loop in loops.live] == [False, False, True]
    assert loops.inputs == ("A", "B")


def test_a_reduction_inside_an_expression_is_an_accumulator_of_its_own() -> None:
    loops = offered("op f(X: f32[M, N]) -> Y: f32[M] { Y[i] = 2 * sum(X[i, j] for j) }")
    assert names(loops) == ["Y.i", "Y.sum.i", "Y.sum.j"]
    assert meant(loops, "Y.j") == ["Y.sum.j"]
    assert loops.stage("Y.sum") is not None


def test_a_sum_of_halves_is_an_accumulator_because_it_runs_in_f32() -> None:
    assert names(offered("op f(X: f16[N]) -> y: f16 { y = sum(X[j] for j) }")) == ["y.sum.j"]
    assert names(offered("op f(X: f16[N]) -> y: f16 { y = max(X[j] for j) }")) == ["y.j"]


def test_accumulators_are_counted_by_their_reducer_in_text_order() -> None:
    loops = offered("op f(X: f32[N]) -> y: f32 { y = sum(X[i] for i) / sum(X[j]**2 for j) - max(X[i] for i) }")
    assert names(loops) == ["y.sum.i", "y.sum1.j", "y.max.i"]
    assert meant(loops, "y.j") == ["y.sum1.j"]
    assert meant(loops, "y.i") == ["y.sum.i", "y.max.i"]


def test_a_reduction_inside_a_reduction_has_the_loops_around_it() -> None:
    loops = offered("op f(X: f32[M, N]) -> y: f32 { y = max(sum(X[i, j] for j) for i) }")
    assert names(loops) == ["y.i", "y.sum.i", "y.sum.j"]


def test_a_reduction_of_a_filter_is_an_accumulator() -> None:
    text = "op f(X: f32[N]) -> y: f32 { y = sum(X[i] for i if X[i] > max(X[j] for j)) }"
    assert names(offered(text)) == ["y.i", "y.max.i", "y.max.j"]


def test_several_definitions_are_numbered_and_the_short_name_is_the_largest_domain() -> None:
    text = """
    op f(X: f32[T, N]) -> S: f32[T, N] where T >= 1 {
        S[0, j] = X[0, j]
        S[t, j] = S[t - 1, j] + X[t, j]  for t in 1..T
    }"""
    loops = offered(text)
    assert names(loops) == ["S.0.j", "S.1.t", "S.1.j"]
    assert meant(loops, "S.t") == ["S.1.t"]
    assert meant(loops, "S.j") == ["S.1.j"]


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        (("0..3", "3..12"), ["Y.1.i"]),
        (("0..9", "9..12"), ["Y.0.i"]),
        (("0..6", "6..12"), ["Y.0.i", "Y.1.i"]),  # as large as each other: which is meant must be said
    ],
)
def test_of_two_domains_of_one_rank_the_larger_is_meant_and_of_two_equal_ones_neither(
    ranges: tuple[str, str], expected: list[str]
) -> None:
    first, second = ranges
    text = f"op f(X: f32[12]) -> Y: f32[12] {{ Y[i] = X[i] for i in {first}\n Y[i] = 2 * X[i] for i in {second} }}"
    assert meant(offered(text), "Y.i") == expected


def test_a_short_name_that_hangs_on_a_size_stands_for_itself() -> None:
    text = """
    op f[k: int](X: f32[N]) -> Y: f32[N] where 0 <= k, k <= N {
        Y[i] = 1 for i in 0..k
        Y[i] = X[i] for i in k..N
    }"""
    assert meant(offered(text), "Y.i") == ["Y.i"]


def test_definitions_that_share_the_loop_of_a_recurrence_do_not_make_its_name_ambiguous() -> None:
    text = """
    op f(X: f32[12]) -> Y: f32[12] {
        Y[i] = X[i] + Y[i - 1 | 0]  for i in 0..12 if i % 2 == 0
        Y[i] = X[i] - Y[i - 1 | 0]  for i in 0..12 if i % 2 == 1
    }"""
    assert meant(offered(text), "Y.i") == ["Y.0.i"]


def test_the_tensors_of_one_definition_share_its_loops() -> None:
    loops = offered("op f(X: f32[M, N]) -> (V: f32[M], I: i64[M]) { (V[i], I[i]) = argmax((X[i, j], j) for j) }")
    assert names(loops) == ["V.i", "V.j"]
    assert meant(loops, "I.j") == ["V.j"]


def test_a_pack_stands_for_any_number_of_loops() -> None:
    loops = offered("op f(X: f32[..S]) -> Y: f32[..S] { Y[..i] = X[..i] }")
    assert meant(loops, "Y.i") == meant(loops, "Y.i.0") == meant(loops, "Y.i.3") == ["Y.i"]
    assert loops.find("Y.i.x") is None


def test_a_scalar_has_no_loops_but_is_a_stage() -> None:
    analysed = analyse(Source("test.tdl", "op f(X: f32) -> y: f32 { y = X + 1 }"))
    from tdl.language.check import check_op

    loops = loops_of(check_op(analysed.module.ops["f"]).program)
    assert names(loops) == []
    assert loops.stage("y") is not None


# ---- what lines make of the names


def test_split_loops_are_gone_and_their_parts_are_there(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.i by 8 -> io, ii
    split C.k by [128, 16] -> k0, k1, k2
    split io into 4 -> ia, ib
    unroll ii, k2, C.j, ia
    unroll C.i   # error: [unknown-loop] <C.i> `C.i` was split into `io`, `ii`
    unroll io    # error: [unknown-loop] <io> `io` was split into `ia`, `ib`
}
"""
    )


def test_tiled_fused_and_skewed_loops_are_gone_too(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    tile C.i, C.j by 8, 32 -> io, jo, ii, ji
    fuse io, jo -> t
    skew ii, ji by 2 -> w, p
    reorder t, C.k, w, p
    unroll C.j  # error: [unknown-loop] <C.j> `C.j` was tiled into `io`, `jo`, `ii`, `ji`
    unroll jo   # error: [unknown-loop] <jo> `jo` was fused into `t`
    unroll ji   # error: [unknown-loop] <ji> `ji` was skewed into `w`, `p`
}
"""
    )


def test_a_name_whose_loop_is_gone_may_be_given_again(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.i by 8 -> i, ii
    split i by 4 -> io, i
    fuse io, i -> i
    parallel i
    unroll ii
}
"""
    )


def test_peel_adds_a_tail(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.i by 8 -> io, ii
    unroll io.tail  # error: [unknown-loop] <io.tail> there is no loop `io.tail` here
    peel io, C.k
    unroll io, io.tail, C.k.tail
}
"""
    )


def test_the_partials_of_rfactor_are_a_stage_with_the_loops_that_are_left(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.k by [8, 4] -> ko, km, ki
    rfactor ko -> P
    unroll P.ko, P.km, P.ki, P.i, P.j, C.ko, C.i
    unroll km, ki
    unroll ko  # error: [unknown-loop] <ko> `ko` may be any of `C.ko`, `P.ko`
    unroll C.ki  # error: [unknown-loop] <C.ki> `C.ki` was factored into `P.ki`
    unroll Q.i  # error: [unknown-loop] <Q.i> there is no loop `Q.i` here
    compute P at C.i
}
"""
    )


def test_rfactor_takes_a_reduction_loop(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.i by 8 -> io, ii
    rfactor ii -> P  # error: [schedule] <ii> the reduction loops are `C.k`
    unroll P.ii
}
op copy(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
schedule copy for cpu {
    rfactor Y.i -> P  # error: [schedule] <Y.i> this op has no reduction
}
"""
    )


def test_a_copy_has_a_loop_for_each_item_of_its_layout(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.k by 32 -> ko, ki
    cache B at ko as Bp layout [C.j, ki] pad 0
    unroll Bp.ki, Bp.out.ki
    unroll Bp.ko  # error: [unknown-loop] <Bp.ko> there is no loop `Bp.ko` here
    double_buffer Bp
    cache A at ko in stack as Ap
    vectorize Ap.k by 8
    vectorize Ap.out.i
    cache C at ko in register
}
"""
    )


def test_a_copy_may_be_laid_out_by_indices_alone_and_by_arithmetic(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.k by 32 -> ko, ki
    cache B at ko as Bp layout [ki, j, ki % 4]
    cache A at ko as Ap layout [zz, ki]  # error: [unknown-loop] <zz> there is no loop `zz` here
}
"""
    )


def test_what_is_inlined_is_no_stage_any_more_unless_it_has_a_reduction(marked: Marked) -> None:
    marked("""
        op f(X: f32[M, N]) -> Y: f32[M, N] {
            e[i, j] = exp(X[i, j])
            s[i]    = sum(e[i, j] for j)
            Y[i, j] = e[i, j] / s[i]
        }
        schedule f for cpu {
            inline e, s, Y
            vectorize s.j by 8
            unroll Y.j
            vectorize e.j by 8  # error: [unknown-loop] <e.j> `e.j` was inlined
            compute e at Y.i  # error: [unknown-loop] <e> `e` was inlined by a line above
        }
    """)


# ---- names that are not there


def test_a_misspelt_loop_is_told_with_the_loops_there_are(marked: Marked) -> None:
    analysed = marked(
        MM
        + """
schedule mm for cpu {
    split C.i by 8 -> io, ii
    unroll iii  # error: [unknown-loop] <iii> the loops here are `C.j`, `C.k`, `io`, `ii`
}
"""
    )
    (diagnostic,) = analysed.diagnostics
    (fix,) = diagnostic.fixes
    assert (fix.text, fix.span) == ("ii", diagnostic.primary)


def test_an_index_alone_will_do_where_one_loop_has_it(marked: Marked) -> None:
    marked("""
        op f(X: f32[M, N]) -> Y: f32[M, N] {
            s[i]    = sum(X[i, k] for k)
            Y[i, j] = X[i, j] / s[i]
        }
        schedule f for cpu {
            unroll k, j
            unroll i  # error: [unknown-loop] <i> `i` may be any of `s.i`, `Y.i`
        }
        op g(X: f16[M, N]) -> Y: f16[M] { Y[i] = sum(X[i, k] for k) }
        schedule g for cpu { unroll i, k }
        op h(X: f32[T, N]) -> S: f32[T, N] where T >= 1 {
            S[0, j] = X[0, j]
            S[t, j] = S[t - 1, j] + X[t, j]  for t in 1..T
        }
        schedule h for cpu { split j by 8 -> jo, ji }
        schedule h for cpu {
            split S.j by 8 -> jo, ji
            unroll j  # error: [unknown-loop] <j> `j` was split into `jo`, `ji`
        }
    """)


def test_a_tensor_and_a_value_are_no_loops(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    knob n = 4 in [4]
    parallel C  # error: [unknown-loop] <C> its loops are `C.i`, `C.j`, `C.k`
    parallel A  # error: [unknown-loop] <A> `A` is a tensor, not a loop
    parallel M  # error: [unknown-loop] <M> `M` is a value, not a loop
    unroll n  # error: [unknown-loop] <n> `n` is a value, not a loop
}
"""
    )


def test_a_stage_is_computed_and_a_tensor_may_be_given(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    compute A at root  # error: [unknown-loop] <A> `A` is an input: it is given, not computed
    store C at root
    compute D at root  # error: [unknown-loop] <D> the stages here are `C`
    stream C
    prefetch A at C.k ahead 2
    prefetch E at C.k ahead 2  # error: [unknown-loop] <E> the tensors here are `A`, `B`, `C`
    fold C.i by 4
    fold C.z by 4  # error: [unknown-loop] <C.z> there is no loop `C.z` here
}
"""
    )


def test_an_axis_is_an_axis_even_when_its_loop_was_split(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.i by 8 -> io, ii
    fold C.i by 4
}
"""
    )


def test_names_below_a_line_that_does_not_parse_are_not_doubted(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    splitt C.i by 8 -> io, ii  # error: [syntax] did you mean `split`?
    unroll ii
}
"""
    )


def test_names_of_a_line_that_is_wrong_are_made_all_the_same(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.x by 8 -> io, ii  # error: [unknown-loop] <C.x> there is no loop `C.x` here
    unroll ii
    parallel io
}
"""
    )


def test_a_schedule_of_a_wrong_op_is_not_judged(marked: Marked) -> None:
    marked("""
        op f(X: f32[N]) -> Y: f32[N] { Y[i] = Z[i] }  # error: [unknown-name] Z
        schedule f for cpu { parallel Y.k }
    """)


def test_loops_compare_by_identity() -> None:
    loop = Loop("a", "", "a", frozenset({"a"}))
    assert loop != Loop("a", "", "a", frozenset({"a"}))
