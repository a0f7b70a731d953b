"""Two passes over the contenders of a row, in interleaved rounds.

    first pass, a few rounds:   numpy torch onnxruntime halide ...      -> the best peer of each column
    second pass, all rounds:    ours numpy | ours packed oneDNN | ...   -> times that ratios are taken of

The best peer is chosen in the first pass only, so that a lucky turn does not choose and count as well. In every round
the order moves on by one, and with more threads than one there is a pause before each turn, since threads of several
libraries go on spinning for a tenth of a second after a call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from contest.peers import OURS
from contest.ratios import Ratio, per_round, ratio
from contest.workers import Process
from contest.workloads import Workload

FIRST_ROUNDS = 5
PAUSE = 0.13
TURN = 0.02
"""Seconds of samples in a turn; one sample at least."""

OUR_CALLS = {"baseline": "ours", "plain": "ours", "packed": "ours packed"}
"""Which of our calls each ratio is of. `baseline` is OpenBLAS or Halide's schedulers, others a column's best peer."""

Turn = Callable[[str, float], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Result:
    """A row at a number of threads. `times` has the seconds of a call in each round of the second pass."""

    row: str
    threads: int
    first: dict[str, float]
    rivals: dict[str, str]
    times: dict[str, list[float]]
    faults: list[str] = field(default_factory=list)

    def rounds(self, key: str) -> list[float] | None:
        """How many times as fast as its rival ours was in each round; None where one of them was not measured."""
        theirs, ours = self.times.get(self.rivals.get(key, "")), self.times.get(OUR_CALLS[key])
        return per_round(theirs, ours) if theirs and ours else None

    def ratio(self, key: str) -> Ratio | None:
        theirs, ours = self.times.get(self.rivals.get(key, "")), self.times.get(OUR_CALLS[key])
        return ratio(theirs, ours) if theirs and ours else None


def measure(workload: Workload, processes: Mapping[str, Process], rounds: int) -> Result:
    """Both passes. Contenders that fail are named in `faults` and left out."""
    threads = processes[OURS].threads
    columns, owners, faults = _prepare(workload, processes)
    pause = PAUSE if threads > 1 else 0.0

    def turn(name: str, seconds: float) -> dict[str, Any]:
        time.sleep(pause)
        return owners[name].ask({"turn": name, "seconds": seconds})

    peers = [name for name in owners if name not in OUR_CALLS.values()]
    first = {name: median(times) for name, times in take_turns(peers, FIRST_ROUNDS, turn, faults).items()}
    rivals = choose(first, columns)
    again = [name for name in dict.fromkeys((*OUR_CALLS.values(), *rivals.values())) if name in owners]
    return Result(workload.name, threads, first, rivals, take_turns(again, rounds, turn, faults), faults)


def _prepare(
    workload: Workload, processes: Mapping[str, Process]
) -> tuple[dict[str, str], dict[str, Process], list[str]]:
    """The column and the process of each call, and what went wrong. All prepare at once."""
    columns: dict[str, str] = {}
    owners: dict[str, Process] = {}
    faults: list[str] = []
    for process in processes.values():
        process.send({"prepare": workload.name})
    for contender, process in processes.items():
        answer = process.answer(300.0)
        if "fault" in answer:
            faults.append(f"{contender}: {_first_line(answer)}")
        for call in answer.get("calls", ()):
            columns[call["name"]] = call["column"]
            owners[call["name"]] = process
    return columns, owners, faults


def choose(first: Mapping[str, float], columns: Mapping[str, str]) -> dict[str, str]:
    """The calls that ours is measured against: a baseline, and the fastest of each column."""

    def fastest(names: Iterable[str]) -> str | None:
        return min(names, key=lambda name: first[name], default=None)

    found = {
        "baseline": "numpy" if "numpy" in first else fastest(name for name in first if name.startswith("halide")),
        "plain": fastest(name for name in first if columns[name] == "plain"),
        "packed": fastest(name for name in first if columns[name] == "packed"),
    }
    return {key: name for key, name in found.items() if name is not None}


def take_turns(names: Sequence[str], rounds: int, turn: Turn, faults: list[str]) -> dict[str, list[float]]:
    """The seconds of each call in every round. What fails once is left out of the rest, and of the answer."""
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        order = list(times)
        start = number % max(1, len(order))
        for name in (*order[start:], *order[:start]):
            answer = turn(name, TURN)
            if "seconds" in answer:
                times[name].append(answer["seconds"])
            else:
                faults.append(f"{name}: {_first_line(answer)}")
                del times[name]
    return times


def _first_line(answer: dict[str, Any]) -> str:
    return str(answer["fault"]).partition("\n")[0]
