"""A nest to a kernel that can be called: lowered, LLVM text, object code (from the cache if it is there), addresses."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from tdl.compiler.backends.llvm import jit
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.kernel import kernel_text
from tdl.compiler.backends.llvm.target import host, object_code
from tdl.compiler.kernel import tree as kernel
from tdl.compiler.kernel.walk import walk
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.runtime import cache
from tdl.compiler.runtime.packing import Packing, packings_of
from tdl.compiler.runtime.work import Needs, needs_of
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.compiler.schedule.tree import Nest
from tdl.language.forms import Symbol
from tdl.language.tree import Program

_linked: dict[str, dict[str, int]] = {}
building = threading.RLock()
"""Held while anything is compiled; LLVM does one thing at a time."""
if hasattr(os, "register_at_fork"):  # a child does not find it held by a thread that it does not have
    os.register_at_fork(before=building.acquire, after_in_parent=building.release, after_in_child=building.release)


@dataclass(frozen=True)
class Kernel:
    """Code in this process. `exports` are the names of its two functions, `address` and `workspace` where they are.

    `needs` says what a call at some sizes takes, `packings` which inputs it takes packed; `code` is the key of its
    object code in the cache. `is_streaming`: results that begin at a multiple of 64 bytes are stored past the caches.
    """

    code: str
    exports: tuple[str, str]
    address: int
    workspace: int
    sites: tuple[Site, ...]
    needs: Callable[[Mapping[Symbol, int]], Needs]
    packings: Callable[[Mapping[Symbol, int]], tuple[Packing, ...]]
    is_parallel: bool = False
    is_streaming: bool = False


def compile_program(program: Program) -> Kernel:
    """The kernel of a program whose compile-time parameters all have values, where nobody says how it runs."""
    return compile_nest(automatic_nest(program))


def compile_nest(nest: Nest) -> Kernel:
    """The kernel of an op under a schedule."""
    lowered = lower(nest)
    text = kernel_text(lowered, host())
    exports = text.name, text.workspace
    addresses = load_text(text.ir, exports)
    is_parallel = any(isinstance(node, kernel.Loop) and node.kind == "parallel" for node in walk(lowered.body))
    return Kernel(
        cache.cache_key(text.ir, host()),
        exports,
        addresses[text.name],
        addresses[text.workspace],
        text.sites,
        partial(needs_of, lowered),
        partial(packings_of, nest),
        is_parallel,
        any(buffer.is_streamed for buffer in lowered.buffers.values()),
    )


def load_text(ir: str, exports: tuple[str, ...]) -> dict[str, int]:
    """Addresses of functions in LLVM text, compiled at most once for this machine."""
    key = cache.cache_key(ir, host())
    with building:
        found = load_kept(key, exports)
        if found is None:
            code = object_code(ir, host())
            cache.write(key, code)
            found = _linked[key] = jit.link(code, exports)
        return found


def load_kept(key: str, exports: tuple[str, ...]) -> dict[str, int] | None:
    """Addresses of functions in object code that is loaded already or in the cache."""
    with building:
        found = _linked.get(key)
        kept = cache.read(key) if found is None else None
        if kept is not None:
            with suppress(jit.LinkError):  # whatever it is, it is not our code: compile it again
                found = _linked[key] = jit.link(kept, exports)
        return found
