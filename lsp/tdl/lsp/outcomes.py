"""What tests and benches gave when they last ran, for lenses and for the change since then."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from tdl.language.scope import Declaration

_MOST = 512


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run in a few words; `key` is that of the declaration that ran, op and schedules included."""

    key: str
    words: str
    is_good: bool
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass
class Outcomes:
    """The last outcome of each case, by the path of its file and its name."""

    _kept: OrderedDict[tuple[str, str], Outcome] = field(default_factory=OrderedDict)

    def last(self, path: str, name: str) -> Outcome | None:
        return self._kept.get((path, name))

    def keep(self, path: str, name: str, outcome: Outcome) -> None:
        self._kept[path, name] = outcome
        self._kept.move_to_end((path, name))
        while len(self._kept) > _MOST:
            self._kept.popitem(last=False)


def key_of(case: Declaration, schedules: tuple[Declaration, ...]) -> str:
    """Changes when a case, its op, or a schedule that holds for the module does."""
    return " ".join(each.key for each in (case, *schedules))
