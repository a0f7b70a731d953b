"""Random schedules by the thousand: `python -m tests.compiler.schedule.sweep --cases 1000`.

Goes on at the seed after the last one in the totals, adds to them, and prints for each failure the smallest case that
fails in the same way. At one commit a seed always means the same case. `--report` only prints the figures, `--again`
only tries again what failed, `--merge` adds the totals of a sweep that another copy of the repository made.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path

from tests.compiler.schedule.generated.cases import random_case
from tests.compiler.schedule.generated.referee import Report, describe, judge
from tests.compiler.schedule.generated.shrink import shrink
from tests.compiler.schedule.generated.totals import Totals

KEPT = Path(__file__).with_name("totals.json")
CRASHED = "crash: the process ended"
_SAVED_EVERY = 50


def judged(seed: int) -> Report:
    return judge(random_case(seed))


def _commit() -> str:
    """The state of the code, `+` if it was changed since."""
    described = ("git", "describe", "--always", "--dirty=+", "--abbrev=9", "--exclude=*")
    return subprocess.run(described, check=True, capture_output=True, text=True, cwd=KEPT.parent).stdout.strip()


def _all_judged(seeds: range, processes: int) -> Iterator[Report]:
    """The reports of seeds in their order; one that ends its process, as wrong machine code may, has failed."""
    while seeds:
        with suppress(BrokenProcessPool), ProcessPoolExecutor(processes) as pool:
            for report in pool.map(judged, seeds):
                yield report
                seeds = seeds[1:]
        if seeds:
            yield _judged_alone(seeds[0])
            seeds = seeds[1:]


def _judged_alone(seed: int) -> Report:
    with ProcessPoolExecutor(1) as pool:
        try:
            return pool.submit(judged, seed).result()
        except BrokenProcessPool:
            return Report(random_case(seed), failures=[CRASHED])


def _say(report: Report) -> None:
    if report.failures:
        smallest = report if report.failures == [CRASHED] else judge(shrink(report.case))
        sys.stdout.write(f"{describe(smallest)}\n\n")
        sys.stdout.flush()


def _sweep(totals: Totals, path: Path, cases: int, processes: int) -> None:
    totals.began(_commit())
    for number, report in enumerate(_all_judged(range(totals.next, totals.next + cases), processes), 1):
        totals.judged(report)
        _say(report)
        if number % _SAVED_EVERY == 0 or number == cases:
            totals.write(path)


def _again(totals: Totals, path: Path) -> None:
    for seed in list(totals.failures):
        report = _judged_alone(seed)
        totals.add(report)
        _say(report)
        totals.write(path)


def figures(totals: Totals) -> Iterator[str]:
    yield from totals.figures()
    yield from (f"seed {seed}: {messages[0]}" for seed, messages in totals.failures.items())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("totals", type=Path, nargs="?", default=KEPT, help="a JSON file with all counts so far")
    parser.add_argument("--cases", type=int, default=1000, help="how many more")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--merge", type=Path, metavar="OTHER")
    given = parser.parse_args(arguments)
    totals = Totals.read(given.totals)
    if given.merge is not None:
        totals.merge(Totals.read(given.merge))
        totals.write(given.totals)
    elif given.again:
        _again(totals, given.totals)
    elif not given.report:
        _sweep(totals, given.totals, given.cases, given.processes)
    sys.stdout.write("\n".join(figures(totals)) + "\n")
    return 1 if totals.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
