"""Times of calls, fairly: contenders take turns, and each sample is long enough for the clock.

A machine's speed drifts, so only figures of one run are compared, by the median of the ratios of neighbouring samples.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_SHORTEST = 1e-3  # seconds of one sample; shorter calls are repeated within it


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one call, a sample for each round."""

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a share of the median."""
        if len(self.samples) < 4:
            return 0.0
        low, _, high = statistics.quantiles(self.samples, n=4)
        return (high - low) / 2 / self.median

    def against(self, other: Timing) -> float:
        """How many times as fast as another contender of the same rounds."""
        return statistics.median(theirs / ours for ours, theirs in zip(self.samples, other.samples))


def take_turns(contenders: Mapping[str, Callable[[], object]], seconds: float, pause: float = 0.0) -> dict[str, Timing]:
    """Rounds in which every contender runs once, until the time is up; at least three.

    `pause` is waited between contenders, for those whose threads go on spinning after a call.
    """
    counts = {name: _calls_per_sample(run) for name, run in contenders.items()}
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 3 or time.perf_counter() < end:
        for name, run in contenders.items():
            if pause:
                time.sleep(pause)
            samples[name].append(_sample(run, counts[name]))
        rounds += 1
    return {name: Timing(tuple(each)) for name, each in samples.items()}


def _calls_per_sample(run: Callable[[], object]) -> int:
    """How many calls make a sample long enough, found while warming up."""
    run()
    count = 1
    while True:
        taken = _sample(run, count) * count
        if taken >= _SHORTEST:
            return count
        count = max(count + 1, min(count * 10, int(count * 1.2 * _SHORTEST / max(taken, 1e-9))))


def _sample(run: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count
