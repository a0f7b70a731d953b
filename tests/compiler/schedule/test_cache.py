"""Caches: layouts by the digits that loops make of subscripts."""

from __future__ import annotations

import pytest
from tdl.compiler.schedule.check import check_schedules
from tdl.compiler.trial import try_case
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse
from tdl.language.cases import check_case
from tdl.language.source import Source

PRODUCT = "op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"


def analysed(lines: str, tests: str) -> Analysis:
    text = PRODUCT + "schedule mm {\n" + lines + "\n}\n" + tests
    return analyse(Source("cache.tdl", text))


def test_a_loop_of_one_iteration_may_stand_in_a_layout() -> None:
    """A knob may make a level of tiles vanish; the line stays as it is."""
    analysis = analysed(
        "split C.j by [8, 8] -> jp, jr, ji\nreorder jp, C.i, jr, C.k, ji\ncache B at jp as Bp layout [jr, k, ji]",
        "test a: mm(M=3, K=5, N=16)\ntest b: mm(M=3, K=5, N=13)",
    )
    assert not check_schedules(analysis)
    cases = [
        check_case(each.declaration).case
        for each in analysis.module.entries
        if isinstance(each.placed.item, syntax.Test)
    ]
    assert len(cases) == 2
    for case in cases:
        assert case is not None
        assert try_case(case).is_good


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        ("[ji, k]", "leaves out `jo`"),
        ("[jo, k, ji, k]", "listed twice"),
        ("[jo, k, i]", "`i` is no part of a subscript"),
    ],
)
def test_a_layout_lists_every_part_once(layout: str, words: str) -> None:
    lines = f"split C.j by 8 -> jo, ji\nreorder C.i, jo, C.k, ji\ncache B at C.i as Bp layout {layout}"
    (found,) = check_schedules(analysed(lines, ""))
    assert found.code == "cache"
    assert words in found.message
