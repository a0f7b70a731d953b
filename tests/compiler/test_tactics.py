"""The standard tactics: each applies as it is, and gives what the op gives without it."""

from __future__ import annotations

import numpy as np
import pytest
from tdl.compiler.schedule.apply import apply_schedule
from tdl.compiler.schedule.check import check_schedules
from tdl.compiler.schedule.choose import schedules_of
from tdl.compiler.schedule.evaluate import evaluate_nest
from tdl.compiler.schedule.walk import loops_of
from tdl.compiler.steps import steps_of
from tdl.language import syntax
from tdl.language.analysis import analyse
from tdl.language.cases import Case, check_case
from tdl.language.evaluate import evaluate
from tdl.language.samples import random_inputs
from tdl.language.source import Source

PROGRAM = """
from std.tactics import matrix_product, two_stage_stencil, elementwise, row_reduction, reduction
op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
schedule mm { apply matrix_product(C, i, j, k, B, mr=3, nr=8, np=16, kc=8, lanes=4) }
op blur(X: f32[H, W]) -> Y: f32[H - 2, W - 2] {
    rows[i, j] = (X[i, j] + X[i, j + 1] + X[i, j + 2]) / 3
    Y[i, j]    = (rows[i, j] + rows[i + 1, j] + rows[i + 2, j]) / 3
}
schedule blur { apply two_stage_stencil(Y, rows, i, j, rows=5, lanes=4) }
op relu(X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = max(X[i, j], 0) }
schedule relu { apply elementwise(Y, i, j, lanes=4) }
op sums(X: f32[M, N]) -> s: f32[M] { s[i] = sum(X[i, k] for k) }
schedule sums { apply row_reduction(s, i, k, lanes=4) }
op total(X: f32[N]) -> s: f32 { s = sum(X[k] for k) }
schedule total { apply reduction(s, k, parts=3, lanes=4) }
test a: mm(M=7, K=19, N=21)
test b: blur(H=13, W=14)
test c: relu(M=3, N=9)
test d: sums(M=3, N=9)
test e: total(N=23)
test f: mm(M=0, K=0, N=3)
test g: mm(M=2, K=0, N=3)
"""

ANALYSIS = analyse(Source("tactics.tdl", PROGRAM))


def cases() -> list[Case]:
    found = [check_case(e.declaration).case for e in ANALYSIS.module.entries if isinstance(e.placed.item, syntax.Test)]
    return [case for case in found if case is not None]


def test_all_are_legal() -> None:
    assert not ANALYSIS.diagnostics
    assert not check_schedules(ANALYSIS)
    assert len(cases()) == 7


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_scheduled_op_gives_the_same(case: Case) -> None:
    (schedule,) = schedules_of(case.op, ANALYSIS.module.schedules)
    inputs = random_inputs(case.bound.program, case.bound.sizes)
    wanted = evaluate(case.bound.program, inputs, case.bound.sizes)
    applied = apply_schedule(case.bound.program, schedule)
    assert not applied.diagnostics
    found = evaluate_nest(applied.nest, inputs, case.bound.sizes)
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-5)


def extents(nest) -> dict[str, str]:
    return {loop.name: str(loop.hi - loop.lo) for loop in loops_of(nest.body)}


def test_values_of_a_tactic_are_its_own():
    text = """
tactic t(C, h, n) {
    let wide = 2 * h
    split C.i by wide -> io, ii
    split C.j by h + n -> jo, ji
}
op f(A: f32[M, N]) -> C: f32[M, N] { C[i, j] = A[i, j] + 1 }
schedule f {
    knob h = 3 in [3, 5]
    let wide = 4
    apply t(C, wide, h)
    split io by wide -> a, b
    split jo by h -> c, d
}
"""
    module = analyse(Source("t.tdl", text)).module
    op = module.ops["f"]
    schedules = schedules_of(op, module.schedules)
    nest = steps_of(op, schedules, sizes={"M": 64, "N": 84}).nest()
    assert extents(nest) == {"a": "2", "b": "4", "ii": "8", "c": "4", "d": "3", "ji": "7"}
    other = steps_of(op, schedules, sizes={"M": 64, "N": 90}, knobs={"h": 5}).nest()
    assert extents(other) == {"a": "2", "b": "4", "ii": "8", "c": "2", "d": "5", "ji": "9"}
