"""A program to a kernel that can be called: nest, LLVM text, object code (from the cache if it is there), addresses."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass

from tdl.compiler.backends.llvm import jit
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.kernel import kernel_text
from tdl.compiler.backends.llvm.target import host, object_code
from tdl.compiler.kernel.default import default_nest
from tdl.compiler.kernel.tree import Nest
from tdl.compiler.kernel.verify import verify_nest
from tdl.compiler.runtime import cache
from tdl.compiler.schedule import tree as schedule
from tdl.language.tree import Program

_linked: dict[str, dict[str, int]] = {}
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):  # so that a child does not find it held by a thread that it does not have
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@dataclass(frozen=True)
class Kernel:
    """Code in this process for a program at any sizes. `address` and `workspace` are those of its two functions."""

    program: Program
    nest: Nest
    address: int
    workspace: int
    sites: tuple[Site, ...]
    is_parallel: bool = False


def compile_program(program: Program) -> Kernel:
    """The kernel of a program whose compile-time parameters all have values."""
    nest = verify_nest(default_nest(program))
    text = kernel_text(nest, machine_f16=host().machine_f16)
    addresses = load_text(text.ir, (text.name, text.workspace))
    return Kernel(program, nest, addresses[text.name], addresses[text.workspace], text.sites)


def compile_nest(nest: schedule.Nest) -> Kernel:
    """The kernel of an op under a schedule."""
    return compile_program(nest.program)


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
