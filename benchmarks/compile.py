"""How long the compiler takes, from a schedule to code that runs: one table of figures with their targets.

    python benchmarks/compile.py
    python benchmarks/compile.py --json > figures.json

Every figure is the median over new processes, so that nothing is remembered from one round to the next. A process first
compiles another op, which imports everything. The exit code is 1 where a target is missed, 2 where the machine is too
busy to measure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

from figures import Figure, report
from quiet import refuse_if_busy

_HERE = Path(__file__).parent
_SCHEDULES = _HERE.parent / "tests" / "programs" / "schedules.tdl"
_CONVOLUTION = _HERE / "convolution.tdl"
_SIZES = {"M": 1024, "K": 1024, "N": 1024}
_Answer = TypeVar("_Answer")

TARGETS: dict[str, float | None] = {
    "matrix product, nest with legality of every line": 30.0,
    "matrix product, lowering to LLVM text": None,
    "matrix product, LLVM to machine code": 150.0,
    "matrix product, reload from the cache in a new process": 5.0,
    "20 lines on a 7-dimensional convolution, first check": 100.0,
    "20 lines on a 7-dimensional convolution, check after an edit": 100.0,
}
"""In milliseconds. What has none counts towards a call, and is shown for that."""


def timed(run: Callable[[], _Answer]) -> tuple[float, _Answer]:
    """Milliseconds and the answer."""
    start = time.perf_counter()
    answer = run()
    return (time.perf_counter() - start) * 1e3, answer


# ---- what one process measures


def compiling() -> list[float]:
    """From a schedule to machine code, and checking; in the order of `TARGETS`, without the reload."""
    from tdl.compiler import load
    from tdl.compiler.backends.llvm.kernel import kernel_text
    from tdl.compiler.backends.llvm.target import host, object_code
    from tdl.compiler.lower.pipeline import lower
    from tdl.compiler.schedule.check import diagnose
    from tdl.language.analysis import analyse
    from tdl.language.binding import bind
    from tdl.language.source import Source

    module = load(_SCHEDULES)
    module.blur.prepare(bind(module.blur.declaration, {}, {}, {"H": 20, "W": 31}))
    op = module.matmul
    nest_took, nest = timed(lambda: op.nest(**_SIZES))
    lower_took, text = timed(lambda: kernel_text(lower(nest), host()))
    code_took, _ = timed(lambda: object_code(text.ir, host()))
    checks: list[float] = []
    convolution = _CONVOLUTION.read_text(encoding="utf-8")
    for version in (convolution, convolution.replace("split Y.w by wb", "split Y.w by 5")):
        source = Source(str(_CONVOLUTION), version)
        took, found = timed(lambda source=source: diagnose(analyse(source)))
        assert not found
        checks.append(took)
    return [nest_took, lower_took, code_took, *checks]


def reloading() -> list[float]:
    """The kernel of an op that another process compiled."""
    from tdl.compiler import load
    from tdl.language.binding import bind

    module = load(_SCHEDULES)
    module.blur.prepare(bind(module.blur.declaration, {}, {}, {"H": 20, "W": 31}))
    bound = bind(module.matmul.declaration, {}, {}, _SIZES)
    took, _ = timed(lambda: module.matmul.prepare(bound))
    return [took]


# ---- the table


def measure(rounds: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as kept:
        _process("reloading", kept)
        reloads = [_process("reloading", kept)[0] for _ in range(rounds)]
    others = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as empty:
            others.append(_process("compiling", empty))
    values = [median(each) for each in zip(*others)]
    values.insert(3, median(reloads))
    return [Figure(name, value, "ms", target) for (name, target), value in zip(TARGETS.items(), values, strict=True)]


def _process(part: str, cache: str) -> list[float]:
    """What a new process with a cache directory measures."""
    command = [sys.executable, __file__, "--part", part]
    environment = {**os.environ, "TDL_CACHE_DIR": cache}
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, encoding="utf-8")
    figures: list[float] = json.loads(result.stdout)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the compiler's own speed against its targets.")
    parser.add_argument("--rounds", type=int, default=7, help="processes, of which the median counts (default: 7)")
    parser.add_argument("--json", action="store_true", help="print a list of objects instead of a table")
    parser.add_argument("--force", action="store_true", help="measure although the machine is busy")
    parser.add_argument("--part", choices=("compiling", "reloading"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        print(json.dumps(globals()[options.part]()))
        return 0
    refuse_if_busy(options.force)
    figures = measure(options.rounds)
    return report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
