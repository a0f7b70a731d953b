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
from pathlib import Path

from tests.compiler.schedule.generated.cases import random_case
from tests.compiler.schedule.generated.referee import Report, describe, judge
from tests.compiler.schedule.generated.shrink import shrink
from tests.compiler.schedule.generated.totals import Totals

KEPT = Path(__file__).with_name("totals.json")
_SAVED_EVERY = 50


def judged(seed: int) -> Report:
    return judge(random_case(seed))


def _commit() -> str:
    """The state of the code, `+` if it was changed since."""
    described = ("git", "describe", "--always", "--dirty=+", "--abbrev=9", "--exclude=*")
    return subprocess.run(described, check=True, capture_output=True, text=True, cwd=KEPT.parent).stdout.strip()


def _say(report: Report) -> None:
    if report.failures:
        sys.stdout.write(f"{describe(judge(shrink(report.case)))}\n\n")
        sys.stdout.flush()


def _sweep(totals: Totals, path: Path, cases: int, processes: int) -> None:
    totals.began(_commit())
    with ProcessPoolExecutor(processes) as pool:
        for number, report in enumerate(pool.map(judged, range(totals.next, totals.next + cases), chunksize=10), 1):
            totals.judged(report)
            _say(report)
            if number % _SAVED_EVERY == 0 or number == cases:
                totals.write(path)


def _again(totals: Totals, path: Path) -> None:
    for seed in list(totals.failures):
        report = judged(seed)
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
