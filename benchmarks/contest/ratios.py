"""Ratios of times and how sure they are.

In each round two contenders take a turn each, next to each other, so a ratio is taken in the round and the median over
rounds counts: what slows the machine for a while slows both.

    theirs 2.0 2.2 4.0          ratios 2.0 2.0 2.0          2.0, no matter that the third round was slow
    ours   1.0 1.1 2.0

The interval is a bootstrap's: rounds are drawn with replacement as often as there are rounds, ten thousand times; it
holds the middle 95% of the medians. A geometric mean of rows is that of their medians; its interval draws the rounds of
each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast ours is: the median, and the ends of its 95% interval."""

    low: float
    median: float
    high: float

    def reaches(self, bar: float) -> bool:
        return self.high >= bar


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> Ratio:
    """From the times of the same rounds."""
    return geometric_mean([per_round(theirs, ours)])


def per_round(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    return [other / own for other, own in zip(theirs, ours, strict=True)]


def geometric_mean(rows: Sequence[Sequence[float]]) -> Ratio:
    """Of the medians of rows, each the ratios of its rounds."""
    generator = np.random.default_rng(0)
    logarithms = [np.log(row) for row in rows]
    drawn = [np.median(generator.choice(row, (_DRAWS, len(row))), axis=1) for row in logarithms]
    low, high = np.percentile(np.mean(drawn, axis=0), (2.5, 97.5))
    middle = np.mean([np.median(row) for row in logarithms])
    return Ratio(float(np.exp(low)), float(np.exp(middle)), float(np.exp(high)))
