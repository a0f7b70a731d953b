"""The schedule tree: stages of work, the named loops around them, and where their values live.

A `Stage` is a definition, or a reduction taken out of one: statement instances counted by the stage's own indices. A
`Leaf` stands where a stage's statement runs and says what each own index is there, as a form over the loops around it:

    split C.i by 8 -> io, ii        leaf of C:  i = 8*io + ii

Tensors are spoken of in their own coordinates everywhere; a `Buffer` says which part of one is kept where, in what
order. So a primitive that moves a stage changes loops, and one that moves data changes buffers.

Everything is immutable; a primitive gives a new `Nest`. Nothing here decides whether a rewrite is legal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tdl.language.forms import Form, Symbol
from tdl.language.intrinsics import Intrinsic
from tdl.language.source import NOWHERE, Span
from tdl.language.tree import Binder, Expr, Program, Reducer, Target, Tensor

Kind = Literal["serial", "parallel", "vector", "unrolled"]
Memory = Literal["register", "stack", "arena", "global"]


@dataclass(frozen=True, slots=True)
class Store:
    """`targets = values` at every point."""

    targets: tuple[Target, ...]
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """`targets` combined with `args`; the identity is stored first, where the outermost reduction loop begins."""

    targets: tuple[Target, ...]
    reducer: Reducer
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """A cache's copy of `source` into `target` (or back), element by element."""

    target: Target
    source: Target


@dataclass(frozen=True, slots=True)
class Initial:
    """The identity of an update's reducer into its targets: not written by anybody, but seen in print and lowered."""

    targets: tuple[Target, ...]
    reducer: Reducer


Work = Store | Update | Copy | Initial


@dataclass(frozen=True, slots=True)
class Stage:
    """A statement and its own indices; `reduction` are those of an update that its targets do not mention.

    It runs where `domain` holds, which speaks of `indices`; an update also only where `filter` holds, which may speak
    of all of them.
    """

    name: str
    definition: int
    indices: tuple[Binder, ...]
    reduction: tuple[Binder, ...]
    work: Work
    domain: Expr | None = None
    filter: Expr | None = None
    span: Span = NOWHERE

    @property
    def writes(self) -> tuple[Target, ...]:
        return (self.work.target,) if isinstance(self.work, Copy) else self.work.targets


@dataclass(frozen=True, slots=True)
class Loop:
    """`for symbol in lo..hi`, from the last value down where `descending`.

    `stage` and `name` are what a schedule calls it by (`C.i`, or `io` where that is unique). `line` numbers the line
    of the schedule that made or last changed it; -1 for none. With an `intrinsic`, all its iterations are one call.
    """

    stage: str
    name: str
    symbol: Symbol
    lo: Form
    hi: Form
    body: tuple[Node, ...]
    kind: Kind = "serial"
    descending: bool = False
    line: int = -1
    intrinsic: Intrinsic | None = None

    @property
    def label(self) -> str:
        return f"{self.stage}.{self.name}"


@dataclass(frozen=True, slots=True)
class Leaf:
    """The statement of a stage. It runs where every form of `guards` is >= 0.

    `through` names the tensors that are read or written through a cache here.
    """

    stage: str
    at: tuple[tuple[Symbol, Form], ...]
    guards: tuple[Form, ...] = ()
    through: tuple[tuple[str, str], ...] = ()


Node = Loop | Leaf


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage of a tensor, or of the box of it that begins at `origin`, in the body of the loop `at` (None: the op's).

    `layout` gives the stored coordinates as forms over the axes `Symbol("0", "index")`, ...; None for row-major.
    `ring` folds an axis to so many elements.
    """

    tensor: str
    memory: Memory
    at: Symbol | None
    origin: tuple[Form, ...]
    extents: tuple[Form, ...]
    layout: tuple[Form, ...] | None = None
    ring: tuple[tuple[int, int], ...] = ()
    line: int = -1


@dataclass(frozen=True, slots=True)
class Hint:
    """What changes no value: non-temporal stores of a tensor; elements asked for, or a copy made, ahead of their use.

    `loop` is the one whose iterations ahead are counted; for `double_buffer` the one whose body uses the copy.
    """

    kind: Literal["stream", "prefetch", "double_buffer"]
    tensor: str
    loop: Symbol | None = None
    ahead: int = 1
    line: int = -1


Rewrite = Callable[["Nest"], "Nest"]
"""A schedule line with its arguments, ready to be applied to a nest in which it finds its loops by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Logged:
    """A line that was applied: the groups whose loops it changed, and the one that it moved or kept, if any.

    `is_of_storage` says that it put something into their loops, and left the loops themselves alone.
    """

    rewrite: Rewrite
    groups: frozenset[str]
    subject: str | None = None
    is_of_storage: bool = False
    line: int = -1


@dataclass(frozen=True)
class Nest:
    """A whole op under the lines applied so far.

    `tensors` holds the program's tensors and those that schedules add (accumulators, caches). `children` tells what
    became of loop names that are gone: `C.i` -> (`C.io`, `C.ii`).

    `groups` gives, for each tensor that is computed, the stages that move together: those of its definitions (several
    tensors of one cycle share a group) and of the reductions taken out of them. `base` holds a group's nodes,
    `origin` the stages and `first` the buffers as they were before any line, and `log` the lines since, so that a
    placement can apply them again to the loops of a smaller box.
    """

    program: Program
    stages: Mapping[str, Stage]
    tensors: Mapping[str, Tensor]
    buffers: Mapping[str, Buffer]
    body: tuple[Node, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    base: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)
    origin: Mapping[str, Stage] = field(default_factory=dict)
    first: Mapping[str, Buffer] = field(default_factory=dict)
    log: tuple[Logged, ...] = ()
    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: tuple[Hint, ...] = ()
    packed: Mapping[str, float] = field(default_factory=dict)
    """Inputs that are given in the layout of their buffers, as `OP.pack` makes them, and what fills holes in that."""
    fast_math: bool = False
