"""What a row has to reach, as ratios to its rivals, and whether the upper end of the interval does.

`baseline` is OpenBLAS (Halide's automatic schedules for blur); `plain` and `packed` are the best peers that are given B
as it is, and prepared. Squares have bars of their own and for their geometric mean; with two threads only the mean has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from contest.ratios import Ratio
from contest.workloads import Workload

KEYS = ("baseline", "plain", "packed")


def row_bars(workload: Workload, threads: int) -> dict[str, float]:
    match workload.family:
        case "square":
            return {"baseline": 1.0, "plain": 0.97, "packed": 0.97} if threads == 1 else {}
        case "blur":
            return {} if workload.variant == "/ 3, shared schedule" else {"baseline": 1.0}
        case _:
            return {"plain": 1.0, "packed": 1.0}


def mean_bars(threads: int) -> dict[str, float]:
    best = 1.02 if threads == 1 else 1.0
    return {"baseline": 1.05, "plain": best, "packed": best}


def missed(ratios: Mapping[str, Ratio | None], bars: Mapping[str, float]) -> dict[str, float]:
    """The bars that are not reached. What was not measured is not among them."""
    return {key: bar for key, bar in bars.items() if (ratio := ratios.get(key)) is not None and not ratio.reaches(bar)}


def unmeasured(ratios: Mapping[str, Ratio | None], bars: Iterable[str]) -> list[str]:
    """The bars that could not be judged: ours has no such op or failed, or no peer of the column is installed."""
    return [key for key in bars if ratios.get(key) is None]
