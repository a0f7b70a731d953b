"""Runs one test of a program: compiled code and the reference evaluator must agree, and give what is expected."""

from __future__ import annotations

from typing import Any

from tdl.compiler.cli.trials import arguments_of
from tdl.language import syntax
from tdl.language.cases import Case
from tdl.lsp.worker.texts import case_of, sound_analysis


def test(payload: dict[str, Any], progress: object) -> dict[str, Any]:
    """`{"name", "passed", "message", "difference"}`; the first element that differs has both values."""
    from tdl.compiler.trial import try_case

    analysis = sound_analysis(payload)
    case = case_of(analysis, payload["name"], syntax.Test)
    verdict = try_case(case, payload.get("seed", 0), analysis.module.schedules)
    result: dict[str, Any] = {"name": case.name, "op": case.op.name, "arguments": arguments_of(case)}
    if verdict.is_good:
        return {**result, "passed": True, "message": "passed", "difference": None}
    found = verdict.difference
    if found is None:
        return {**result, "passed": False, "message": verdict.failure, "difference": None}
    place = f"{found.tensor}[{', '.join(map(str, found.index))}]" if found.index else found.tensor
    values = _value(case, found.tensor, found.found), _value(case, found.tensor, found.wanted)
    difference = {
        "element": place,
        "found": values[0],
        "expected": values[1],
        "tolerance": float(found.tolerance),
        "count": int(found.count),
        "size": int(found.size),
    }
    message = f"{verdict.failure}: {place} is {values[0]}, not {values[1]} ({found.count} of {found.size} differ)"
    return {**result, "passed": False, "message": message, "difference": difference}


def _value(case: Case, tensor: str, value: float) -> str:
    """A number with the digits that its dtype has."""
    dtype = str(case.bound.program.tensors[tensor].dtype)
    return f"{value:.7g}" if dtype in ("f32", "f16", "bf16") else str(value)
