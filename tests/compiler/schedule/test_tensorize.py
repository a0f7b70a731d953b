"""Tensorize: what matches an intrinsic and what does not, and that calls of it give what its definition gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from tdl.compiler import ScheduleError, load
from tdl.compiler.kernel.evaluate import evaluate_kernel
from tdl.compiler.kernel.printing import print_kernel
from tdl.compiler.kernel.verify import verify as verify_kernel
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.runtime.instructions import host_features
from tdl.compiler.schedule.apply import apply_schedule
from tdl.compiler.schedule.check import bound_program, check_schedules
from tdl.compiler.schedule.evaluate import evaluate_nest
from tdl.compiler.schedule.printer import print_nest
from tdl.compiler.schedule.tree import Nest
from tdl.compiler.schedule.verify import verify
from tdl.language import syntax
from tdl.language.analysis import analyse
from tdl.language.cases import check_case
from tdl.language.check import check_op
from tdl.language.evaluate import evaluate
from tdl.language.samples import random_inputs
from tdl.language.source import Source

LANES = 8


def shuffle(vector: str, order: Iterable[int], of: str = "i32", lanes: int = 4 * LANES) -> str:
    places = [f"i32 {each}" for each in order]
    return (
        f"shufflevector <{lanes} x {of}> {vector}, <{lanes} x {of}> poison, <{len(places)} x i32> <{', '.join(places)}>"
    )


DOT = f"""
intrinsic dot(a: u8[4], b: i8[{LANES}, 4], c0: i32[{LANES}]) -> c: i32[{LANES}] for cpu {{
    c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)
    emit llvm \"\"\"
        %few = zext <4 x i8> %a to <4 x i32>
        %all = {shuffle("%few", [k for _ in range(LANES) for k in range(4)], lanes=4)}
        %wide = sext <{4 * LANES} x i8> %b to <{4 * LANES} x i32>
        %products = mul <{4 * LANES} x i32> %all, %wide
        %p0 = {shuffle("%products", range(0, 4 * LANES, 4))}
        %p1 = {shuffle("%products", range(1, 4 * LANES, 4))}
        %p2 = {shuffle("%products", range(2, 4 * LANES, 4))}
        %p3 = {shuffle("%products", range(3, 4 * LANES, 4))}
        %s0 = add <{LANES} x i32> %p0, %p1
        %s1 = add <{LANES} x i32> %p2, %p3
        %s = add <{LANES} x i32> %s0, %s1
        %c = add <{LANES} x i32> %c0, %s
    \"\"\"
}}
"""
FMA = """
intrinsic fma8(a: f32, b: f32[8], c0: f32[8]) -> c: f32[8] for cpu {
    c[l] = c0[l] + a * b[l]
    emit llvm \"\"\"
        %one = insertelement <8 x float> poison, float %a, i64 0
        %all = shufflevector <8 x float> %one, <8 x float> poison, <8 x i32> zeroinitializer
        %c = call <8 x float> @llvm.fmuladd.v8f32(<8 x float> %all, <8 x float> %b, <8 x float> %c0)
    \"\"\"
}
"""
BY_FOURS = f"""
intrinsic by_fours(x: i8[4, {LANES}]) -> y: i8[{LANES}, 4] for cpu {{
    y[n, k] = x[k, n]
    emit llvm \"\"\"
        %y = {shuffle("%x", [LANES * k + n for n in range(LANES) for k in range(4)], "i8")}
    \"\"\"
}}
"""
RELU = """
intrinsic relu8(x: f32[8]) -> y: f32[8] for cpu {
    y[l] = max(x[l], 0)
    emit llvm "%y = call <8 x float> @llvm.maximum.v8f32(<8 x float> %x, <8 x float> zeroinitializer)"
}
"""
PRODUCT = """
op product(A: u8[M, K], B: i8[K, N]) -> C: i32[M, N] {
    C[i, j] = sum(i32(A[i, k]) * i32(B[k, j]) for k)
}
"""
TILES = "split C.j by 8 -> jo, ji\nsplit C.k by 4 -> ko, ki\nreorder C.i, jo, ko, ji, ki\n"


def nest_of(text: str, **sizes: int) -> Nest:
    """The nest of the only op and schedule of a text, every line of which is applied."""
    analysis = analyse(Source("t.tdl", text))
    assert not analysis.diagnostics, analysis.diagnostics
    items = {type(each.declaration.item): each.declaration for each in analysis.module.entries}
    op, schedule = items[syntax.Op], items[syntax.Schedule]
    program = check_op(op).program
    at = {symbol: sizes[symbol.name] for symbol in program.dims if symbol.name in sizes}
    if at:
        program = bound_program(op, program, at)
    applied = apply_schedule(program, schedule, sizes=at)
    assert not applied.errors, applied.errors
    return verify(applied.nest)


def check(text: str, call: str) -> Any:
    """Run a call by the nest's evaluator and compiled: both give what the op gives, bit for bit."""
    analysis = analyse(Source("t.tdl", f"{text}\ntest t: {call}\n"))
    assert not analysis.diagnostics, analysis.diagnostics
    assert not check_schedules(analysis), check_schedules(analysis)
    case = check_case(analysis.module.entries[-1].declaration).case
    assert case is not None
    program, sizes = case.bound.program, case.bound.sizes
    inputs = random_inputs(program, sizes, {}, 0)
    inputs = {name: each if each.dtype.kind in "iu" else np.rint(each) for name, each in inputs.items()}
    wanted = evaluate(program, inputs, sizes)
    schedule = next(e.declaration for e in analysis.module.entries if isinstance(e.declaration.item, syntax.Schedule))
    nest = apply_schedule(bound_program(case.op, program, sizes), schedule, sizes=sizes).nest
    kernel = verify_kernel(lower(nest))
    found, stepped = evaluate_nest(nest, inputs, {}), evaluate_kernel(kernel, inputs, {})
    compiled = load(Source("t.tdl", text))[case.op.name](*(inputs[name] for name in program.inputs))
    for name, value in wanted.items():
        assert (found[name] == value).all()
        assert (stepped[name] == value).all()
        assert (np.asarray(compiled) == value).all()
    return nest


