"""What random schedules found to be wrong, each case as small as it was shrunk to, judged as they are."""

from __future__ import annotations

import pytest

from tests.compiler.schedule.generated.cases import Case
from tests.compiler.schedule.generated.ops import RandomOp
from tests.compiler.schedule.generated.referee import describe, judge

CASES = {
    "a fused loop with the name of one that it is made of, around a copy": (
        "op f(X: i32[N], Z: i32[L]) -> Y: i32[N, L] { Y[i, j] = X[i] * Z[j] }",
        ("cache Z at j as Q", "fuse i, j -> i"),
        ({"N": 1, "L": 2}, {"N": 3, "L": 4}),
    ),
    "a wavefront with the name of the loop outside, around a partial result": (
        "op f(X: i32[K, N]) -> Y: i32[K, N] { Y[i, j] = X[i, j] + sum(X[i, q] for q) }",
        ("skew i, j -> w, i",),
        ({"K": 4, "N": 3}, {"K": 1, "N": 5}),
    ),
    "every element begins, though the one iteration of the reduction's loop sums into some only": (
        "op f(X: i64[K, M]) -> Y: i64[K, M] { Y[i, j] = sum(X[q, j] for q in 0..i)  for i in 0..K, j in 0..M }",
        ("reorder q, i",),
        ({"K": 2, "M": 1}, {"K": 4, "M": 3}),
    ),
    "a place in which nothing is summed, and each lane stores the identity": (
        "op f(X: i16[N, K]) -> Y: i16[K] where K >= 1 {\n"
        "    T[j] = sum(X[i, j] for i if X[i, j] > 0)\n"
        "    Y[i] = sum(T[i + d | wrap] for d in -1..2)  for i in 0..K\n"
        "}",
        ("compute T at d", "store T at Y.i", "vectorize Y.d by 2"),
        ({"N": 0, "K": 11}, {"N": 2, "K": 3}),
    ),
    "no iterations in two parts, around storage": (
        "op f(X: i32[N, M]) -> Y: i32[N, M] { Y[i, j] = sum(X[i, q] for q in 0..j)  for i in 0..N, j in 0..M }",
        ("cache Y at Y.j as Q", "split Y.j into 2 -> x2, x3"),
        ({"N": 1, "M": 0}, {"N": 2, "M": 5}),
    ),
    "a range of data, which only a statement would be kept from reading too far": (
        "op f(X: i32[M], P: i32[L + 1]) -> Y: i32[L] { Y[n] = sum(X[p | 0] for p in P[n]..P[n + 1])  for n in 0..L }",
        ("split n by 5 -> a, b", "reorder b, a"),
        ({"M": 3, "L": 4}, {"M": 2, "L": 11}),
    ),
    "a copy made ahead that is filled through another": (
        "op f(X: i32[K]) -> Y: i32[K] where K >= 1 {\n    Y[0] = 1\n    Y[i] = X[i]  for i in 1..K\n}",
        ("cache X at Y.1.i as Q1", "cache Q1 at Q1.i in register as Q2", "double_buffer Q1"),
        ({"K": 5}, {"K": 1}),
    ),
    "the loops of a copy over what was peeled": (
        "op f(X: i32[M, K]) -> Y: i32[M, K] { Y[i, j] = X[i, j] }",
        (
            "split i by 3 -> x1, x2",
            "peel x1",
            "cache X at Y.x1.tail as Q layout [Y.j.tail, Y.x2.tail]",
            "cache Q at Q.x2.tail as R pad 0",
        ),
        ({"M": 5, "K": 2}, {"M": 3, "K": 1}),
    ),
    "copies of one element in the lanes of a loop that is of the reduction as well": (
        "op f(X: i32[N, 3]) -> Y: i32[N] { Y[i] = sum(X[i, r] for r) }",
        ("fuse Y.i, Y.r -> x", "cache Y at x as Q", "vectorize x by 2"),
        ({"N": 2}, {"N": 5}),
    ),
    "a reduction begun in a tile that was peeled": (
        "op f(X: i32[N]) -> Y: i32 {\n    T = i32(all(X[i] >= 0 for i))\n    Y = T\n}",
        (
            "split T.all.i into 1 -> x1, x2",
            "stream T",
            "cache T.all at x1 in stack as Q",
            "split x2 by 1 -> x5, x6",
            "peel x5",
        ),
        ({"N": 0}, {"N": 3}),
    ),
    "a loop by its short name, when the others of that name are gone": (
        "op f(X: i32[K, M]) -> Y: i32[K, M] where K >= 2 {\n"
        "    Y[0, j] = 1\n"
        "    Y[i, j] = 1  for i in 1..2\n"
        "    Y[i, j] = X[i, j]  for i in 2..K\n"
        "}",
        ("fuse Y.1.i, Y.1.j -> x1", "fuse i, Y.2.j -> x2", "split x2 by 2 -> x3, x4", "peel Y.2.x3"),
        ({"K": 3, "M": 2}, {"K": 2, "M": 1}),
    ),
    "the copied loops of a copy": (
        "op f(X: i32[K, M]) -> Y: i32[K, M] { Y[i, j] = X[i, j] }",
        ("cache Y at Y.j as Q", "split Q.out.i by 2 -> x2, x3", "peel Q.out.x2", "reorder Q.out.x3.tail, Q.out.j.tail"),
        ({"K": 3, "M": 2}, {"K": 1, "M": 1}),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_found(name):
    text, lines, sizes = CASES[name]
    dims = tuple(dict.fromkeys(dim for each in sizes for dim in each))
    report = judge(Case(0, RandomOp(f"{text}\n", ("found",), dims, ()), lines, sizes))
    assert not report.failures, describe(report)
