"""Tactics: checked by themselves for form, and in the place of each `apply`."""

from __future__ import annotations

from collections.abc import Callable

from tdl.language.analysis import Analysis

Marked = Callable[..., Analysis]

COPY = "op f(X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = X[i, j] }\n"
STRIP = """
tactic strip(T, i, n: int = 8) {
    knob u = 2 in [1, 2]
    require n % u == 0 and M > 0
    split T.i by n * u -> io, ii
    unroll ii
}
"""


def test_a_tactic_is_read_with_its_arguments(marked: Marked) -> None:
    marked(
        COPY
        + STRIP
        + """
schedule f for cpu {
    apply strip(Y, j)
    parallel io
    apply strip(Y, i, n=16)
    parallel io
    unroll Y.j  # error: [unknown-loop] <Y.j> `Y.j` was split into `io`, `ii`
}
"""
    )


def test_what_is_wrong_only_here_is_reported_at_the_apply(marked: Marked) -> None:
    marked(
        COPY
        + STRIP
        + """
schedule f for cpu {
    apply strip(Y, k)  # error: [unknown-loop] in the tactic `strip`: `split T.i by n * u -> io, ii`
    apply strip(Y, j, n=0)  # error: [schedule] <apply strip(Y, j, n=0)> a factor is at least 1, not 0
}
"""
    )


def test_a_value_is_no_loop_and_no_stage(marked: Marked) -> None:
    marked(
        COPY
        + """
tactic run(loop) { unroll loop }
tactic place(stage) { compute stage at root }
schedule f for cpu {
    apply run(8)  # error: [schedule] <apply run(8)> a loop is expected here
    apply place(8)  # error: [schedule] <apply place(8)> a stage is expected here
}
"""
    )


def test_arguments_match_the_parameters(marked: Marked) -> None:
    marked(
        COPY
        + STRIP
        + """
tactic typed(n: int, T: float, on: bool) { }
schedule f for cpu {
    apply strip(Y)  # error: [arguments] <strip(Y)> `i` is missing
    apply strip(Y, i, 8, 9)  # error: [arguments] `strip` takes 3 arguments, not 4
    apply strip(Y, i, m=8)  # error: [unknown-name] <m> unknown argument of `strip`
    apply strip(Y, i, T=Y)  # error: [arguments] `T` of `strip` is given twice
    apply strop(Y, i)  # error: [unknown-name] <strop> unknown tactic `strop`
    apply typed(M, f32, true)
    apply typed(1.5, f32, true)  # error: [dtype] <1.5> `n` is a float, not an integer
    apply typed(1, 2, true)  # error: [parameter] <2> `T` takes a dtype
    apply typed(1, f32, q)  # error: [unknown-name] <q> unknown name `q`
}
"""
    )


def test_a_parameter_may_name_a_loop_a_result_a_copy_and_a_memory(marked: Marked) -> None:
    marked(
        COPY
        + """
tactic deep(T, i, outer, inner, W, copy, mem) {
    split T.i by 8 -> outer, inner
    cache W at outer in mem as copy
    vectorize copy.x
}
schedule f for cpu {
    apply deep(Y, i, io, ii, X, Xp, stack)
    parallel io
    unroll ii
    double_buffer Xp
}
"""
    )


def test_a_tactic_may_apply_another_but_not_itself(marked: Marked) -> None:
    marked(
        COPY
        + STRIP
        + """
tactic both(T) {
    apply strip(T, i)
    fuse io, ii -> s
    apply strip(T, j, n=4)
}
schedule f for cpu {
    apply both(Y)
    parallel s, io
}
tactic again(T) { apply again(T) }  # error: [definition] <again> `again` refers to itself
tactic ping(T) { apply pong(T) }  # error: [definition] <ping> `ping` refers to `pong`, which refers back to it
tactic pong(T) { apply ping(T) }
schedule f for cpu { apply ping(Y) }
"""
    )


def test_a_tactic_is_checked_by_itself(marked: Marked) -> None:
    marked("""
        tactic t(T, i, i) {  # error: [duplicate-name] <i> `i` is declared twice
            split T.i by 8 -> io, ii, iii  # error: [schedule] <io, ii, iii> this makes 2 loops, and 3 are named
            split io by 4 -> a, b
            unroll io  # error: [unknown-loop] <io> `io` was split into `a`, `b`
            knob n = 3 in [4]  # error: [schedule] <3> `n` is 3, which is not among its choices
            bind a to blok.x  # error: [schedule] <blok.x> did you mean `block.x`?
        }
    """)


def test_a_tactic_that_is_wrong_is_not_blamed_on_its_users(marked: Marked) -> None:
    marked(
        COPY
        + """
tactic t(T) {
    split T.i by 8 -> io  # error: [schedule] <io> this makes 2 loops
}
schedule f for cpu {
    apply t(Y)
    unroll ii
}
"""
    )


def test_tactics_are_imported(marked: Marked) -> None:
    marked(
        COPY
        + """
from tactics import strip
import tactics
schedule f for cpu {
    apply strip(Y, i)
    apply tactics.strip(Y, j, n=4)
    unroll ii
}
""",
        {"tactics.tdl": STRIP},
    )
