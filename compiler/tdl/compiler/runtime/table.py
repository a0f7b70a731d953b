"""What the fast call reads: a table in words of 8 bytes for each signature, and NumPy's array objects.

    0 kernel    1 inputs   2 outputs   3 ndarray   4 workspace bytes   5 release lock   6 NotImplemented   7 None
    8 failure   9 empty   10 tuple    11 ()       12 team   13 address of its number   14 parallel_for   15 state
    16... one record of 7 words for each input, then each output:
    dtype   rank   bytes   word at which its sizes start   shape (outputs)   1 if the result is a scalar
    word at which the sizes start that the kernel is told: those a packed input had before

Objects stand as their addresses; who has the table keeps them alive.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from tdl.compiler.runtime.threads import SERIAL, Team

HEAD, RECORD = 16, 7
(
    KERNEL, INPUTS, OUTPUTS, NDARRAY, WORKSPACE, UNLOCK, NOT_IMPLEMENTED, NONE, FAILURE, EMPTY, TUPLE, NO_INDEX,
    TEAM, TEAM_AT, PARALLEL_FOR, STATE,
) = range(HEAD)  # fmt: skip
DTYPE, RANK, BYTES, SIZES, SHAPE, SCALAR, TOLD = range(RECORD)

# NumPy's array object: byte offsets, verified in layout.py.
TYPE_AT, DATA_AT, RANK_AT, SHAPE_AT, DTYPE_AT, FLAGS_AT = 8, 16, 24, 32, 56, 64
READABLE, WRITABLE = 0x0101, 0x0501  # C-contiguous and aligned; and writeable


@dataclass(frozen=True)
class Spec:
    """What an array must be. `logical` is the shape of a packed input before it was packed."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    logical: tuple[int, ...] | None = None

    @property
    def told(self) -> tuple[int, ...]:
        """The shape that the kernel is told."""
        return self.shape if self.logical is None else self.logical

    @property
    def bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Signature:
    """A kernel at exact dtypes and shapes. `unlock` says that it runs long enough to give up the interpreter's lock.

    `empty` makes a result from a shape and a dtype.
    """

    kernel: int
    inputs: tuple[Spec, ...]
    outputs: tuple[Spec, ...]
    workspace: int
    unlock: bool
    failure: Callable[..., Any]
    team: Team = SERIAL
    empty: Callable[..., Any] = np.empty


def pack_table(signature: Signature) -> tuple[object, ...]:
    """The table as bytes, then every object that it holds the address of."""
    objects = {
        NDARRAY: np.ndarray,
        NOT_IMPLEMENTED: NotImplemented,
        NONE: None,
        FAILURE: signature.failure,
        EMPTY: signature.empty,
        TUPLE: tuple,
        NO_INDEX: (),
    }
    words = [0] * HEAD
    words[KERNEL], words[WORKSPACE], words[UNLOCK] = signature.kernel, signature.workspace, signature.unlock
    words[INPUTS], words[OUTPUTS] = len(signature.inputs), len(signature.outputs)
    team = signature.team
    words[TEAM], words[TEAM_AT] = team.number, team.number_at
    words[PARALLEL_FOR], words[STATE] = team.parallel_for, team.state
    for place, each in objects.items():
        words[place] = id(each)
    kept = [*objects.values()]
    specs = signature.inputs + signature.outputs
    sizes: list[int] = []
    for spec in specs:
        kept += [spec.dtype, spec.shape]
        sizes_at = HEAD + RECORD * len(specs) + len(sizes)
        told_at = sizes_at if spec.logical is None else sizes_at + len(spec.shape)
        words += [id(spec.dtype), len(spec.shape), spec.bytes, sizes_at, id(spec.shape), not spec.shape, told_at]
        sizes += spec.shape if spec.logical is None else (*spec.shape, *spec.logical)
    return struct.pack(f"={len(words) + len(sizes)}q", *words, *sizes), *kept
