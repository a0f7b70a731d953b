"""`NAME=VALUE` words of a command line: inputs, and `--set` for sizes and compile-time parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tdl.compiler.cli.fault import Fault

if TYPE_CHECKING:
    from tdl.language.scope import Declaration

_NAME = re.compile(r"[A-Za-z_]\w*")


def pairs(words: Sequence[str], what: str) -> dict[str, str]:
    """Words like `X=a.npy` as a table."""
    found: dict[str, str] = {}
    for word in words:
        name, separator, value = word.partition("=")
        name = name.strip()
        if not separator or not _NAME.fullmatch(name) or not value:
            raise Fault(f"{what} is written NAME=VALUE, not {word}")
        if name in found:
            raise Fault(f"{name} is given twice")
        found[name] = value.strip()
    return found


@dataclass(frozen=True)
class Settings:
    """What `--set` says: sizes of dimensions and packs, and values of compile-time parameters."""

    sizes: dict[str, int | list[int]] = field(default_factory=dict)
    parameters: dict[str, object] = field(default_factory=dict)

    def take_knobs(self, schedules: Sequence[Declaration]) -> dict[str, int]:
        """What is set under the names of schedules' knobs, and no size any more."""
        from tdl.compiler.steps import knobs_of

        names = {name for schedule in schedules for name in knobs_of(schedule)}
        taken = {name: self.sizes.pop(name) for name in names & self.sizes.keys()}
        for name, value in taken.items():
            if not isinstance(value, int):
                raise Fault(f"--set {name}={value}: a knob is an integer")
        return {name: value for name, value in taken.items() if isinstance(value, int)}


def read_settings(words: Sequence[str], op: Declaration) -> Settings:
    """Sort settings by what the op declares under their names; the language checks the values."""
    from tdl.language import syntax

    assert isinstance(op.item, syntax.Op)
    parameters = {parameter.name.text for parameter in op.item.params}
    settings = Settings()
    for name, text in pairs(words, "--set").items():
        value = _value(text)
        if name in parameters:
            settings.parameters[name] = value
        elif _is_size(value):
            settings.sizes[name] = value  # type: ignore[assignment]
        else:
            raise Fault(f"--set {name}={text}: a size is an integer, or for a pack a list of them")
    return settings


def _value(text: str) -> object:
    """A number, true, false, a list, or a word such as `f32`."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is_size(value: object) -> bool:
    return type(value) is int or (isinstance(value, list) and all(type(each) is int for each in value))
