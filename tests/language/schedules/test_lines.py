"""How a schedule line is formed: its counts, clauses and values, and the head of a schedule."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tdl.grammar.tables import load_tables
from tdl.language.analysis import Analysis
from tdl.language.schedules.lines import LINES

Marked = Callable[..., Analysis]

MM = "op mm[T: float = f32](A: T[M, K], B: T[K, N]) -> C: T[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"


CONTEXT = """
op f(X: f32[m, k0], W: f32[k0, n0]) -> Y: f32[m, n0] where m % 8 == 0 {
    T[i, t]   = 2 * X[i, t]
    acc[i, j] = sum(T[i, k] * W[k, j] for k)
    Y[i, j]   = acc[i, j] + sum(W[q, j] for q)
}
intrinsic vpdpbusd(a: u8[4], b: i8[16, 4], c0: i32[16]) -> c: i32[16] for x86 with avx512vnni {
    c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)
}
tactic gemm_tile(T, i, j, k, mr: int = 4) { split T.i by mr -> io, ii }
"""


# ---- the table


def test_the_table_has_a_row_for_every_verb_of_the_grammar() -> None:
    tables = load_tables()
    after_brace = next(row for row in tables.actions if "SPLIT" in row and "KNOB" in row)
    verbs = {word for word, terminal in tables.keywords.items() if terminal in after_brace}
    assert verbs - {"let"} == set(LINES) - {"let"}


@pytest.mark.parametrize("verb", LINES)
def test_the_example_of_a_row_checks(verb: str, marked: Marked) -> None:
    """Each `usage` is a line that a person could write, given the loops and stages that it speaks of."""
    before = {
        "fuse": "tile Y.i, Y.j by 8, 32 -> io, jo, ii, ji",
        "reorder": "tile Y.i, Y.j by 8, 32 -> io, jo, ii, ji",
        "unroll": "split Y.i by 8 -> io, ii",
        "parallel": "split Y.i by 8 -> io, ii",
        "vectorize": "split Y.j by 8 -> jo, ji",
        "peel": "split Y.i by 8 -> L, ii",
        "compute": "split Y.i by 8 -> L, ii",
        "store": "split Y.i by 8 -> M, ii",
        "cache": "split Y.i by 8 -> L, ii; split acc.k by 8 -> ko, ki",
        "rfactor": "split acc.k by 8 -> ko, ki",
        "tensorize": "split Y.i by 8 -> io, ii",
        "bind": "split Y.i by 8 -> io, ii",
        "double_buffer": "cache W at Y.q as As",
        "cooperate": "cache W at Y.q as As; cache X at Y.q as Bs; split Y.i by 8 -> ty, ii; split Y.j by 8 -> tx, ji",
    }
    usage = LINES[verb].usage.replace("MEM", "stack").replace(" by f", " by 1")
    if verb == "skew":
        usage = usage.replace("S.", "Y.")
    if verb == "let":
        usage = f"let mr = 4\n    {usage}"
    if verb == "layout":
        usage += " pack"
    lines = "\n    ".join([*before.get(verb, "").split("; "), usage.replace("M % 8", "m % 8")])
    marked(f"{CONTEXT}schedule f for cpu {{\n    {lines}\n}}\n")


@pytest.mark.parametrize("verb", LINES)
def test_a_row_says_what_its_line_does_in_one_sentence(verb: str) -> None:
    row = LINES[verb]
    assert row.verb == verb
    assert row.summary
    assert not row.summary.endswith(".")
    assert bool(row.past) == (row.effect == "replace")


# ---- the head


def test_a_schedule_is_for_an_op(marked: Marked) -> None:
    marked(
        """
        fn g(x: f32) -> f32 = x
        schedule nothing for cpu { }  # error: [unknown-name] <nothing> unknown op `nothing`
        schedule g for cpu { }  # error: [not-a-value] <g> `g` is not an op
        schedule std.nn.relu for cpu { }  # error: [unknown-name] <std.nn.relu> unknown op
        """
    )


def test_a_schedule_may_be_for_an_imported_op(marked: Marked) -> None:
    marked(
        """
        import std.nn
        from other import f
        schedule std.nn.matmul for cpu { parallel C.i }
        schedule f for cpu { parallel Y.i }
        """,
        {"other.tdl": "op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }"},
    )


def test_a_target_is_one_of_the_tree_or_declared(marked: Marked) -> None:
    marked(
        MM
        + """
