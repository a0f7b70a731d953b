"""Seconds by phase, for those who ask how long something takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Clock:
    """`laps` are the phases so far, in their order."""

    laps: list[tuple[str, float]] = field(default_factory=list)

    @contextmanager
    def lap(self, name: str) -> Iterator[None]:
        """Within the block, time is counted for a phase."""
        start = time.perf_counter()
        yield
        self.laps.append((name, time.perf_counter() - start))
