"""Random schedules by the thousand: `python -m tests.compiler.schedule.sweep TOTALS.json --cases 1000`.

Goes on at the seed after the last one in the totals, and adds to them. Prints figures per primitive and per kind of
op, and for each failure the smallest case that fails in the same way. A seed always means the same case.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.compiler.schedule.generated.cases import random_case
from tests.compiler.schedule.generated.referee import Report, describe, judge
from tests.compiler.schedule.generated.shrink import shrink

VERDICTS = ("accepted", "structural", "confirmed", "conservative", "data", "undecided")
_SAVED_EVERY = 50


@dataclass
class Totals:
    """What all cases so far came to. Counts are keyed by `verb verdict` and `kind verdict`."""

    next: int = 0
    cases: int = 0
    seconds: float = 0.0
    verbs: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    with_verb: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, report: Report) -> None:
        self.cases += 1
        for kind in report.case.op.kinds:
            self.kinds[f"{kind} cases"] += 1
        self.with_verb.update({line.split()[0] for line in report.case.lines})
        for finding in report.findings:
            self.verbs[f"{finding.verb} {finding.verdict}"] += 1
            for kind in report.case.op.kinds:
                self.kinds[f"{kind} {finding.verdict}"] += 1

    @staticmethod
    def read(path: Path) -> Totals:
        if not path.exists():
            return Totals()
        kept = json.loads(path.read_text(encoding="utf-8"))
        counters = {name: Counter(kept.pop(name)) for name in ("verbs", "kinds", "with_verb")}
        return Totals(**kept, **counters)

    def write(self, path: Path) -> None:
        """All or nothing: another file is put in the place of the old one."""
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(self.__dict__, indent=1), encoding="utf-8")
        os.replace(fresh, path)

    # ---- figures

    @property
    def refused(self) -> float:
        """The share of lines that were refused."""
        return 1 - self._sum(self.verbs, "accepted") / max(1, sum(self.verbs.values()))

    @property
    def conservative(self) -> float:
        """The share of lines refused although nothing went wrong, but for those that other data could break."""
        return self._sum(self.verbs, "conservative") / max(1, sum(self.verbs.values()))

    @staticmethod
    def _sum(counts: Mapping[str, int], verdict: str) -> int:
        return sum(count for key, count in counts.items() if key.endswith(f" {verdict}"))

    def lines(self) -> Iterator[str]:
        """The figures as text."""
        yield from _table("primitive", self.verbs, {verb: n / max(1, self.cases) for verb, n in self.with_verb.items()})
        yield ""
        shares = {key.split()[0]: n / max(1, self.cases) for key, n in self.kinds.items() if key.endswith(" cases")}
        yield from _table("kind of op", self.kinds, shares)
        yield ""
        yield (
            f"{self.cases} cases in {self.seconds:.0f} s: {self.refused:.1%} of lines refused, "
            f"{self.conservative:.2%} conservative, {len(self.failures)} failures"
        )


def _table(title: str, counts: Mapping[str, int], shares: Mapping[str, float]) -> Iterator[str]:
    yield f"{title:14}{'of cases':>9}" + "".join(f"{verdict:>14}" for verdict in VERDICTS)
    for name in sorted(shares):
        row = "".join(f"{counts.get(f'{name} {verdict}', 0):>14}" for verdict in VERDICTS)
        yield f"{name:14}{shares[name]:>9.1%}{row}"


def judged(seed: int) -> Report:
    return judge(random_case(seed))


def _failure(report: Report) -> dict[str, Any]:
    smallest = judge(shrink(report.case))
    return {"seed": report.case.seed, "failures": report.failures, "smallest": describe(smallest)}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("totals", type=Path, help="the JSON file with what earlier runs came to")
    parser.add_argument("--cases", type=int, default=1000, help="how many more")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(arguments)
    totals = Totals.read(given.totals)
    began = time.monotonic()
    seeds = range(totals.next, totals.next + given.cases)
    with ProcessPoolExecutor(given.processes) as pool:
        for report in pool.map(judged, seeds, chunksize=10):
            totals.add(report)
            totals.next = report.case.seed + 1
            if report.failures:
                totals.failures.append(_failure(report))
                sys.stdout.write(f"{totals.failures[-1]['smallest']}\n\n")
            if totals.cases % _SAVED_EVERY == 0 or report.case.seed == seeds[-1]:
                totals.seconds, began = totals.seconds + time.monotonic() - began, time.monotonic()
                totals.write(given.totals)
    sys.stdout.write("\n".join(totals.lines()) + "\n")
    return 1 if totals.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
