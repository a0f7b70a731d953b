"""How much a call will do, roughly: enough to know whether other threads should run meanwhile."""

from __future__ import annotations

from collections.abc import Mapping

from tdl.compiler.kernel.tree import Allocate, Guard, Kernel, Lanes, Loop, Node
from tdl.language import forms
from tdl.language.forms import Form, Symbol

_LONG = 50_000  # statements, some ten microseconds: far above the price of giving up the lock
_GUESS = 64  # iterations of a loop whose range depends on data or on other loops


def is_long(kernel: Kernel, sizes: Mapping[Symbol, int]) -> bool:
    """Whether a call runs long enough to give up the interpreter's lock."""
    return _count(kernel.body, sizes) >= _LONG


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
