"""On how many threads parallel loops run, and what runs them: this compiler's pool, or a host's.

The number is TDL_NUM_THREADS, or else the cores that this process may use; `set_num_threads` changes it. Results do not
depend on it. The pool is made when it is first needed, once in a process, and is never unloaded: its threads stay in
its code. A host that has a pool of its own gives it to `use_parallel_for`.
"""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from dataclasses import dataclass
from functools import cache

from tdl.compiler.backends.llvm import pool
from tdl.compiler.backends.llvm.target import host
from tdl.compiler.runtime.compile import load_text

_MOST = 1024


@dataclass(frozen=True, slots=True)
class Team:
    """What a kernel is called with: the address of a `parallel_for`, its state, and how many threads that may use.

    `number` tells teams apart; at the address `number_at` stands that of the team that calls have now. An address of 0
    for `parallel_for` means that loops run serially.
    """

    number: int
    number_at: int
    parallel_for: int
    state: int
    threads: int


_always = ctypes.c_int64(0)
SERIAL = Team(0, ctypes.addressof(_always), 0, 0, 1)
"""The team of kernels without parallel loops, whatever the others have."""

_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
_teams: dict[tuple[int, int, int], Team] = {}
_counts: list[ctypes.c_int64] = []  # states of teams; code in other threads may hold their addresses
_current = ctypes.c_int64(-1)  # the number of the team, or -1 while there is none
_chosen: tuple[int, int, int] | None = None
_threads = 0


def num_threads() -> int:
    """How many threads parallel loops run on, the calling one included."""
    with _lock:
        return _chosen[2] if _chosen is not None else _threads or _default()


def set_num_threads(count: int) -> None:
    """Run parallel loops on so many threads from now on. Raises ValueError for a number that cannot be meant."""
    global _threads
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"a number of threads is an integer, not {count!r}")
    if not 1 <= count <= _MOST:
        raise ValueError(f"a number of threads is 1 to {_MOST}, not {count}")
    with _lock:
        _threads = count
        _current.value = -1


def use_parallel_for(address: int, state: int = 0, threads: int = 1) -> None:
    """Run parallel loops by a host's function from now on; an address of 0 goes back to this compiler's pool.

    It is `void f(void *state, void (*task)(void *closure, int64_t index, int32_t thread), void *closure, int64_t
    count)`: it calls the task once for each index in 0..count, on threads with numbers below `threads` of which no two
    are used at once, and returns when all are done.
    """
    global _chosen
    if not 1 <= threads <= _MOST:
        raise ValueError(f"a number of threads is 1 to {_MOST}, not {threads}")
    with _lock:
        _chosen = (address, state, threads) if address else None
        _current.value = -1


def team() -> Team:
    """What kernels are called with now."""
    with _lock:
        key = _chosen or _own(num_threads())
        found = _teams.get(key)
        if found is None:
            found = _teams[key] = Team(len(_teams), ctypes.addressof(_current), *key)
        _current.value = found.number
        return found


@cache
def _own(threads: int) -> tuple[int, int, int]:
    """The pool on so many threads."""
    triple = host().triple
    if threads == 1 or not pool.has_threads(triple):
        return 0, 0, 1
    count = ctypes.c_int64(threads)
    _counts.append(count)
    return _pool(), ctypes.addressof(count), threads


@cache
def _pool() -> int:
    return load_text(pool.pool_text(host().triple), (pool.NAME,))[pool.NAME]


@cache
def _default() -> int:
    """What the environment says, or the cores that this process may use."""
    wanted = os.environ.get("TDL_NUM_THREADS", "").strip()
    if wanted:
        if wanted.isdecimal() and 1 <= int(wanted) <= _MOST:
            return int(wanted)
        warnings.warn(f"TDL_NUM_THREADS is {wanted}, not a number from 1 to {_MOST}: it is ignored", stacklevel=2)
    try:
        return min(len(os.sched_getaffinity(0)), _MOST)
    except AttributeError:  # not of every system
        return min(os.cpu_count() or 1, _MOST)
