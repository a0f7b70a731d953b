"""What a call takes: memory, and roughly how much work, so as to know whether other threads should run meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tdl.compiler.kernel.tree import Allocate, Guard, Kernel, Lanes, Loop, Node
from tdl.compiler.kernel.workspace import workspace_bytes
from tdl.language import forms
from tdl.language.forms import Form, Symbol

_LONG = 50_000  # statements, some ten microseconds: far above the price of giving up the lock
_GUESS = 64  # iterations of a loop whose range depends on data or on other loops


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes of workspace that threads share, bytes for each thread besides, and statements to run, as if one by one."""

    shared: int
    own: int
    statements: int

    def bytes(self, threads: int) -> int:
        return self.shared + threads * self.own

    @property
    def is_long(self) -> bool:
        """Whether a call runs long enough to give up the interpreter's lock."""
        return self.statements >= _LONG


def needs_of(kernel: Kernel, sizes: Mapping[Symbol, int]) -> Needs:
    """What calls at some sizes take. Byte counts are exact, however large."""
    shared = workspace_bytes(kernel, sizes, 0)
    return Needs(shared, workspace_bytes(kernel, sizes, 1) - shared, _count(kernel.body, sizes))


def _count(nodes: tuple[Node, ...], sizes: Mapping[Symbol, int]) -> int:
    total = 0
    for node in nodes:
        match node:
            case Loop():
                total += _extent(node.lo, node.hi, sizes) * _count(node.body, sizes)
            case Guard() | Lanes() | Allocate():
                total += _count(node.body, sizes)
            case _:
                total += 1
    return total


def _extent(lo: Form, hi: Form, sizes: Mapping[Symbol, int]) -> int:
    try:
        return max(0, forms.evaluate(hi - lo, sizes))
    except (KeyError, ZeroDivisionError):
        return _GUESS
