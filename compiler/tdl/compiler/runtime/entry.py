"""A kernel made ready for arrays of exact dtypes and shapes: workspace sized, table for the fast call written."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.compiler.runtime import threads
from tdl.compiler.runtime.compile import Kernel
from tdl.compiler.runtime.failures import raise_failure
from tdl.compiler.runtime.fastcall import FastCall, bind_fastcall
from tdl.compiler.runtime.layout import is_known_layout
from tdl.compiler.runtime.packing import Packing
from tdl.compiler.runtime.table import Signature, Spec
from tdl.compiler.runtime.work import Needs
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.binding import Bound

_ADDRESSABLE = 1 << 47


class Entry:
    """Runs a kernel at one set of sizes. `call` takes arrays that were checked; `fast` checks by itself."""

    def __init__(self, kernel: Kernel, bound: Bound) -> None:
        program = bound.program
        self.name = program.name
        self.packings = {packing.tensor: packing for packing in kernel.packings(bound.sizes)}
        self.inputs = tuple(_spec(bound, name, self.packings.get(name)) for name in program.inputs)
        self.outputs = tuple(_spec(bound, name) for name in program.outputs)
        for spec in self.outputs:
            if spec.bytes > _ADDRESSABLE:
                raise MemoryError(f"{self.name}: {spec.name} is too large: {spec}")
        self.team = threads.team() if kernel.is_parallel else threads.SERIAL
        needs = kernel.needs(bound.sizes)
        self.workspace = _workspace(kernel, bound, needs, self.team.threads)
        self.empty = aligned_empty if kernel.is_streaming else np.empty
        specs = self.inputs + self.outputs
        self._sizes = {spec.name: (ctypes.c_int64 * len(spec.told))(*spec.told) for spec in specs}
        self._kernel = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(kernel.address)
        self._failure = partial(raise_failure, program.name, kernel.sites)
        self.fast: FastCall = missed
        if is_known_layout():
            unlock = kernel.is_parallel or needs.is_long
            self.fast = bind_fastcall(
                Signature(
                    kernel.address,
                    self.inputs,
                    self.outputs,
                    self.workspace,
                    unlock,
                    self._failure,
                    self.team,
                    self.empty,
                )
            )

    @property
    def is_current(self) -> bool:
        """Whether it is for the threads that there are now."""
        return self.team is threads.SERIAL or self.team == threads.team()

    def call(self, inputs: list[Array], outputs: list[Array]) -> None:
        """Run the kernel on dense arrays of exactly the dtypes and shapes of the entry."""
        error = (ctypes.c_int64 * 5)()
        workspace = allocate(self.name, Spec("the workspace", np.dtype(np.uint8), (self.workspace + ALIGNMENT,)))
        aligned = -(-workspace.ctypes.data // ALIGNMENT) * ALIGNMENT
        team = self.team
        context = (ctypes.c_void_p * 5)(aligned, team.parallel_for, team.state, ctypes.addressof(error), None)
        code = self._kernel(context, self._tensors(inputs, self.inputs), self._tensors(outputs, self.outputs))
        if code:
            self._failure(code, *error[1:])

    def _tensors(self, arrays: list[Array], specs: tuple[Spec, ...]) -> ctypes.Array[ctypes.c_void_p]:
        sizes = (ctypes.addressof(self._sizes[spec.name]) for spec in specs)
        words = [word for array, size in zip(arrays, sizes) for word in (array.ctypes.data, size)]
        return (ctypes.c_void_p * len(words))(*words)


def _spec(bound: Bound, name: str, packing: Packing | None = None) -> Spec:
    if packing is not None:
        return Spec(name, packing.dtype, packing.stored, packing.shape)
    shape = bound.output_shapes[name] if name in bound.output_shapes else bound.shape(name)
    return Spec(name, numpy_dtype(concrete(bound.program.tensors[name].dtype)), shape)


def _workspace(kernel: Kernel, bound: Bound, needs: Needs, threads: int) -> int:
    """Bytes for what a call stores besides its results. Raises MemoryError where no machine could have them.

    The sizes are computed here as well, in integers that do not wrap as the kernel's do.
    """
    exact = needs.bytes(threads)
    size = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(kernel.workspace)
    sizes = [bound.sizes[dim] for dim in bound.program.dims]
    if exact > _ADDRESSABLE or size((ctypes.c_int64 * len(sizes))(*sizes), threads) != exact:
        at = ", ".join(f"{dim} = {value}" for dim, value in bound.sizes.items())
        raise MemoryError(f"{bound.program.name}: its intermediate tensors are too large ({exact} bytes) at {at}")
    return exact


def missed(*_: object) -> Any:
    """The fast path where there is none."""
    return NotImplemented


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array that begins at a multiple of a vector, as stores past the caches need it."""
    bytes_ = prod(shape) * dtype.itemsize
    memory = np.empty(bytes_ + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + bytes_].view(dtype).reshape(shape)


def allocate(op: str, spec: Spec, empty: Callable[..., Array] = np.empty) -> Array:
    """A new array. Raises MemoryError, with the name of what is too large."""
    try:
        return empty(spec.shape, spec.dtype)
    except (ValueError, MemoryError) as error:
        raise MemoryError(f"{op}: {spec.name} is too large: {error}") from None
