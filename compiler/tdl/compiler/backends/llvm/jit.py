"""Object code into this process, and what it links against: the process's own symbols and libm's.

Loaded code is never unloaded: a pointer to it may be anywhere.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import threading
from functools import cache
from itertools import count
from typing import Any

from tdl.compiler.backends.llvm.target import binding

_LIBM = (
    "exp", "log", "tanh", "erf", "sin", "cos", "pow", "fmod", "floor", "ceil", "trunc", "roundeven", "fmax", "fmin",
)  # fmt: skip
_lock = threading.Lock()
_numbers = count()
_loaded: list[Any] = []


class LinkError(Exception):
    """Object code that cannot be loaded: damaged, or made for something else."""


def link(code: bytes, exports: tuple[str, ...]) -> dict[str, int]:
    """Load an object file's contents; the addresses of its exported functions."""
    llvm = binding()
    builder = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in _libm().items():
        builder.import_symbol(name, address)
    for name in exports:
        builder.export_symbol(name)
    with _lock:
        try:
            library = builder.link(_compiler(), f"tdl.{next(_numbers)}")
        except RuntimeError as error:
            raise LinkError(str(error)) from error
        _loaded.append(library)
    return {name: library[name] for name in exports}


@cache
def _compiler() -> Any:
    return binding().create_lljit_compiler()


@cache
def _libm() -> dict[str, int]:
    """Functions that generated code may call, for processes that do not export their own libm."""
    found: dict[str, int] = {}
    libraries = [ctypes.CDLL(None)]
    path = ctypes.util.find_library("m")
    if path is not None:
        libraries.append(ctypes.CDLL(path))
    for name in (each + suffix for each in _LIBM for suffix in ("", "f")):
        for library in libraries:
            if hasattr(library, name):
                found[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
                break
    return found
