"""Ratios of rounds, their intervals, and what they are judged by."""

from __future__ import annotations

import pytest
from contest.bars import mean_bars, missed, row_bars, unmeasured
from contest.ratios import Ratio, geometric_mean, per_round, ratio
from contest.workloads import ROWS, find


def test_a_ratio_is_taken_in_the_round() -> None:
    assert per_round([2.0, 2.2, 4.0], [1.0, 1.1, 2.0]) == [2.0, 2.0, 2.0]
    same = ratio([2.0, 2.2, 4.0], [1.0, 1.1, 2.0])
    assert (same.low, same.median, same.high) == pytest.approx((2.0, 2.0, 2.0))


def test_rounds_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="shorter"):
        per_round([1.0, 2.0], [1.0])


def test_one_slow_round_does_not_move_the_median() -> None:
    ours = [1.0] * 30
    assert ratio([*[1.1] * 29, 50.0], ours).median == pytest.approx(1.1)
    assert ratio([*[1.1] * 29, 50.0], ours).high == pytest.approx(1.1)


def test_the_interval_is_that_of_the_order_statistics_of_a_median() -> None:
    """Of 30 rounds, the 10th and the 21st enclose the median with 95.7%; the bootstrap comes to about these."""
    rounds = [1 + number / 100 for number in range(30)]
    found = geometric_mean([rounds])
    assert found.median == pytest.approx((rounds[14] + rounds[15]) / 2, rel=1e-4)
    assert rounds[8] <= found.low <= rounds[11]
    assert rounds[18] <= found.high <= rounds[21]


def test_intervals_are_the_same_in_every_run() -> None:
    rounds = [1.0, 1.2, 0.9, 1.1, 1.3]
    assert geometric_mean([rounds]) == geometric_mean([rounds])


def test_a_geometric_mean_is_of_the_medians_of_rows() -> None:
    mean = geometric_mean([[2.0, 2.0, 2.0], [0.5, 0.5, 99.0]])
    assert mean.median == pytest.approx(1.0)
    assert mean.low <= 1.0 <= mean.high


def test_a_mean_of_many_rows_is_surer_than_a_row() -> None:
    rounds = [0.9 + number / 100 for number in range(21)]
    one, many = geometric_mean([rounds]), geometric_mean([rounds] * 6)
    assert many.high - many.low < one.high - one.low
    assert many.median == pytest.approx(one.median)


# ---- bars


def test_a_bar_is_met_by_the_upper_end() -> None:
    assert Ratio(0.9, 0.95, 1.0).reaches(1.0)
    assert not Ratio(0.9, 0.95, 0.99).reaches(1.0)


@pytest.mark.parametrize(
    ("name", "threads", "bars"),
    [
        ("square 512", 1, {"baseline": 1.0, "plain": 0.97, "packed": 0.97}),
        ("square 512", 2, {}),
        ("skinny 1x4096x4096", 2, {"plain": 1.0, "packed": 1.0}),
        ("batched 12x512x64x512", 1, {"plain": 1.0, "packed": 1.0}),
        ("f64 1024x1024x1024", 1, {"plain": 1.0, "packed": 1.0}),
        ("blur / 3", 1, {"baseline": 1.0}),
        ("blur / 3, shared schedule", 1, {}),
    ],
)
def test_bars_of_rows(name: str, threads: int, bars: dict[str, float]) -> None:
    assert row_bars(find(name), threads) == bars


def test_bars_of_means() -> None:
    assert mean_bars(1) == {"baseline": 1.05, "plain": 1.02, "packed": 1.02}
    assert mean_bars(2) == {"baseline": 1.05, "plain": 1.0, "packed": 1.0}


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    ratios = {"baseline": Ratio(1.0, 1.1, 1.2), "plain": Ratio(0.8, 0.85, 0.9), "packed": None}
    bars = {"baseline": 1.0, "plain": 0.97, "packed": 0.97}
    assert missed(ratios, bars) == {"plain": 0.97}
    assert unmeasured(ratios, bars) == ["packed"]
    assert unmeasured(ratios, ["plain"]) == []


def test_rows_have_names_of_their_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
