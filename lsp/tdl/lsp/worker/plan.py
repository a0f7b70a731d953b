"""What a job that makes code is about: an op, its schedules, and the sizes and dtypes that the code is made for.

Sizes are those of a case of the op, given ones, or left open. Dtypes that nothing fixes are the plainest of their kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tdl.compiler.cli.trials import arguments_of
from tdl.compiler.schedule.choose import schedules_of
from tdl.compiler.steps import Steps, steps_of
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.cases import Case, check_case, settings_of
from tdl.language.scope import Declaration
from tdl.lsp.worker.texts import Failed, analysis_of, op_of

PLAIN: dict[str, object] = {"float": "f32", "number": "f32", "dtype": "f32", "integer": "i32", "int": 1}
"""The value of a parameter of a kind, where nothing says another."""


@dataclass(frozen=True)
class Settings:
    """Everything that the code of an op depends on but the op and its schedules. Hashable: results are kept by it."""

    parameters: tuple[tuple[str, object], ...]
    sizes: tuple[tuple[str, int | tuple[int, ...]], ...]
    words: str

    @classmethod
    def of(cls, parameters: Mapping[str, object], sizes: Mapping[str, Any], words: str) -> Settings:
        fixed = ((name, tuple(size) if isinstance(size, list | tuple) else size) for name, size in sizes.items())
        return cls(tuple(parameters.items()), tuple(fixed), words)


@dataclass(frozen=True)
class Plan:
    """`case` is the test or bench that the sizes come from, if they come from one."""

    analysis: Analysis
    op: Declaration
    schedules: tuple[Declaration, ...]
    settings: Settings
    case: Case | None

    def steps(self) -> Steps:
        """The op after each line of its schedule. Raises BindError for sizes that the op does not have."""
        return steps_at(self.op, self.schedules, self.settings)

    def schedule(self) -> dict[str, Any] | None:
        """The schedule's item with the spans of its lines, which are relative to it."""
        return _schedule(self.steps(), self.schedules)


def plan_of(payload: dict[str, Any]) -> Plan:
    """What a job's `{"path", "texts", "op", "sizes"}` says."""
    analysis = analysis_of(payload)
    op = op_of(analysis, payload["op"])
    settings, case = _settings(analysis, op, payload["sizes"])
    return Plan(analysis, op, tuple(schedules_of(op, analysis.module.schedules)), settings, case)


def _settings(analysis: Analysis, op: Declaration, wanted: str | dict[str, Any]) -> tuple[Settings, Case | None]:
    if isinstance(wanted, dict):
        words = " ".join(f"{name}={size}" for name, size in wanted.items())
        return Settings.of(_plain_parameters(op), wanted, words), None
    case = None if wanted == "open" else _case(analysis, op, wanted)
    if case is None:
        return Settings.of(_plain_parameters(op), {}, "open sizes"), None
    parameters, sizes = settings_of(case)
    return Settings.of(parameters, sizes, arguments_of(case)), case


def _case(analysis: Analysis, op: Declaration, wanted: str) -> Case | None:
    """The first bench of an op, or the first test, whichever is wanted if there is one; or the one of a name."""
    found: dict[str, list[Case]] = {"bench": [], "test": []}
    for entry in analysis.module.entries:
        item = entry.placed.item
        if isinstance(item, syntax.Test | syntax.Bench):
            case = check_case(entry.declaration).case
            if case is not None and case.op == op:
                found["bench" if isinstance(item, syntax.Bench) else "test"].append(case)
    if wanted in found:
        other = "test" if wanted == "bench" else "bench"
        return next(iter((*found[wanted], *found[other])), None)
    named = next((case for cases in found.values() for case in cases if case.name == wanted), None)
    if named is None:
        raise Failed(f"`{op.name}` has no test or bench `{wanted}`")
    return named


def _plain_parameters(op: Declaration) -> dict[str, object]:
    """Values for the compile-time parameters that have no default: code is made for one value of each."""
    item = op.item
    assert isinstance(item, syntax.Op)
    found: dict[str, object] = {}
    for parameter in item.params:
        kind = "" if parameter.kind is None else parameter.kind.text
        if parameter.default is None and kind in PLAIN:
            found[parameter.name.text] = PLAIN[kind]
    return found


@lru_cache(maxsize=64)
def steps_at(op: Declaration, schedules: tuple[Declaration, ...], settings: Settings) -> Steps:
    return steps_of(op, schedules, parameters=dict(settings.parameters), sizes=dict(settings.sizes))


def _schedule(steps: Steps, schedules: tuple[Declaration, ...]) -> dict[str, Any] | None:
    """The schedule's item with the spans of its lines, which are relative to it.

    The one in the file as it is now: what is remembered may have stood elsewhere.
    """
    schedule = next((each for each in schedules if each == steps.schedule), None)
    if schedule is None:
        return None
    assert isinstance(schedule.item, syntax.Schedule)
    spans = [[line.span.start, line.span.end] for line in schedule.item.body]
    return {"path": schedule.path, "offset": schedule.offset, "spans": spans, "length": len(schedule.text)}