def refusal(text: str, lines: str, tests: str = "") -> Any:
    analysis = analyse(Source("t.tdl", f"{text}\nschedule product for x86 {{\n{lines}\n}}\n{tests}"))
    assert not analysis.diagnostics, analysis.diagnostics
    (found,) = check_schedules(analysis)
    assert found.code == "tensorize"
    return found


# ---- what a nest says


def test_the_call_is_one_line_of_the_nest() -> None:
    lines = TILES + "tensorize ji with dot\nsplit C.i by 2 -> io, ii\nunroll ii"
    text = PRODUCT + DOT + f"schedule product for cpu {{ {lines} }}"
    assert print_nest(nest_of(text, M=4, N=16, K=8)).splitlines() == [
        "for io in 0..2",
        "    unrolled for ii in 0..2",
        "        for jo in 0..2",
        "            for ko in 0..2",
        "                i = 2*io + ii",
        "                C[i, 8*jo..8*jo + 8] = "
        "dot(A[i, 4*ko..4*ko + 4], B[4*ko..4*ko + 4, 8*jo..8*jo + 8], C[i, 8*jo..8*jo + 8])",
    ]


def test_a_packed_operand_is_one_run_of_elements_in_the_kernel() -> None:
    lines = TILES + "tensorize ji with dot\ncache B at jo as Bp layout [ko, ji, ki]\n"
    text = print_kernel(lower(nest_of(PRODUCT + DOT + f"schedule product for cpu {{ {lines} }}", M=3, N=16, K=8)))
    assert "dot(A[8*C.i + 4*C.ko..8*C.i + 4*C.ko + 4], Bp[32*C.ko..32*C.ko + 32], C[" in text


def test_sizes_may_stay_open_where_facts_fill_the_tiles() -> None:
    lines = "require N % 8 == 0\nrequire K % 4 == 0\n" + TILES + "tensorize ji with dot"
    nest = nest_of(PRODUCT + DOT + f"schedule product for cpu {{ {lines} }}")
    assert "= dot(A[i, 4*ko..4*ko + 4], " in print_nest(nest)
    verify_kernel(lower(nest))


# ---- results


