"""What the worker can do. A job takes its payload and a function that tells how far it is; it gives plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tdl.lsp.worker.bench import bench
from tdl.lsp.worker.machine import machine
from tdl.lsp.worker.preview import preview
from tdl.lsp.worker.studio import studio
from tdl.lsp.worker.test import test
from tdl.lsp.worker.texts import Failed, analysis_of
from tdl.lsp.worker.trial import attempt

Job = Callable[[dict[str, Any], Callable[[dict[str, Any]], None]], Any]


def warm_up(payload: dict[str, Any], progress: object) -> None:
    """Load what previews need and check the program, so that the first preview is quick."""
    import tdl.compiler.backends.llvm.target as target

    target.machine(target.host())
    analysis_of(payload)


JOBS: Mapping[str, Job] = {
    "preview": preview,
    "test": test,
    "bench": bench,
    "machine": machine,
    "try": attempt,
    "studio": studio,
    "warm": warm_up,
}

__all__ = ["JOBS", "Failed"]
