"""How fast the tools of the language are: one table of figures with their targets.

    python benchmarks/language.py
    python benchmarks/language.py --json > figures.json

Times are medians. What is compared is measured in turns in this one run, so that a ratio or a difference does not
depend on when a part of it was taken. The exit code is 1 where a target is missed, 2 where the machine is too busy to
measure.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from figures import Figure, report
from generate import PROGRAMS, generate
from quiet import refuse_if_busy

LINES = 2000
CALLS = 5000
"""Calls of a tiny op in one reading."""

Run = Callable[[], object]
Array = np.ndarray[Any, Any]


def seconds(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def in_turns(runs: list[Run], rounds: int) -> list[list[float]]:
    """The seconds of each run in every round; in a round each runs once. A first round does not count."""
    for run in runs:
        run()
    return [list(each) for each in zip(*([seconds(run) for run in runs] for _ in range(rounds)))]


# ---- whole processes


def processes(rounds: int) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.tdl"
        path.write_text(generate(LINES), encoding="utf-8")
        version, check = in_turns([_process("--version"), _process("check", str(path))], rounds)
    yield Figure("tdlc --version, whole process", median(version), "s", 0.15)
    yield Figure(f"tdlc check of {LINES} lines, whole process", median(check), "s", 1.0)


def _process(*arguments: str) -> Run:
    command = [*_tdlc(), *arguments]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _tdlc() -> list[str]:
    """The command that is installed beside this interpreter, or its module in a checkout."""
    script = shutil.which("tdlc", path=os.path.dirname(sys.executable))
    return [script] if script else [sys.executable, "-m", "tdl.compiler.cli.main"]


# ---- checking again after an edit


def recheck(rounds: int) -> Iterator[Figure]:
    """One line of one op is edited at a time; every op of one copy of the programs is edited in turn."""
    from tdl.compiler.schedule.check import diagnose
    from tdl.language.analysis import analyse
    from tdl.language.source import Source

    text = generate(LINES)
    diagnose(analyse(Source("long.tdl", text)))
    heads = [line for line in text.splitlines() if line.startswith("op ") and "_4" in line and line.endswith("{")]
    times: dict[str, list[float]] = {head: [] for head in heads}
    for number in range(rounds):
        for head in heads:
            source = Source("long.tdl", text.replace(head, f"{head}  # edit {number}"))
            times[head].append(seconds(lambda source=source: diagnose(analyse(source))))
    yield Figure("check again after a one-line edit, slowest op", max(map(median, times.values())) * 1e3, "ms", 30)


# ---- the evaluator


def evaluator(rounds: int) -> Iterator[Figure]:
    from tdl.language.analysis import analyse
    from tdl.language.binding import bind
    from tdl.language.evaluate import evaluate
    from tdl.language.source import Source

    size = 512
    generator = np.random.default_rng(0)
    A, B = (generator.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    path = PROGRAMS / "matmul.tdl"
    op = analyse(Source(str(path), path.read_text(encoding="utf-8"))).module.ops["matmul"]
    bound = bind(op, {}, {}, dict.fromkeys("MNK", size))
    ours, peer = in_turns(
        [
            lambda: evaluate(bound.program, {"A": A, "B": B}, bound.sizes),
            lambda: np.einsum("ik,kj->ij", A, B),
        ],
        rounds,
    )
    yield Figure(f"evaluator, {size}^3 matrix product against einsum", median(ours) / median(peer), "x", 5)


# ---- calling compiled ops


def calls(rounds: int) -> Iterator[Figure]:
    from tdl.compiler import load

    op = load(PROGRAMS / "elementwise.tdl").add_row
    X, r, Y = np.ones((2, 3), np.float32), np.ones(3, np.float32), np.empty((2, 3), np.float32)
    bare = Bare.of(op, [X, r], [Y])
    kernel, (context, inputs, outputs) = bare.kernel, bare.tables
    turns = range(CALLS)
    into, allocating, plain = in_turns(
        [
            lambda: [op(X, r, out=Y) for _ in turns],
            lambda: [op(X, r) for _ in turns],
            lambda: [kernel(context, inputs, outputs) for _ in turns],
        ],
        rounds,
    )
    for name, times, target in (("with out=", into, 2), ("allocating", allocating, 4)):
        overhead = median(time - other for time, other in zip(times, plain)) / CALLS
        yield Figure(f"calling an op {name}, above a bare ctypes call", overhead * 1e6, "µs", target)


@dataclass(frozen=True)
class Bare:
    """The compiled kernel of an op as ctypes calls it, with all tables ready. `kept` is what they point to."""

    kernel: Callable[[int, int, int], int]
    tables: tuple[int, int, int]
    kept: list[object]

    @staticmethod
    def of(op: Any, inputs: list[Array], outputs: list[Array]) -> Bare:
        from tdl.compiler.runtime.compile import compile_program
        from tdl.language.arrays import dtype_of
        from tdl.language.binding import ArrayType, bind

        names = [each.name.text for each in op.declaration.item.inputs]
        types = {name: ArrayType(dtype_of(array.dtype), array.shape) for name, array in zip(names, inputs)}
        program = bind(op.declaration, types).program
        function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(compile_program(program).address)
        workspace, error = np.zeros(4096, np.uint8), (ctypes.c_int64 * 5)()
        context = (ctypes.c_void_p * 5)(-(-workspace.ctypes.data // 64) * 64, None, None, ctypes.addressof(error), None)
        kept: list[object] = [workspace, error, context, *inputs, *outputs]
        tables = [_table(arrays, kept) for arrays in (inputs, outputs)]
        return Bare(function, (ctypes.addressof(context), *tables), kept)


def _table(arrays: list[Array], kept: list[object]) -> int:
    """The address of `{data, sizes}` for each array."""
    words: list[int] = []
    for array in arrays:
        sizes = (ctypes.c_int64 * array.ndim)(*array.shape)
        words += [array.ctypes.data, ctypes.addressof(sizes)]
        kept.append(sizes)
    table = (ctypes.c_void_p * len(words))(*words)
    kept.append(table)
    return ctypes.addressof(table)


# ---- the table


def measure(rounds: int) -> list[Figure]:
    return [figure for part in (processes, recheck, evaluator, calls) for figure in part(rounds)]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the tools of the language against their targets.")
    parser.add_argument("--rounds", type=int, default=9, help="repetitions, of which the median counts (default: 9)")
    parser.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    parser.add_argument("--force", action="store_true", help="measure although the machine is busy")
    options = parser.parse_args()
    refuse_if_busy(options.force)
    figures = measure(options.rounds)
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