@pytest.mark.parametrize(
    "lines",
    [
        "tensorize ji with dot",
        "tensorize ji with dot\ncache C at jo in register as Cr\nunroll C.i",
        "tensorize ji with dot\ncache B at jo as Bp layout [ko, ji, ki]",
        "cache B at jo as Bp\ntensorize ji with dot",
        "tensorize ji with dot\ncache B at jo as Bp layout [ko, ji, ki]\ntensorize Bp.ji with by_fours",
        "tensorize ji with dot\ncache B at ko as Bp layout [ji, ki]\ndouble_buffer Bp",
        "tensorize ji with dot\nparallel C.i",
        "reorder ki, ji\ntensorize ki with dot",
        "tensorize ji with dot\nreorder jo, C.i\nsplit C.i by 2 -> io, ii\nunroll ii\ncache C at io as Ct",
        "tensorize ji with dot\nunroll ko",
    ],
)
def test_a_product_under_later_lines(lines: str) -> None:
    check(PRODUCT + DOT + BY_FOURS + f"schedule product for cpu {{ {TILES}{lines} }}", "product(M=5, N=24, K=12)")


def test_a_reduction_that_is_all_in_the_call() -> None:
    lines = "split C.j by 8 -> jo, ji\nreorder C.i, jo, ji, C.k\ntensorize ji with dot"
    check(PRODUCT + DOT + f"schedule product for cpu {{ {lines} }}", "product(M=3, N=16, K=4)")


def test_what_is_left_of_peeled_loops_stays_loops() -> None:
    lines = TILES + "peel jo\npeel ko\ntensorize ji with dot"
    nest = check(PRODUCT + DOT + f"schedule product for cpu {{ {lines} }}", "product(M=3, N=19, K=10)")
    assert print_nest(nest).count("= dot(") == 1


def test_operands_with_other_axes_and_a_value_that_all_lanes_share() -> None:
    op = """op f(W: i8[N, 3, K], X: u8[K, M]) -> Y: i32[M, N] { Y[i, j] = sum(i32(W[j, 1, k]) * i32(X[k, i]) for k) }
    """
    lines = "split Y.j by 8 -> jo, ji\nsplit Y.k by 4 -> ko, ki\nreorder Y.i, jo, ko, ji, ki\ntensorize ji with dot"
    check(op + DOT + f"schedule f for cpu {{ {lines} }}", "f(M=3, N=16, K=8)")


def test_fused_multiply_and_add_with_a_scalar_operand() -> None:
    op = "op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"
    lines = (
        "split C.j by 8 -> jo, ji\nreorder C.i, jo, C.k, ji\ntensorize ji with fma8\ncache C at jo in register as Cr"
    )
    check(op + FMA + f"schedule f for cpu {{ {lines} }}", "f(M=3, N=16, K=5)")


def test_a_store_and_operands_far_apart() -> None:
    op = "op f(X: f32[N, M]) -> Y: f32[M, N] { Y[i, j] = max(0, X[j, i]) }\n"
    lines = "split Y.j by 8 -> jo, ji\ntensorize ji with relu8\nparallel Y.i"
    check(op + RELU + f"schedule f for cpu {{ {lines} }}", "f(M=3, N=24)")


def test_results_far_apart() -> None:
    op = "op f(X: f32[M, N]) -> Y: f32[N, M] { Y[j, i] = max(X[i, j], 0) }\n"
    lines = "reorder Y.i, Y.j\nsplit Y.j by 8 -> jo, ji\ntensorize ji with relu8"
    check(op + RELU + f"schedule f for cpu {{ {lines} }}", "f(M=3, N=24)")


def test_a_stage_that_is_computed_where_it_is_read_stays_tensorized() -> None:
    op = """op f(X: f32[M, N]) -> Z: f32[M, N] {
        Y[i, j] = max(X[i, j], 0)
        Z[i, j] = Y[i, j] + 1
    }
    """
    lines = "split Y.j by 8 -> jo, ji\ntensorize ji with relu8\ncompute Y at Z.i"
    nest = check(op + RELU + f"schedule f for cpu {{ {lines} }}", "f(M=3, N=16)")
    assert "= relu8(" in print_nest(nest)


def test_an_intrinsic_may_come_through_a_tactic() -> None:
    tactic = "tactic tiles(T, j, k, with_) { split T.j by 8 -> jo, ji\n split T.k by 4 -> ko, ki\n" \
        " reorder jo, ko, ji, ki\n tensorize ji with with_ }\n"  # fmt: skip
    check(PRODUCT + DOT + tactic + "schedule product for cpu { apply tiles(C, j, k, dot) }", "product(M=3, N=16, K=8)")


