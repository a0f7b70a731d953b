"""How fast matrix products and a stencil are, against what a user would call instead: one table.

    python benchmarks/speed.py --threads 1,2
    python benchmarks/speed.py --only 'square|f64' --rounds 50
    python benchmarks/speed.py --only skinny --keep        other rows stay as they were in the files
    python benchmarks/speed.py --show                      the table of the files again

README.md beside this file says what is measured and how. The exit code is 1 where a bar is not reached, 2 where the
machine is too busy to measure.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from contest.passes import Result, measure
from contest.peers import OURS, PEERS
from contest.report import lines, markdown, notes, table
from contest.workers import UNSET, Process
from contest.workloads import ROWS, Workload, find, matching
from quiet import refuse_if_busy
from rich.console import Console

FILES = Path(__file__).with_name("results")
ROUNDS = 30
WIDTH = 170
"""Of the table where it is not printed to a terminal."""


def main() -> int:
    options = _options()
    if options.show:
        results, foot = load(FILES / "speed.json")
        return show(results, foot)
    rows = matching(options.only)
    if not rows:
        print(f"no row matches {options.only}; there are: {', '.join(row.name for row in ROWS)}", file=sys.stderr)
        return 2
    refuse_if_busy(options.force)
    kept = load(FILES / "speed.json")[0] if options.keep else []
    measured, missing = contest(rows, options.threads, options.peers, options.rounds)
    new = {(each.row, each.threads) for each in measured}
    results = [each for each in kept if (each.row, each.threads) not in new] + measured
    foot = [*description(options.rounds), *notes(missing, results)]
    save(results, foot)
    return show(results, foot)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time matrix products and a stencil against other libraries.")
    parser.add_argument("--only", default="", metavar="PATTERN", help="rows whose name has a match of this")
    parser.add_argument("--threads", default=[1], type=_numbers, metavar="N,N", help="numbers of threads (default: 1)")
    parser.add_argument("--rounds", default=ROUNDS, type=int, help=f"of the second pass (default: {ROUNDS})")
    parser.add_argument("--peers", default=list(PEERS), type=lambda text: text.split(","), help=",".join(PEERS))
    parser.add_argument("--keep", action="store_true", help="keep the other rows of the last run in the files")
    parser.add_argument("--show", action="store_true", help="print the table of the last run, and measure nothing")
    parser.add_argument("--force", action="store_true", help="measure although the machine is busy")
    return parser.parse_args()


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def contest(
    rows: Sequence[Workload], threads: Sequence[int], peers: Sequence[str], rounds: int
) -> tuple[list[Result], dict[str, str]]:
    """Every row at every number of threads, and the peers that are not installed."""
    results: list[Result] = []
    missing: dict[str, str] = {}
    FILES.mkdir(exist_ok=True)
    for count in threads:
        with workers((OURS, *peers), count) as processes:
            for name in list(processes):
                answer = processes[name].ask({"hello": name})
                if "missing" in answer:
                    missing[name] = answer["missing"]
                    del processes[name]
            for number, row in enumerate(rows, 1):
                print(f"{number} of {len(rows)}, {count} thread{'s'[: count > 1]}: {row.name}", file=sys.stderr)
                results.append(measure(row, processes, rounds))
    return results, missing


@contextmanager
def workers(names: Sequence[str], threads: int) -> Iterator[dict[str, Process]]:
    with (FILES / "workers.log").open("a", encoding="utf-8") as log:
        started = {name: Process(name, threads, log) for name in names}
        try:
            yield dict(started)
        finally:
            for process in started.values():
                process.stop()


def description(rounds: int) -> list[str]:
    """The machine, the libraries and how it was measured."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    packages = ("numpy", "torch", "onnxruntime", "halide", "numba", "llvmlite")
    return [
        f"{_processor()}; {platform.system()}; {blas['name']} {blas['version']}; " + ", ".join(map(_version, packages)),
        f"{rounds} rounds; medians of ratios in a round, with 95% intervals (bootstrap); {' and '.join(UNSET)} unset",
    ]


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    fields = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    names = {name.strip(): value.strip() for name, value in fields.items()}
    return f"{names.get('model name', platform.machine())} (model {names.get('model', '?')})"


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"


def load(path: Path) -> tuple[list[Result], list[str]]:
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": [], "foot": []}
    return [Result(**each) for each in data["rows"]], data["foot"]


def save(results: Sequence[Result], foot: Sequence[str]) -> None:
    ordered = sorted(results, key=lambda each: (each.threads, ROWS.index(find(each.row))))
    text = json.dumps({"foot": list(foot), "rows": [asdict(each) for each in ordered]}, indent=1)
    (FILES / "speed.json").write_text(text + "\n", encoding="utf-8")
    (FILES / "speed.md").write_text(markdown(results, foot), encoding="utf-8")


def show(results: Sequence[Result], foot: Sequence[str]) -> int:
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    console.print(table(results, foot))
    return 1 if any(line.missed for line in lines(results)) else 0


if __name__ == "__main__":
    sys.exit(main())
