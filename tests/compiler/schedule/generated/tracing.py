"""Runs of a nest by enumeration: loops in other orders, and what their iterations touch.

This knows nothing of dependence analysis. Two iterations of a loop conflict if, under one iteration of all loops around
it, both touch one place in storage and one of them writes it. Where both store a reduction's identity there, and
neither anything else, they do not: the place holds the same all along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from tdl.compiler.schedule.evaluate import Place, Watch
from tdl.compiler.schedule.initial import SUFFIX
from tdl.compiler.schedule.tree import Leaf, Loop, Nest, Update
from tdl.language.forms import Symbol

Order = Callable[[Sequence[int]], Sequence[int]]
Touched = Literal["begun", "read", "written"]


@dataclass(frozen=True)
class Clash:
    """Two iterations of a loop that touch one place."""

    loop: Symbol
    tensor: str
    first: int
    second: int


@dataclass
class _Running:
    loop: Loop
    value: int = 0
    touched: dict[Place, dict[tuple[int, Touched, str | None], None]] | None = None


@dataclass
class Trace(Watch):
    """Looks for conflicts of the loops in `watched`; runs the loops in `moved` in another order.

    `combines` are the loops in which an update's own combining is no conflict.
    """

    nest: Nest
    watched: Collection[Symbol] = ()
    combines: Collection[Symbol] = ()
    moved: Collection[Symbol] = ()
    arrange: Order = list
    name: str = ""
    clashes: list[Clash] = field(default_factory=list)
    running: list[_Running] = field(default_factory=list)

    def order(self, loop: Loop, values: range) -> Sequence[int]:
        return self.arrange(values) if loop.symbol in self.moved else values

    def enter(self, loop: Loop) -> None:
        self.running.append(_Running(loop, 0, {} if loop.symbol in self.watched else None))

    def iterate(self, loop: Loop, value: int) -> None:
        self.running[-1].value = value

    def leave(self, loop: Loop) -> None:
        self.running.pop()

    def touch(self, leaf: Leaf, tensor: str, place: Place, is_write: bool) -> None:
        how: Touched = "begun" if leaf.stage.endswith(SUFFIX) else "written" if is_write else "read"
        for each in self.running:
            if each.touched is not None and len(self.clashes) < 1:
                self._record(each, leaf, tensor, place, how)

    def _record(self, running: _Running, leaf: Leaf, tensor: str, place: Place, how: Touched) -> None:
        assert running.touched is not None
        by = self._combining(leaf, tensor) if running.loop.symbol in self.combines else None
        before = running.touched.setdefault(place, {})
        begun = {value for value, then, _ in (*before, (running.value, how, by)) if then == "begun"}
        for value, then, stage in before:
            is_combining = by is not None and by == stage
            is_begun = {value, running.value} <= begun
            wrong = not is_combining if "written" in (how, then) else how != then and not is_begun
            if value != running.value and wrong:
                self.clashes.append(Clash(running.loop.symbol, tensor, value, running.value))
                return
        before[running.value, how, by] = None

    def _combining(self, leaf: Leaf, tensor: str) -> str | None:
        """The stage, where it is an update that touches its own target."""
        stage = self.nest.stages.get(leaf.stage)
        if stage is None or not isinstance(stage.work, Update):
            return None
        through = dict(leaf.through)
        own = {through.get(target.tensor, target.tensor) for target in stage.writes}
        return stage.name if tensor in own else None


@dataclass
class Reading(Watch):
    """The places that each iteration of a loop reads of a tensor, but for what its own statements read."""

    loop: Symbol
    tensor: str
    found: list[set[tuple[int, ...]]] = field(default_factory=list)
    depth: int = 0

    def enter(self, loop: Loop) -> None:
        self.depth += loop.symbol == self.loop

    def iterate(self, loop: Loop, value: int) -> None:
        if loop.symbol == self.loop:
            self.found.append(set())

    def leave(self, loop: Loop) -> None:
        self.depth -= loop.symbol == self.loop

    def touch(self, leaf: Leaf, tensor: str, place: Place, is_write: bool) -> None:
        if self.depth and tensor == self.tensor and not is_write and leaf.stage.split(".")[0] != tensor:
            self.found[-1].add(place[1])


def backwards(values: Sequence[int]) -> Sequence[int]:
    return values[::-1]


def shuffled(rng: Random) -> Order:
    def arrange(values: Sequence[int]) -> Sequence[int]:
        return rng.sample(list(values), len(values))

    return arrange
