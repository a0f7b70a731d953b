"""What a user can set, under the section `tdl` of a client's settings.

    {"hints": {"ranges": true, "types": true, "loops": true, "parameters": false}}

What is left out, or is not of its kind, stays as it is by default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Hints:
    """Which inlay hints are shown: ranges of indices, types of tensors, loops behind lines of schedules, names of
    arguments."""

    ranges: bool = True
    types: bool = True
    loops: bool = True
    parameters: bool = True


@dataclass(frozen=True, slots=True)
class Settings:
    hints: Hints = field(default_factory=Hints)


def settings_of(value: object) -> Settings:
    """The settings in what a client sends for the section."""
    hints = value.get("hints") if isinstance(value, Mapping) else None
    if not isinstance(hints, Mapping):
        return Settings()
    names = [each.name for each in fields(Hints)]
    return Settings(Hints(**{name: hints[name] for name in names if isinstance(hints.get(name), bool)}))
