"""TDL's compiler: `from tdl.compiler import load`. Lazy, so that tools that compile nothing start at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tdl.compiler.runtime.module import Module, ProgramError, load
    from tdl.compiler.runtime.threads import num_threads, set_num_threads

__all__ = ["Module", "ProgramError", "load", "num_threads", "set_num_threads"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tdl.compiler.runtime import module, threads

    return getattr(threads if name.endswith("threads") else module, name)
