"""Starts the processes of the contenders and speaks to them, one line of JSON each way.

All have the same number of threads. With one thread every process is pinned to the same core, the last that this
process may use: only one of them is ever at work. Variables that would make OpenBLAS take a kernel of another machine
are unset.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_COUNTS = ("OMP", "MKL", "OPENBLAS", "NUMBA", "HL", "TDL")
_BENCHMARKS = Path(__file__).parents[1]


@dataclass(slots=True)
class Process:
    """A contender at a number of threads. A process that dies or does not answer in time is started anew."""

    contender: str
    threads: int
    log: IO[str]
    process: subprocess.Popen[str] | None = None

    def ask(self, question: dict[str, Any], patience: float = 120.0) -> dict[str, Any]:
        self.send(question)
        return self.answer(patience)

    def send(self, question: dict[str, Any]) -> None:
        if self.process is None:
            self.process = self._started()
        assert self.process.stdin is not None
        try:
            print(json.dumps(question), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            self.stop()

    def answer(self, patience: float = 120.0) -> dict[str, Any]:
        if self.process is None:
            return {"fault": "its process ended"}
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], patience)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.stop()
            return {"fault": "its process ended" if ready else f"no answer in {patience:.0f} s"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "contest.worker", self.contender, str(self.threads)]
        if self.threads == 1 and hasattr(os, "sched_getaffinity"):
            command.append(str(max(os.sched_getaffinity(0))))
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=environment(self.threads),
            encoding="utf-8",
        )


def environment(threads: int) -> dict[str, str]:
    """This process's variables for a worker: without those of `UNSET`, and every library at as many threads."""
    kept = {name: value for name, value in os.environ.items() if name not in UNSET}
    kept.update({f"{name}_NUM_THREADS": str(threads) for name in _COUNTS})
    kept["PYTHONPATH"] = os.pathsep.join([str(_BENCHMARKS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return kept
