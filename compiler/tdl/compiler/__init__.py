"""TDL's compiler: `from tdl.compiler import load`. Lazy, so that tools that compile nothing start at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tdl.compiler.runtime.module import Module, ProgramError, load
    from tdl.compiler.runtime.scheduled import ScheduleError
    from tdl.compiler.runtime.threads import num_threads, set_num_threads

_PLACES = {
    "Module": "module",
    "ProgramError": "module",
    "ScheduleError": "scheduled",
    "load": "module",
    "num_threads": "threads",
    "set_num_threads": "threads",
}
__all__ = ["Module", "ProgramError", "ScheduleError", "load", "num_threads", "set_num_threads"]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"tdl.compiler.runtime.{_PLACES[name]}"), name)