def test_nothing_beside_the_operands_is_touched(guarded: Any) -> None:
    text = PRODUCT + DOT + BY_FOURS
    lines = TILES + "tensorize ji with dot\ncache B at jo as Bp layout [ko, ji, ki]\ntensorize Bp.ji with by_fours"
    function = load(Source("t.tdl", text + f"schedule product for cpu {{ {lines} }}")).product
    random = np.random.default_rng(0)
    a, b = random.integers(0, 256, (3, 12), np.uint8), random.integers(-128, 128, (12, 24), np.int8)
    for at_end in (True, False):
        out = guarded.place(np.zeros((3, 24), np.int32), at_end=at_end)
        function(guarded.place(a, at_end=at_end), guarded.place(b, at_end=at_end), out=out)
        assert (out == a.astype(np.int32) @ b.astype(np.int32)).all()


# ---- instructions of this machine


def needs(feature: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(feature not in host_features(), reason=f"this machine has no {feature}")


VNNI = """
intrinsic vpdpbusd(a: u8[4], b: i8[16, 4], c0: i32[16]) -> c: i32[16] for x86 with avx512vnni {
    c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)
    emit llvm \"\"\"
        %four = bitcast <4 x i8> %a to i32
        %one  = insertelement <16 x i32> poison, i32 %four, i64 0
        %all  = shufflevector <16 x i32> %one, <16 x i32> poison, <16 x i32> zeroinitializer
        %rows = bitcast <16 x i32> %all to <64 x i8>
        %c    = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %c0, <64 x i8> %rows, <64 x i8> %b)
    \"\"\"
}
"""
BF16 = """
intrinsic dpbf16ps(a: bf16[2], b: bf16[16, 2], c0: f32[16]) -> c: f32[16] for x86 with avx512bf16 {
    c[n] = c0[n] + sum(f32(a[k]) * f32(b[n, k]) for k)
    emit llvm \"\"\"
        %two  = bitcast <2 x bfloat> %a to i32
        %one  = insertelement <16 x i32> poison, i32 %two, i64 0
        %all  = shufflevector <16 x i32> %one, <16 x i32> poison, <16 x i32> zeroinitializer
        %rows = bitcast <16 x i32> %all to <32 x bfloat>
        %c    = call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(
                    <16 x float> %c0, <32 x bfloat> %rows, <32 x bfloat> %b)
    \"\"\"
}
"""


@needs("avx512vnni")
def test_the_dot_product_instruction_of_x86() -> None:
    lines = """split C.j by [32, 16] -> jo, jv, ji
        split C.k by 4 -> ko, ki
        split C.i by 6 balanced -> io, ii
        reorder jo, io, ko, ii, jv, ji, ki
        tensorize ji with vpdpbusd
        cache B at jo as Bp layout [ko, jv, ji, ki]
        cache C at io in register as Cr
        unroll ii
        unroll jv"""
    text = PRODUCT + VNNI + f"schedule product for x86 {{ {lines} }}"
    check(text, "product(M=11, N=64, K=20)")


@needs("avx512bf16")
def test_the_bf16_dot_product_instruction_of_x86() -> None:
    op = """op f(A: bf16[M, K], B: bf16[K, N]) -> C: f32[M, N] {
        C[i, j] = sum(f32(A[i, k]) * f32(B[k, j]) for k) }
    """
    lines = """split C.j by 16 -> jo, ji
        split C.k by 2 -> ko, ki
        reorder jo, C.i, ko, ji, ki
        tensorize ji with dpbf16ps
        cache B at jo as Bp layout [ko, ji, ki]"""
    check(op + BF16 + f"schedule f for x86 {{ {lines} }}", "f(M=3, N=32, K=6)")


NOWHERE = DOT.replace("for cpu", "for cpu with turbo").replace("intrinsic dot", "intrinsic fast")


def test_a_schedule_is_passed_over_where_the_machine_lacks_a_feature() -> None:
    fast = f"schedule product for cpu {{ {TILES} tensorize ji with fast }}\n"
    general = "schedule product for cpu { reorder C.j, C.i }\n"
    a, b = np.ones((3, 8), np.uint8), np.ones((8, 16), np.int8)
    assert (load(Source("t.tdl", PRODUCT + NOWHERE + fast + general)).product(a, b) == 8).all()


def test_a_machine_without_the_feature_is_told_which() -> None:
    text = PRODUCT + NOWHERE + f"schedule product for cpu {{ {TILES} tensorize ji with fast }}\n"
    with pytest.raises(ScheduleError, match="`fast` needs the feature `turbo`"):
        load(Source("t.tdl", text)).product(np.ones((3, 8), np.uint8), np.ones((8, 16), np.int8))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("%c = add <8 x i32> %c0, %nothing", "use of undefined value '%nothing'"),
        ("%c = add <4 x i32> %c0, %c0", "defined with type '<8 x i32>' but expected '<4 x i32>'"),
        ("...", "expected instruction opcode"),
        ("%d = add <8 x i32> %c0, %c0", "use of undefined value '%c'"),
    ],
)
def test_text_that_llvm_does_not_take_is_shown_at_its_place(text: str, words: str) -> None:
    intrinsic = f"""intrinsic dot(a: u8[4], b: i8[8, 4], c0: i32[8]) -> c: i32[8] for cpu {{
    c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)
    emit llvm "{text}"
}}
"""
    whole = intrinsic + PRODUCT + f"schedule product for cpu {{ {TILES} tensorize ji with dot }}\n"
    with pytest.raises(ScheduleError) as raised:
        load(Source("t.tdl", whole)).product(np.ones((3, 8), np.uint8), np.ones((8, 16), np.int8))
    assert "t.tdl:3:5" in str(raised.value)
    assert words in str(raised.value)


