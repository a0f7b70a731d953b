"""Ops under their automatic schedules: random ones give what the evaluator gives, on every size."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tdl.compiler.schedule.planner import threads
from tdl.compiler.schedule.planner.plan import plan

from tests.compiler.schedule.generated.cases import Subject, random_case, symbols
from tests.compiler.schedule.generated.results import Scheduled

CHUNK = 20
USUAL = range(0, 60, CHUNK)
NIGHTLY = range(100_000, 120_000, CHUNK)


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """Small loops are made parallel too."""
    monkeypatch.setattr(threads, "WORTH", 1)


def check(first, *, with_code):
    for seed in range(first, first + CHUNK):
        case = replace(random_case(seed), lines=())
        subject, sizes = Subject(case), case.sizes[seed % len(case.sizes)]
        for_all = plan(subject.op, subject.program, {})
        Scheduled(subject, subject.program, for_all.nest, with_code).check(case.sizes)
        program = subject.program_at(sizes)
        for_one = plan(subject.op, program, symbols(sizes))
        Scheduled(subject, program, for_one.nest, with_code).check((sizes,))


@pytest.mark.parametrize("first", USUAL)
def test_random_ops(first):
    check(first, with_code=False)


@pytest.mark.nightly
@pytest.mark.parametrize("first", NIGHTLY)
def test_more_random_ops(first):
    check(first, with_code=True)
