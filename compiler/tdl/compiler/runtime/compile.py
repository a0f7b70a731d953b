"""A nest to a kernel that can be called: lowered, LLVM text, object code (from the cache if it is there), addresses."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

from tdl.compiler.backends.llvm import jit
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.kernel import kernel_text
from tdl.compiler.backends.llvm.target import host, object_code
from tdl.compiler.kernel import tree as kernel
from tdl.compiler.kernel.walk import walk
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.runtime import cache
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.compiler.schedule.tree import Nest
from tdl.language.tree import Program

_linked: dict[str, dict[str, int]] = {}
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # so that a child does not find it held by a thread that it does not have
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@dataclass(frozen=True)
class Kernel:
    """Code in this process for a program. `address` and `workspace` are those of its two functions."""

    program: Program
    lowered: kernel.Kernel
    address: int
    workspace: int
    sites: tuple[Site, ...]
    is_parallel: bool = False


def compile_program(program: Program) -> Kernel:
    """The kernel of a program whose compile-time parameters all have values, where nobody says how it runs."""
    return compile_nest(automatic_nest(program))


def compile_nest(nest: Nest) -> Kernel:
    """The kernel of an op under a schedule."""
    lowered = lower(nest)
    text = kernel_text(lowered, machine_f16=host().machine_f16)
    addresses = load_text(text.ir, (text.name, text.workspace))
    is_parallel = any(isinstance(node, kernel.Loop) and node.kind == "parallel" for node in walk(lowered.body))
    return Kernel(
        nest.program, lowered, addresses[text.name], addresses[text.workspace], text.sites, is_parallel=is_parallel
    )


def load_text(ir: str, exports: tuple[str, ...]) -> dict[str, int]:
    """Addresses of functions in LLVM text, compiled at most once for this machine."""
    target = host()
    key = cache.cache_key(ir, target)
    with _lock:
        found = _linked.get(key)
        if found is None:
            found = _linked[key] = _load(key, ir, exports)
        return found


def _load(key: str, ir: str, exports: tuple[str, ...]) -> dict[str, int]:
    kept = cache.read(key)
    if kept is not None:
        try:
            return jit.link(kept, exports)
        except jit.LinkError:
            pass  # whatever it is, it is not our code: compile it again
    code = object_code(ir, host())
    cache.write(key, code)
    return jit.link(code, exports)