def test_the_text_may_declare_functions() -> None:
    text = (
        RELU.replace("@llvm.maximum", "@llvm.maximumnum")
        .replace(
            'emit llvm "', 'emit llvm """declare <8 x float> @llvm.maximumnum.v8f32(<8 x float>, <8 x float>)\n    '
        )
        .replace('zeroinitializer)"', 'zeroinitializer)"""')
    )
    op = "op f(X: f32[N]) -> Y: f32[N] { Y[i] = max(X[i], 0) }\n"
    check(op + text + "schedule f for cpu { split Y.i by 8 -> io, ii\n tensorize ii with relu8 }", "f(N=16)")


# ---- what does not match


def test_a_tile_of_another_size_is_shown_with_the_splits_that_would_match() -> None:
    lines = "split C.j by 16 -> jo, ji\nsplit C.k by 4 -> ko, ki\nreorder jo, ko, ji, ki\ntensorize ji with dot"
    found = refusal(PRODUCT + DOT, lines, "test t: product(M=3, N=32, K=8)")
    assert found.message == "`ji` is not what `dot` computes"
    assert found.notes[:4] == (
        "the intrinsic: c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k) with n in 0..8, k in 0..4",
        "the nest: C[i, 16*jo + ji] += i32(A[i, 4*ko + ki]) * i32(B[4*ko + ki, 16*jo + ji])"
        " with ji in 0..16, ki in 0..4",
        "the first difference: `n` runs 8 times, and `ji` 16",
        "these would match: `split C.j by 8 -> jo, ji`, `split C.k by 4 -> ko, ki`, with `ji`, `ki` innermost",
    )


@pytest.mark.parametrize(
    ("op", "difference"),
    [
        (PRODUCT.replace("A: u8", "A: i8"), "`i32(A[i, k])` of i8, not of u8"),
        (PRODUCT.replace(") * ", ") - "), "the nest has `i32(A[i, k]) - i32(B[k, j])`"),
        (PRODUCT.replace("i32(A[i, k])", "i32(A[i, k] + 1)"), "where it has `a[k]`, the nest has `A[i, k] + 1`"),
        (PRODUCT.replace("sum(", "max("), "it adds to its target, and the nest takes the `max` with `C`"),
        (PRODUCT.replace("B[k, j]", "B[k - 1, j | 0]"), "`B[k - 1, j | 0]`, which may be outside of its tensor"),
        (PRODUCT.replace("i32", "i64"), "it gives i32, and the nest computes i64 into `C`, which is i64"),
        (PRODUCT.replace("A[i, k]", "A[i, k // 2]").replace("A: u8[M, K]", "A: u8[M, L]").replace(
            "{\n", "where 2*L >= K {\n"), "is not linear in the loops"),
    ],
)  # fmt: skip
def test_another_statement_is_shown_with_its_first_difference(op: str, difference: str) -> None:
    sizes = "test t: product(M=3, N=16, K=8, L=4)" if "L" in op else "test t: product(M=3, N=16, K=8)"
    found = refusal(op + DOT, TILES + "tensorize ji with dot", sizes)
    (shown,) = (note for note in found.notes if note.startswith("the first difference"))
    assert difference in shown


