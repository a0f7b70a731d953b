"""Which loops may be parallel, where that is decided without numbers."""

from __future__ import annotations

import pytest
from tdl.compiler.schedule.check import check_schedules
from tdl.compiler.steps import steps_of
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse
from tdl.language.source import Source


def analysed(text: str) -> Analysis:
    return analyse(Source("races.tdl", text))


PRODUCT = (
    "op mm(A: f32[B, M, K], W: f32[B, K, N]) -> C: f32[B, M, N] { C[b, i, j] = sum(A[b, i, k] * W[b, k, j] for k) }\n"
)
TILES = """schedule mm {
    split C.i by 4 -> io, ii
    split C.k by 8 -> ko, ki
    reorder C.b, io, ko, ii, C.j, ki
    cache C at ii as Cr
    fuse C.b, io -> task
    parallel task
}
"""


def test_a_copy_in_and_its_copy_out_meet_in_one_iteration_only() -> None:
    """The fused loop is in no subscript alone, and its parts' extents are sizes: no search with numbers finds out."""
    module = analysed(PRODUCT + TILES).module
    schedules = [each.declaration for each in module.entries if isinstance(each.declaration.item, syntax.Schedule)]
    steps = steps_of(module.ops["mm"], schedules)
    assert [step.refusal for step in steps.refused] == []
    assert len(steps.steps) == 7


@pytest.mark.parametrize("lines", ["parallel Y.i", "cache Y at Y.i as Yc\n parallel Y.i"])
def test_iterations_that_hand_values_on_conflict(lines: str) -> None:
    (found,) = check_schedules(
        analysed(
            "op scan(X: f32[N]) -> Y: f32[N] where N >= 1 {\n"
            "    Y[0] = X[0]\n    Y[i] = Y[i - 1] + X[i] for i in 1..N\n}\n"
            f"schedule scan {{\n {lines}\n}}\n"
        )
    )
    assert found.code == "race"
