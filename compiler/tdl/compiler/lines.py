"""Which line of its file a node of a kernel comes from: for debuggers, profilers and disassemblers.

A loop that a schedule line made, or marked, is that line; everything else is its definition's. Lines of a schedule in
another file than the op's are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tdl.compiler.kernel.tree import Origin
from tdl.language import syntax
from tdl.language.scope import Declaration
from tdl.language.source import Source


@dataclass(frozen=True)
class Lines:
    """Positions in one file, in lines and columns from 1. `first` is the line of the op."""

    path: str
    first: int
    place: Callable[[Origin], tuple[int, int]]


def lines_of(op: Declaration, schedule: Declaration | None, find: Callable[[str], Source | None]) -> Lines | None:
    """The lines of an op under a schedule; None where the text of its file is not to be had."""
    source = find(op.path)
    if source is None:
        return None

    def at(offset: int) -> tuple[int, int]:
        position = source.position(offset)
        return position.line, position.column

    def place(origin: Origin) -> tuple[int, int]:
        if origin.line >= 0 and schedule is not None and schedule.path == op.path:
            assert isinstance(schedule.item, syntax.Schedule)
            return at(schedule.offset + schedule.item.body[origin.line].span.start)
        return at(op.offset + (origin.span.start if origin.definition >= 0 else 0))

    return Lines(op.path, at(op.offset)[0], place)
