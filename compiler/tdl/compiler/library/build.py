"""The files of a library, by what is asked for: each a name and its content.

header  NAME.h          c     NAME.c
"""

from __future__ import annotations

from collections.abc import Callable

from tdl.compiler.library.interface import header_text
from tdl.compiler.library.plan import Library
from tdl.compiler.library.target import BuildTarget


class BuildError(Exception):
    """What keeps a file from being made; `remedy` says what would help."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


Files = dict[str, bytes]
Emit = Callable[[Library, BuildTarget], Files]


def _header(library: Library, target: BuildTarget) -> Files:
    return {f"{library.name}.h": header_text(library, has_threads=False).encode()}


def _c(library: Library, target: BuildTarget) -> Files:
    from tdl.compiler.backends.c.library import library_text

    return {f"{library.name}.c": library_text(library).encode(), **_header(library, target)}


EMITS: dict[str, Emit] = {"header": _header, "c": _c}


def build_files(library: Library, target: BuildTarget, emits: list[str]) -> Files:
    """Everything that is asked for; names are relative to the directory."""
    files: Files = {}
    for emit in emits:
        files |= EMITS[emit](library, target)
    return files