def test_one_element_is_no_two() -> None:
    """`a` of the intrinsic is the same for all lanes."""
    op = """op product(A: u8[N, K], B: i8[K, N]) -> C: i32[N] { C[j] = sum(i32(A[j, k]) * i32(B[k, j]) for k) }\n"""
    lines = "split C.j by 8 -> jo, ji\nsplit C.k by 4 -> ko, ki\nreorder jo, ko, ji, ki\ntensorize ji with dot"
    found = refusal(op + DOT, lines, "test t: product(N=16, K=8)")
    assert "`a[0]` would be both A[8*C.jo, 4*C.ko] and A[8*C.jo + 1, 4*C.ko]" in found.notes[2]


def test_a_tile_that_is_not_full_is_shown_with_an_iteration() -> None:
    found = refusal(PRODUCT + DOT, TILES + "tensorize ji with dot", "test t: product(M=3, N=17, K=8)")
    assert found.message == "`ji` does not always run 8 times, as an instruction does"
    assert found.notes[0] == "with C.jo = 2 it runs 1 of 8 times"
    assert "`peel jo` leaves the rest to a loop of its own" in found.notes


def test_the_verdict_may_wait_for_sizes() -> None:
    analysis = analyse(Source("t.tdl", PRODUCT + DOT + f"schedule product for x86 {{ {TILES} tensorize ji with dot }}"))
    assert check_schedules(analysis) == ()
    with pytest.raises(ScheduleError, match="`ji` does not always run 8 times"):
        load(analysis.source).product(np.ones((3, 8), np.uint8), np.ones((8, 12), np.int8))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("vectorize ji\ntensorize ji with dot", "`ji` is a vector already"),
        ("tensorize ji with dot\ntensorize ji with dot", "part of `dot` already"),
        ("tensorize C.i with dot", "`i` is not what `dot` computes"),
        ("tensorize ji with dot\nsplit ki by 2 -> a, b", "this line leaves no call of `dot` of it"),
        ("tensorize ji with dot\nsplit ji by 2 -> a, b", "is not what `dot` computes"),
        ("tensorize ji with dot\ncache B at ki as Bp", "is more than one statement"),
        ("tensorize ji with dot\nvectorize jo by 2", "is a vector, and `ki` in it is tensorized"),
        ("cache C at ki as Ct\ntensorize ji with dot", "`ji` is more than one statement"),
    ],
)
def test_lines_that_do_not_go_together(lines: str, words: str) -> None:
    found = refusal(PRODUCT + DOT, TILES + lines, "test t: product(M=3, N=16, K=8)")
    assert words in found.message


def test_a_recurrence_is_no_instruction() -> None:
    op = "op product(X: f32[N]) -> Y: f32[N] where N >= 1 { Y[0] = X[0]\n Y[t] = max(Y[t - 1], 0) for t in 1..N }\n"
    found = refusal(op + RELU, "split Y.t by 8 -> to, ti\ntensorize ti with relu8", "test t: product(N=17)")
    assert "the nest reads `Y`, which it writes, as `x`" in found.notes[2]


@pytest.mark.parametrize(
    ("intrinsic", "words"),
    [
        (DOT.replace("for cpu", "for aarch64"), "`dot` is for `aarch64`, and this schedule is for `x86`"),
        (DOT.replace("emit llvm", "emit c"), "`dot` has no `emit llvm`"),
        (DOT.replace("c[n] = c0[n] +", "c[n] = c0[n] *"), "`dot` is no one statement"),
    ],
)
def test_an_intrinsic_that_cannot_be_used_here(intrinsic: str, words: str) -> None:
    assert words in refusal(PRODUCT + intrinsic, TILES + "tensorize ji with dot").message
