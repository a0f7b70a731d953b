"""The lanes in which an expression is evaluated: one for each combination of the indices in scope, as NumPy axes.

A definition `Y[i, j]` over 3 x 4 elements has lanes of shape (3, 4); `i` is then an array of shape (3, 1) and `j` one
of shape (4,), so that NumPy's broadcasting does the rest. The binders of a reduction get axes in front: inside
`sum(... for k in 0..5)` the lanes are (5, 3, 4) and what was computed outside still broadcasts.

A lane is *active* where its code runs: inside the filters and branches that enclose it. An inactive lane computes
garbage, and must not raise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from tdl.language.arithmetic import Value
from tdl.language.arrays import Array
from tdl.language.failure import Failure
from tdl.language.forms import Symbol
from tdl.language.source import Span
from tdl.language.tree import Program


@dataclass(frozen=True, slots=True)
class Memory:
    """What every lane shares: the program, and the tensors it reads and writes."""

    program: Program
    tensors: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Lanes:
    """`mask` says which lanes are active (None: all). `symbols` has sizes as well; one number is an int."""

    memory: Memory
    shape: tuple[int, ...]
    mask: Array | None
    symbols: Mapping[Symbol, int | Array]
    locals: Mapping[str, Value]

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def is_active(self) -> bool:
        """Whether any lane is."""
        return self.mask is None or bool(self.mask.any())

    def where(self, condition: Value) -> Lanes:
        """The lanes in which a condition holds as well."""
        mask = np.asarray(condition) if self.mask is None else np.asarray(self.mask & condition)
        return Lanes(self.memory, self.shape, mask, self.symbols, self.locals)

    def let(self, name: str, value: Value) -> Lanes:
        return Lanes(self.memory, self.shape, self.mask, self.symbols, {**self.locals, name: value})

    def bind(self, index: Symbol, axis: int, first: int | Array, start: int, count: int) -> Lanes:
        """The lanes with `index` running over `first + start`, `first + start + 1`, ... along an axis of length 1."""
        value: int | Array
        if count == 1 and isinstance(first, int):
            value = first + start
        else:
            value = first + steps(start, count, axis, len(self.shape))
        shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
        return Lanes(self.memory, shape, self.mask, {**self.symbols, index: value}, self.locals)

    def active(self, bad: Value | bool) -> Array | None:
        """The lanes among `bad` that are active, or None if there are none."""
        found = np.asarray(bad if self.mask is None else self.mask & bad)
        return found if found.any() else None

    def failure(self, kind: type[Failure], text: str, bad: Array, mentioned: Sequence[Symbol], span: Span) -> Failure:
        """The failure in the first of the `bad` lanes: `text`, at the values of the indices that are mentioned."""
        lane = self.first(bad)
        places = [
            f"{symbol} = {self.at(self.symbols[symbol], lane)}"
            for symbol in dict.fromkeys(mentioned)
            if symbol.kind == "index" and symbol in self.symbols
        ]
        where = f", at {', '.join(places)}" if places else ""
        return kind(f"{text}{where}", self.memory.program.name, span)

    def first(self, bad: Array) -> tuple[int, ...]:
        """The coordinates of the first bad lane."""
        flat = int(np.argmax(np.broadcast_to(bad, self.shape)))
        return tuple(int(each) for each in np.unravel_index(flat, self.shape))

    def at(self, value: int | Array, lane: tuple[int, ...]) -> int:
        """A value in one lane."""
        return int(np.broadcast_to(value, self.shape)[lane])


def steps(start: int, count: int, axis: int, rank: int) -> Array:
    """`start, start + 1, ...` along one axis of `rank`."""
    return np.arange(start, start + count, dtype=np.int64).reshape(count, *(1,) * (rank - axis - 1))
