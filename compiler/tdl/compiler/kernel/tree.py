"""The loop nest: an immutable tree of named loops and statements, the state between a program and code.

A nest says how: in which order iterations run and where values live. `default.py` builds the first one from a program;
schedule primitives (not here) rewrite it. Every node keeps the definition it came from, so that views can link lines.

    C[i, j] = sum(A[i, k] * B[k, j] for k)

    for i in 0..M                            Loop C.i
        for j in 0..N                        Loop C.j
            C[i, j] = 0                      Init
        for k in 0..K                        Loop C.k
            for j in 0..N                    Loop C.j
                C[i, j] += A[i, k] * B[k, j] Update

Reductions in a place that may not run (a branch of a conditional, the right side of `and`) stay inside expressions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tdl.language.forms import Form, Symbol
from tdl.language.source import Span
from tdl.language.tree import Expr, Program, Reducer, Target

Role = Literal["spatial", "reduction", "sweep"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node came from: the number of its definition and the text that made it."""

    definition: int
    span: Span


@dataclass(frozen=True, slots=True)
class Loop:
    """`for index in lo..hi`, from the last value down where `descending`."""

    stage: str
    index: Symbol
    lo: Form
    hi: Form
    role: Role
    body: tuple[Node, ...]
    origin: Origin
    descending: bool = False

    @property
    def name(self) -> str:
        """The name a schedule calls the loop by: `C.k`, `acc.sum.k`, `S.1.t`."""
        return f"{self.stage}.{self.index}"


@dataclass(frozen=True, slots=True)
class Guard:
    """Run the body only where the condition holds."""

    condition: Expr
    body: tuple[Node, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Bind:
    """`let name = value` for the statements that follow in the same body."""

    name: str
    value: Expr
    origin: Origin


@dataclass(frozen=True, slots=True)
class Accumulator:
    """Where a reduction gathers: in the elements `places` of its tensors, or in registers where that is empty.

    Register values are read as `Local`s named by `local`.
    """

    stage: str
    reducer: Reducer
    places: tuple[Target, ...] = ()

    def local(self, position: int) -> str:
        return self.stage if len(self.reducer.dtypes) == 1 else f"{self.stage}.{position}"


@dataclass(frozen=True, slots=True)
class Init:
    """Give the accumulator its identity."""

    accumulator: Accumulator
    origin: Origin


@dataclass(frozen=True, slots=True)
class Update:
    """Combine the accumulator with `args`."""

    accumulator: Accumulator
    args: tuple[Expr, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Store:
    """`targets = values`, one value for each target."""

    targets: tuple[Target, ...]
    values: tuple[Expr, ...]
    origin: Origin


Statement = Bind | Init | Update | Store
Node = Loop | Guard | Bind | Init | Update | Store


@dataclass(frozen=True)
class Nest:
    """A whole op: its program (tensors, sizes) and the nodes that run, in order."""

    program: Program
    body: tuple[Node, ...]


def walk(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Every node, outer before inner, in running order."""
    for node in nodes:
        yield node
        match node:
            case Loop() | Guard():
                yield from walk(node.body)


def stage_names(program: Program) -> dict[int, str]:
    """Definition number -> stage: the tensor's name, with a number where the tensor has several definitions."""
    owners: dict[str, list[int]] = {}
    for definition in program.definitions:
        owners.setdefault(definition.targets[0].tensor, []).append(definition.number)
    return {
        number: tensor if len(numbers) == 1 else f"{tensor}.{position}"
        for tensor, numbers in owners.items()
        for position, number in enumerate(numbers)
    }
