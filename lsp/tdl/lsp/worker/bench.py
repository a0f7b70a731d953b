"""Measures one bench of a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tdl.language import syntax
from tdl.lsp.worker.texts import case_of, sound_analysis

SECONDS = 1.0


def bench(payload: dict[str, Any], progress: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The figures of `tdlc bench --json`: seconds, rates, and the shares of the machine's peaks."""
    progress({"message": "compiling", "percentage": 5})
    from tdl.compiler.cli.bench import measure_case
    from tdl.compiler.machine import machine

    analysis = sound_analysis(payload)
    case = case_of(analysis, payload["name"], syntax.Bench)
    progress({"message": "measuring the machine", "percentage": 15})
    machine()
    progress({"message": f"measuring {case.name}", "percentage": 30})
    return asdict(measure_case(analysis, case, payload.get("seconds", SECONDS), []))
