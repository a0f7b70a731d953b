"""What a sweep came to is kept, goes on and is added up; the figures in the documentation are those that are kept."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest

from tests.compiler.schedule import sweep
from tests.compiler.schedule.generated.cases import random_case
from tests.compiler.schedule.generated.lines import WEIGHTS
from tests.compiler.schedule.generated.referee import Finding, Report
from tests.compiler.schedule.generated.totals import Range, Totals
from tests.compiler.schedule.sweep import KEPT

PAGE = Path(__file__).parents[3] / "docs" / "schedules.md"


def report(seed: int, *verdicts: str, failures: tuple[str, ...] = ()) -> Report:
    findings = [Finding("split", verdict, f"`x{seed}` is {seed}") for verdict in verdicts]
    return Report(random_case(seed), findings, list(failures))


def swept(first: int, *reports: Report, commit: str = "a") -> Totals:
    totals = Totals([Range(first, first, commit)])
    for each in reports:
        totals.judged(each)
    return totals


def test_goes_on_after_the_last_seed():
    totals = swept(3, report(3, "accepted"), report(4, "conservative"))
    assert totals.next == 5
    totals.began("a")
    assert totals.ranges == [Range(3, 5, "a")]
    totals.began("b")
    totals.judged(report(5, "structural"))
    assert totals.ranges == [Range(3, 5, "a"), Range(5, 6, "b")]
    assert totals.refused == pytest.approx(2 / 3)
    assert totals.conservative == pytest.approx(1 / 3)


def test_a_failure_counts_when_it_passes():
    totals = swept(3, report(3, "accepted", failures=("wrong: all",)))
    assert (totals.counts["cases"], totals.failures) == (0, {3: ["wrong: all"]})
    totals.add(report(3, "accepted"))
    assert (totals.counts["cases"], totals.failures) == (1, {})


def test_a_case_that_ends_its_process_has_failed(monkeypatch):
    def judge(case):
        if case.seed in (1, 3):
            os.kill(os.getpid(), signal.SIGSEGV)
        return Report(case)

    monkeypatch.setattr(sweep, "judge", judge)
    reports = list(sweep._all_judged(range(5), 1))
    assert [(each.case.seed, bool(each.failures)) for each in reports] == list(enumerate((False, True) * 2 + (False,)))


def test_causes_have_no_names():
    totals = swept(3, report(3, "conservative"), report(4, "conservative"))
    assert totals.causes == {"split": {"`_` is n": 2}}


def test_files_keep_all(tmp_path):
    totals = swept(3, report(3, "accepted", "conservative"), report(4, failures=("wrong: all",)))
    totals.write(tmp_path / "kept.json")
    assert Totals.read(tmp_path / "kept.json") == totals
    assert Totals.read(tmp_path / "none.json") == Totals()


def test_merges_other_seeds_only():
    totals = swept(0, report(0, "accepted"))
    totals.merge(swept(1, report(1, "accepted", "structural")))
    assert totals.ranges == [Range(0, 1, "a"), Range(1, 2, "a")]
    assert totals.primitives["split"]["accepted"] == 2
    with pytest.raises(ValueError, match="seeds 1 to 1 are counted already"):
        totals.merge(swept(1, report(1, "accepted")))


# ---- what is kept


def test_kept_totals():
    """Every case so far passes, every primitive is tried often, and refusals are neither rare nor mostly timid."""
    totals = Totals.read(KEPT)
    assert not totals.failures
    assert totals.counts["cases"] == sum(each.end - each.first for each in totals.ranges)
    assert totals.counts["compiled"] >= 0.09 * totals.counts["cases"]
    for verb in (*(primitive.__name__ for primitive in WEIGHTS), "tensorize"):
        assert totals.share(verb) >= 0.05, verb
    assert 0.25 < totals.refused < 0.4
    assert totals.conservative < 0.02


def test_documented_totals(update_golden):
    """The page shows the figures; `--update-golden` writes them."""
    page = PAGE.read_text(encoding="utf-8")
    block = re.compile(r"(?<=```text sweep\n).*?(?=```)", re.DOTALL)
    figures = "\n".join(Totals.read(KEPT).figures()) + "\n"
    if update_golden:
        PAGE.write_text(block.sub(lambda _: figures, page), encoding="utf-8")
    else:
        assert block.findall(page) == [figures]
