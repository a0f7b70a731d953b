"""Whether this machine is idle enough to measure on: figures taken beside other work say nothing."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

BUSY = 0.15
"""The part of all processors' time that others may use."""


def refuse_if_busy(force: bool) -> None:
    """End the program where others keep the machine busy, unless forced; then only say so."""
    load = busy_share()
    if load <= BUSY:
        return
    message = f"the machine is {load:.0%} busy with other work; figures would not mean much"
    if not force:
        print(f"{message} (--force measures anyway)", file=sys.stderr)
        raise SystemExit(2)
    print(message, file=sys.stderr)


def busy_share(seconds: float = 0.5) -> float:
    """The part of all processors' time in use, while this process sleeps; the load average where that is not known."""
    before = _ticks()
    if before is None:
        return os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 0.0
    time.sleep(seconds)
    after = _ticks()
    assert after is not None
    idle, total = after[0] - before[0], after[1] - before[1]
    return 1 - idle / total if total else 0.0


def _ticks() -> tuple[int, int] | None:
    """Idle and all ticks of all processors since the machine started (Linux)."""
    try:
        words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return None
    ticks = [int(word) for word in words[1:9]]
    return ticks[3] + ticks[4], sum(ticks)
