"""The process of one contender: prepares a row when asked, and answers one turn at a time with its median time.

    python -m contest.worker CONTENDER THREADS [CORE]

    {"hello": "openblas"}                      ->  {}, or {"missing": why}
    {"prepare": "square 512"}                  ->  {"calls": [{"name": "numpy", "column": "plain"}]}
    {"turn": "numpy", "seconds": 0.02}         ->  {"seconds": 1.1e-3}

A turn spoils the last answer, calls until the processors are awake, takes samples of at least a fifth of a millisecond,
and then checks the answer against the float64 reference. Whatever goes wrong is answered as {"fault": why}.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from contest.peers import Call
from contest.workloads import Array, Workload, error, find

SHORTEST = 2e-4
"""Seconds of a sample: shorter calls are repeated within it."""
AWAKE = 5e-3
"""Seconds of calls before the clock counts: a processor that slept is slow to come, and so are threads on it."""


@dataclass(slots=True)
class Worker:
    """What was prepared last."""

    contender: Any
    threads: int
    workload: Workload | None = None
    reference: Array | None = None
    calls: dict[str, Call] | None = None

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        if "hello" in question:
            return {}
        if "prepare" in question:
            return self.prepare(find(question["prepare"]))
        return {"seconds": self.turn(question["turn"], question["seconds"])}

    def prepare(self, workload: Workload) -> dict[str, Any]:
        self.workload, self.reference, self.calls = workload, None, {}
        inputs = workload.inputs()
        calls = self.contender.prepare(workload, inputs, self.threads)
        self.calls = {call.name: call for call in calls}
        if calls:
            self.reference = workload.reference(inputs)
        return {"calls": [{"name": each.name, "column": each.column} for each in calls]}

    def turn(self, name: str, seconds: float) -> float:
        assert self.workload is not None
        assert self.calls is not None
        call = self.calls[name]
        call.run()
        call.result().fill(math.nan)
        taken = _until(AWAKE, call.run)
        count = max(1, math.ceil(SHORTEST / max(taken, 1e-9)))
        samples: list[float] = []
        end = time.perf_counter() + seconds
        while not samples or time.perf_counter() < end:
            samples.append(_sample(call.run, count))
        assert self.reference is not None
        worst = error(call.result(), self.reference)
        if worst > self.workload.tolerance:
            raise ValueError(f"{name} is wrong: an error of {worst:.1e}")
        return median(samples)


def _until(seconds: float, run: Callable[[], object]) -> float:
    """Call once at least and for some seconds; the shortest time of a call."""
    start = time.perf_counter()
    shortest = math.inf
    while True:
        before = time.perf_counter()
        run()
        after = time.perf_counter()
        shortest = min(shortest, after - before)
        if after - start >= seconds:
            return shortest


def _sample(run: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - start) / count


def main() -> None:
    contender, threads, *core = sys.argv[1:]
    if core:
        os.sched_setaffinity(0, {int(core[0])})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not stand between the answers
    try:
        worker = Worker(importlib.import_module(f"contest.peers.{contender}"), int(threads))
    except ImportError as fault:
        worker = None
        missing = str(fault)
    for line in sys.stdin:
        try:
            answer = {"missing": missing} if worker is None else worker.answer(json.loads(line))
        except Exception as fault:
            traceback.print_exc()
            answer = {"fault": f"{type(fault).__name__}: {fault}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
