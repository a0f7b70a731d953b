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
}


@pytest.mark.parametrize("name", CASES)
def test_found(name):
    text, lines, sizes = CASES[name]
    dims = tuple(dict.fromkeys(dim for each in sizes for dim in each))
    report = judge(Case(0, RandomOp(f"{text}\n", ("found",), dims, ()), lines, sizes))
    assert not report.failures, describe(report)