target npu for cpu { }
schedule mm for x86 { }
schedule mm for ptx { }
schedule mm for npu { }
schedule mm { }
schedule mm for x68 { }  # error: [unknown-name] <x68> did you mean `x86`?
"""
    )


def test_a_condition_speaks_of_sizes_parameters_dtypes_and_constants(marked: Marked) -> None:
    marked(
        """
        const LEAST = 8
        op f[T: float = f32, n: int = 2, fast: bool = false](X: T[M, ..S]) -> Y: T[M, ..S] {
            Y[i, ..j] = X[i, ..j] * T(n)
        }
        schedule f for cpu when T == f32 and M >= LEAST and not (n != 2 or fast) { }
        schedule f for cpu when f64 != T { }
        schedule f for cpu when M { }  # error: [dtype] <M> the condition of a schedule is i64, not bool
        schedule f for cpu when T == 3 { }  # error: [dtype] <3> a dtype is compared with a dtype
        schedule f for cpu when T < f64 { }  # error: [dtype] <T < f64> `<` does not compare dtypes
        schedule f for cpu when K >= 8 { }  # error: [unknown-name] <K> unknown name `K`
        schedule f for cpu when X[0] > 0 { }  # error: [unknown-name] <X> X
        schedule f for cpu when T { }  # error: [not-a-value] <T> `T` is a dtype, not a value
        """
    )


# ---- counts


@pytest.mark.parametrize(
    ("line", "mark"),
    [
        ("split C.i by 8 -> a", "[schedule] <a> this makes 2 loops, and 1 is named"),
        ("split C.i by 8 -> a, b, c", "[schedule] <a, b, c> this makes 2 loops, and 3 are named"),
        ("split C.i by [8, 4] -> a, b", "[schedule] <a, b> this makes 3 loops, and 2 are named"),
        ("split C.i by [] -> a", "[schedule] <by []> one list of sizes"),
        ("split C.i by 8, 4 -> a, b, c", "[schedule] <by 8, 4> sizes within sizes are a list"),
        ("split C.i into 4 -> a, b, c", "[schedule] <a, b, c> this makes 2 loops"),
        ("tile C.i, C.j by 8 -> a, b, c, d", "[schedule] <by 8> 2 loops are tiled by 1 size"),
        ("tile C.i, C.j by 8, 4 -> a, b", "[schedule] <a, b> this makes 4 loops"),
        ("fuse C.i -> t", "[schedule] <fuse C.i -> t> `fuse` takes 2 loops or more, not 1"),
        ("fuse C.i, C.j -> t, u", "[schedule] <t, u> this makes 1 loop, and 2 are named"),
        ("skew C.i, C.j, C.k -> w, p", "[schedule] `skew` takes 2 loops, not 3"),
        ("skew C.i, C.j by 2, 3 -> w, p", "[schedule] <by 2, 3> `skew` takes one number"),
        ("vectorize C.j by [8, 16]", "[schedule] <by [8, 16]> `vectorize` takes one number"),
        ("fold C.i by 4, 4", "[schedule] <by 4, 4> `fold` takes one number"),
        ("rfactor C.k -> P, Q", "[schedule] <P, Q> this makes 1 stage, and 2 are named"),
        ("reorder C.i, C.j, C.i", "[schedule] <C.i> `C.i` is listed twice"),
        ("split C.i by 8 -> a, a", "[schedule] <a> `a` stands twice among the names made"),
        ("rfactor C.k -> A", "[schedule] <A> there is a tensor `A` already"),
        ("cache A at root as C", "[schedule] <C> there is a tensor `C` already"),
        ("cache A at root as x.y", "[schedule] <x.y> the name of a copy has no dots"),
        ("cache A at root in stack in stack", "[schedule] <in stack> `in` stands twice in this line"),
    ],
)
def test_a_line_has_as_many_of_everything_as_it_should(line: str, mark: str, marked: Marked) -> None:
    marked(f"{MM}schedule mm for cpu {{\n    {line}  # error: {mark}\n}}\n")


def test_a_name_is_given_once(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    split C.i by 8 -> io, ii
    split C.j by 8 -> jo, ii  # error: [schedule] <ii> there is a loop `ii` already
    unroll ii
    cache A at jo as Ap
    cache B at jo as Ap  # error: [schedule] <Ap> there is a tensor `Ap` already
}
"""
    )


# ---- values


