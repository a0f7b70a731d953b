"""Random ops under random schedules: what is accepted is right, and what is refused is wrong.

Five hundred cases always; `pytest -m nightly` tries twenty thousand others. `sweep.py` prints the figures.
"""

from __future__ import annotations

import pytest

from tests.compiler.schedule.generated.cases import random_case
from tests.compiler.schedule.generated.lines import WEIGHTS
from tests.compiler.schedule.generated.referee import describe, judge
from tests.compiler.schedule.generated.shrink import shrink
from tests.compiler.schedule.generated.totals import Totals

CHUNK = 50
USUAL = range(0, 500, CHUNK)
NIGHTLY = range(100_000, 120_000, CHUNK)


def check(first: int) -> Totals:
    totals = Totals()
    for seed in range(first, first + CHUNK):
        report = judge(random_case(seed))
        assert not report.failures, describe(judge(shrink(report.case)))
        totals.add(report)
    return totals


@pytest.fixture(scope="module")
def figures():
    return Totals()


@pytest.mark.parametrize("first", USUAL)
def test_cases(first, figures):
    figures.merge(check(first))


def test_figures(figures):
    """Every primitive is tried often, and refusals are neither rare nor mostly timid."""
    if figures.counts["cases"] < len(USUAL) * CHUNK:
        pytest.skip("the cases ran in other processes")
    for verb in (primitive.__name__ for primitive in WEIGHTS):
        assert figures.share(verb) >= 0.05, verb
    assert 0.2 < figures.refused < 0.45
    assert figures.conservative < 0.02


@pytest.mark.nightly
@pytest.mark.parametrize("first", NIGHTLY)
def test_more_cases(first):
    check(first)
