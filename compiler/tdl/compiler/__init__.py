"""TDL's compiler: `from tdl.compiler import load`. Lazy, so that tools that compile nothing start at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tdl.compiler.runtime.module import Module, ProgramError, load

__all__ = ["Module", "ProgramError", "load"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tdl.compiler.runtime import module

    return getattr(module, name)