def test_factors_are_integers_that_are_known_when_the_op_is_compiled(marked: Marked) -> None:
    marked(
        """
        const TILE = 16
        op f[n: int](X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = X[i, j] * f32(n) }
        schedule f for cpu {
            knob k = 4 in [2, 4]
            let m = 2 * k + TILE
            split Y.i by [m, n, N // 2, 28 * 1024] -> a, b, c, d, e
            split Y.j by 0 -> f, g  # error: [schedule] <0> a factor is at least 1, not 0
            split g by k - 9 -> g0, g1  # error: [schedule] <k - 9> a factor is at least 1, not -5
            split g1 by a -> g2, g3  # error: [schedule] <a> `a` has no value where the schedule is read
            split g3 by X -> g4, g5  # error: [schedule] <X> `X` has no value where the schedule is read
            split g5 by 2.5 -> g6, g7  # error: [dtype] <2.5> a factor is a float, not an integer
            split g6 by i64(f32(M) * 2) -> ga, gb  # error: [schedule] <i64(f32(M) * 2)> a factor is arithmetic
            split g7 by q -> g8, g9  # error: [unknown-name] <q> unknown name `q`
            prefetch X at a ahead 0  # error: [schedule] <0> a factor is at least 1, not 0
        }
        """
    )


def test_knobs_and_names_are_constants_of_one_namespace(marked: Marked) -> None:
    marked(
        MM
        + """
schedule mm for cpu {
    knob a = 8 in [4, 8]
    knob b = 5 in [4, 8]  # error: [schedule] <5> `b` is 5, which is not among its choices
    knob a = 4 in [4]  # error: [duplicate-name] <a> `a` already names a value here
    knob M = 4 in [4]  # error: [duplicate-name] <M> `M` already names a value here
    knob c = N in [4]  # error: [schedule] <N> the value of a knob is a constant
    knob d = 4 in [4, N]  # error: [schedule] <N> a choice of a knob is a constant
    knob e = true in [true, false]
    let f = 2 * c
    let g = z + 1  # error: [unknown-name] <z> unknown name `z`
    let h = g * 2
    require M % a == 0 and e
    require h > 0 or T == f64
    require M + 1  # error: [dtype] <M + 1> what is required is i64, not bool
}
"""
    )


def test_memories_threads_and_intrinsics_are_known(marked: Marked) -> None:
    marked(
        MM
        + """
memory scratch { capacity 48KiB }
intrinsic fma(a: f32[8], b: f32[8], c0: f32[8]) -> c: f32[8] for x86 { c[i] = c0[i] + a[i] * b[i] }
schedule mm for cpu {
    cache A at C.k in scratch as A0
    cache A at C.k in register as A1
    cache A at C.k in shared as A2
    cache A at C.k in regsiter as A3  # error: [unknown-name] <regsiter> did you mean `register`?
    tensorize C.j with fma
    tensorize C.j with fmadd  # error: [unknown-name] <fmadd> unknown intrinsic `fmadd`
    bind C.i to block.x
    bind C.j to vthread
    bind C.k to thread.w  # error: [schedule] <thread.w> a loop is not bound to `thread.w`
    cooperate A0, A1 over C.i, C.j
    cooperate A0 over C.z  # error: [unknown-loop] <C.z> C.z
    fast_math
}
"""
    )


def test_a_layout_names_the_dimensions_of_its_tensor(marked: Marked) -> None:
    marked(
        """
        op f(X: f32[M, N]) -> Y: f32[M, N] {
            t[i, j] = X[i, j]
            Y[i, j] = t[i, j]
        }
        schedule f for cpu {
            layout t(i, j) [i + j, i]
            layout X(i, j) [j // 16, i, j % 16] pad 0 pack
            layout X(i, j) [j, i]  # error: [schedule] <X(i, j)> add `pack`
            layout t(i, j) [j, i] pack  # error: [schedule] <pack> `t` is not an input, and is not packed
            layout t(i) [i]  # error: [rank] <t(i)> `t` has 2 dimensions, and 1 are named
            layout t(i, i) [i]  # error: [schedule] <t(i, i)> a layout names each dimension once
            layout t(i, j) [k, i]  # error: [unknown-name] <k> unknown name `k`
            layout t(i, j) [j, i] pad N  # error: [schedule] <N> padding is a constant
            layout u(i, j) [j, i]  # error: [unknown-loop] <u> there is no tensor `u` here
        }
        """
    )
