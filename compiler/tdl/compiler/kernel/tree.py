"""The kernel IR: loops over statements on flat buffers, the state between a scheduled nest and a back-end's code.

A kernel says everything about order and place. Tensors are gone: a `Buffer` is a row of elements, an access is one
offset into it, a boundary is a condition around an access, an initialisation is a statement. What is left to a back-end
is to choose instructions.

    C[i, j] = sum(A[i, k] * B[k, j] for k)

    for i in 0..M                                   Loop
        for j in 0..N                               Loop
            C[N*i + j] = 0                          Init
            for k in 0..K                           Loop
                C[N*i + j] += A[K*i + k]*B[N*k + j] Update

An `Access` in a kernel has one subscript, the offset, and no boundary. `Lanes` runs its body for several values of its
symbol at once: what speaks of the symbol is a vector there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

from tdl.language.dtypes import Type
from tdl.language.forms import ZERO, Form, Symbol, constant, product
from tdl.language.intrinsics import Intrinsic
from tdl.language.source import NOWHERE, Span
from tdl.language.tree import Call, Expr, Program, Reducer

Memory = Literal["global", "workspace", "arena", "stack", "register"]
"""Given by the caller; in the caller's workspace, one for all threads; in a thread's own part of it; in a function's
frame; in registers, which needs every offset to be a constant in the end."""

Kind = Literal["serial", "parallel", "vector", "unrolled"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node came from: its definition's number and text, and the schedule line that made it (-1: none)."""

    definition: int = -1
    span: Span = NOWHERE
    line: int = -1


@dataclass(frozen=True, slots=True)
class Buffer:
    """A row of elements, as many as the product of `factors`, which are forms over sizes.

    `start` is where it begins in an arena, in bytes. `is_streamed`: stores should go past the caches; `is_double`: the
    copy in it for the next iteration is to be made ahead, in a second half. `is_packed`: an input that was stored for
    the kernel, at an aligned address.
    """

    name: str
    dtype: Type
    memory: Memory
    factors: tuple[Form, ...]
    start: Form = ZERO
    is_streamed: bool = False
    is_double: bool = False
    is_packed: bool = False

    @property
    def size(self) -> Form:
        return reduce(product, self.factors, constant(1))


@dataclass(frozen=True, slots=True)
class Place:
    """An element of a buffer, to be written."""

    buffer: str
    offset: Form


@dataclass(frozen=True, slots=True)
class Loop:
    """`for symbol in lo..hi`, from the last value down where `descending`.

    `most` is a number that its iterations never exceed, for one to be unrolled or made into lanes: that was seen when
    the loop was made, and may no longer show in ends that were simplified since.
    """

    symbol: Symbol
    lo: Form
    hi: Form
    body: tuple[Node, ...]
    kind: Kind = "serial"
    descending: bool = False
    most: int | None = None
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Lanes:
    """The body for `symbol` in 0..count at once. `active` is how many of the lanes run, from the first; None: all."""

    symbol: Symbol
    count: int
    active: Form | None
    body: tuple[Node, ...]
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Guard:
    """Run the body only where the condition holds."""

    condition: Expr
    body: tuple[Node, ...]
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Allocate:
    """A buffer lives in the body. What it holds at the start is unspecified."""

    buffer: str
    body: tuple[Node, ...]
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Store:
    """`place = value`."""

    place: Place
    value: Expr
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Init:
    """Give the places a reducer's identity.

    A winner's (`argmax`) places are its key, its payloads, and where it was found: one i64 for each reduced index.
    """

    places: tuple[Place, ...]
    reducer: Reducer
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Update:
    """Combine the places with `args`. In lanes that share the places, the lanes are combined first, in a fixed tree."""

    places: tuple[Place, ...]
    reducer: Reducer
    args: tuple[Expr, ...]
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Ask for the cache line of an element, which may be outside of the buffer."""

    place: Place
    origin: Origin = field(default=Origin(), compare=False)


@dataclass(frozen=True, slots=True)
class Run:
    """`count` elements of an operand, from `offset` on, each `step` elements of the buffer after the one before."""

    offset: Form
    count: int
    step: int = 1


@dataclass(frozen=True, slots=True)
class Operand:
    """The elements of an intrinsic's operand, row by row, in a buffer."""

    buffer: str
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Invoke:
    """`output = intrinsic(inputs)`: all inputs are read first. Not in lanes."""

    intrinsic: Intrinsic
    inputs: tuple[Operand, ...]
    output: Operand
    origin: Origin = field(default=Origin(), compare=False)


Statement = Store | Init | Update | Invoke
Node = Loop | Lanes | Guard | Allocate | Store | Init | Update | Invoke | Prefetch


@dataclass(frozen=True, slots=True)
class Checked(Call):
    """`args` are a subscript and a size: the subscript, or failure where it is outside of 0..size on that axis."""

    tensor: str = ""
    axis: int = 0


@dataclass(frozen=True)
class Kernel:
    """A whole op. `is_final`: a schedule has decided about vectors and unrolling, so that LLVM should not.

    `arena` is how many bytes each thread needs of its own. `fast_math`: floats may be rearranged.
    """

    program: Program
    buffers: Mapping[str, Buffer]
    body: tuple[Node, ...]
    is_final: bool = False
    arena: Form = ZERO
    fast_math: bool = False
