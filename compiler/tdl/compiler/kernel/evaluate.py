"""Runs a kernel, one node at a time: the referee of lowering, and of the code that back-ends make.

    lanes l of 4, the first n        the lanes are one array; those from n on touch nothing
        Cr[l] += A[ki] * Bp[4*ki + l]

It is strict where compiled code is fast. Storage begins empty, each time that its body is entered. An element outside
of its buffer, one that is used before it is written, a buffer of an arena that lies over another one, and lanes that
would lose each other's updates are errors of ours, told with the node and the loops' values. A store that only copies
may copy what nobody wrote; that is then not written either. Prefetches do nothing, and floats are rounded at each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import prod

import numpy as np
from tdl.compiler.kernel.expressions import Expressions, Storage, Value, size_of, some, spread
from tdl.compiler.kernel.printing import line_of
from tdl.compiler.kernel.reducers import Lane, across_lanes, identity
from tdl.compiler.kernel.tree import (
    Allocate,
    Guard,
    Init,
    Invoke,
    Kernel,
    Lanes,
    Loop,
    Node,
    Operand,
    Place,
    Prefetch,
    Store,
    Update,
)
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.evaluate import evaluate
from tdl.language.forms import Symbol
from tdl.language.tree import Access, Reducer, Tensor


def evaluate_kernel(
    kernel: Kernel, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int], *, is_backwards: bool = False
) -> dict[str, Array]:
    """The outputs of a kernel, by name. Raises what the program raises; InternalError for a kernel that is wrong.

    `is_backwards`: iterations of parallel loops run from the last one down.
    """
    runner = _Runner(kernel, inputs, sizes, is_backwards)
    with np.errstate(all="ignore"):
        runner.run()
        return {name: runner.result(name) for name in kernel.program.outputs}


class _Runner:
    def __init__(
        self, kernel: Kernel, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int], is_backwards: bool
    ) -> None:
        self.kernel, self.is_backwards = kernel, is_backwards
        self.at = Expressions(kernel.program, sizes)
        self.running: Node | None = None
        self.arena: list[tuple[int, int, str]] = []
        for buffer in kernel.buffers.values():
            if buffer.name in inputs:
                self.at.storage[buffer.name] = Storage(np.ascontiguousarray(inputs[buffer.name]).reshape(-1))
            elif buffer.memory in ("global", "workspace"):
                self.make(buffer.name)

    def run(self) -> None:
        try:
            self.nodes(self.kernel.body)
        except InternalError as error:
            if self.running is None:
                raise
            loops = {symbol.name: value for symbol, value in self.at.values.items() if symbol.kind == "index"}
            message = f"kernel of {self.kernel.program.name}, `{line_of(self.running)}` at {loops}: {error}"
            raise InternalError(message) from None

    # ---- storage

    def make(self, name: str) -> int:
        """Storage with nothing in it; how many bytes it takes."""
        buffer = self.kernel.buffers[name]
        assert isinstance(buffer.dtype, DType)
        size: int = prod(max(0, self.at.form(factor)) for factor in buffer.factors)
        self.at.storage[name] = Storage(np.zeros(size, numpy_dtype(buffer.dtype)), np.zeros(size, np.bool_))
        return size * buffer.dtype.bytes

    @contextmanager
    def allocated(self, name: str) -> Iterator[None]:
        """Within the block, a buffer lives."""
        buffer, taken = self.kernel.buffers[name], self.make(name)
        before = len(self.arena)
        if buffer.memory == "arena":
            self.put_into_arena(name, self.at.form(buffer.start), taken)
        yield
        del self.at.storage[name], self.arena[before:]

    def put_into_arena(self, name: str, start: int, taken: int) -> None:
        whole = self.at.form(self.kernel.arena)
        if start % ALIGNMENT or not 0 <= start <= start + taken <= whole:
            raise InternalError(f"{name} is at {start}..{start + taken} of an arena of {whole} bytes")
        for first, end, other in self.arena:
            if start < end and first < start + taken:
                raise InternalError(
                    f"{name} is at {start}..{start + taken} of the arena, and {other} at {first}..{end}"
                )
        self.arena.append((start, start + taken, name))

    def result(self, name: str) -> Array:
        storage = self.at.storage[name]
        shape = tuple(max(0, self.at.form(size)) for size in self.kernel.program.tensors[name].shape)
        assert storage.written is not None
        if not storage.written.all():
            raise InternalError(f"{name}[{storage.written.argmin()}] is an output, and nothing writes it")
        return storage.values.reshape(shape)

    # ---- nodes

    def nodes(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            self.running = node
            match node:
                case Store():
                    self.store(node)
                case Update(places, reducer, args):
                    self.update(places, reducer, [self.at.expr(arg) for arg in args])
                case Loop():
                    self.loop(node)
                case Lanes():
                    self.lanes(node)
                case Guard(condition, body):
                    with self.at.where(self.at.expr(condition)) as runs:
                        if runs:
                            self.nodes(body)
                case Init(places, reducer):
                    for place, value in zip(places, identity(reducer, len(places), self.at.expr)):
                        self.at.write(place.buffer, self.at.form(place.offset), value)
                case Allocate(name, body):
                    with self.allocated(name):
                        self.nodes(body)
                case Invoke():
                    self.invoke(node)
                case Prefetch(place):
                    self.at.form(place.offset)

    def loop(self, loop: Loop) -> None:
        """Where lanes have ranges of their own, it runs over all of them, and each lane in its own."""
        lo, hi = self.at.form(loop.lo), self.at.form(loop.hi)
        values = self.at.hull(lo, hi)
        if loop.descending or (self.is_backwards and loop.kind == "parallel"):
            values = values[::-1]
        varies = size_of(lo) or size_of(hi)
        for value in values:
            self.at.values[loop.symbol] = value
            if not varies:
                self.nodes(loop.body)
                continue
            with self.at.where((lo <= value) & (value < hi)) as runs:
                if runs:
                    self.nodes(loop.body)
        self.at.values.pop(loop.symbol, None)

    def lanes(self, lanes: Lanes) -> None:
        every = np.arange(lanes.count)
        active = lanes.count if lanes.active is None else self.at.form(lanes.active)
        self.at.lane = Lane(lanes.count, every < active)
        if some(self.at.lane.mask):
            self.at.values[lanes.symbol] = every
            self.nodes(lanes.body)
            del self.at.values[lanes.symbol]
        self.at.lane = None

    # ---- statements

    def store(self, store: Store) -> None:
        """A value that is only copied may be one that nobody wrote."""
        place, value = store.place, store.value
        if isinstance(value, Access):
            found, is_written = self.at.look(value.tensor, self.at.form(value.subscripts[0]))
            self.at.write(place.buffer, self.at.form(place.offset), found, is_written)
        else:
            self.at.write(place.buffer, self.at.form(place.offset), self.at.expr(value))

    def invoke(self, node: Invoke) -> None:
        """All inputs are read, the intrinsic's meaning is computed, the output written."""
        program = node.intrinsic.program
        found = {name: self.elements(each, program.tensors[name]) for name, each in zip(program.inputs, node.inputs)}
        (result,) = evaluate(program, {name: values for name, (values, _) in found.items()}, {}).values()
        written = np.ones(result.shape, np.bool_)
        if not all(is_written.all() for _, is_written in found.values()):
            written = self.copied(node, {name: is_written for name, (_, is_written) in found.items()})
        offsets = self.offsets(node.output)
        for offset, value, is_written in zip(offsets, result.ravel(), written.ravel(), strict=True):
            self.at.write(node.output.buffer, offset, value, is_written)

    def elements(self, operand: Operand, tensor: Tensor) -> tuple[Array, Array]:
        """The elements of an operand, and which of them were written."""
        shape = [size.constant for size in tensor.shape]
        looked = [self.at.look(operand.buffer, offset) for offset in self.offsets(operand)]
        values = np.array([value for value, _ in looked], numpy_dtype(tensor.dtype))
        return values.reshape(shape), np.array([bool(some(is_written)) for _, is_written in looked]).reshape(shape)

    def offsets(self, operand: Operand) -> list[int]:
        return [int(self.at.form(run.offset)) + run.step * each for run in operand.runs for each in range(run.count)]

    def copied(self, node: Invoke, is_written: Mapping[str, Array]) -> Array:
        """Which elements of a result were written, where that is a copy, which may be of what nobody wrote."""
        program = node.intrinsic.program
        if not isinstance(program.definitions[0].value, Access):
            raise InternalError(f"an operand of {node.intrinsic.name} is used before it is written")
        marks = {name: each.astype(numpy_dtype(program.tensors[name].dtype)) for name, each in is_written.items()}
        (result,) = evaluate(program, marks, {}).values()
        return np.asarray(result != 0)

    def update(self, places: tuple[Place, ...], reducer: Reducer, values: list[Value]) -> None:
        offsets = [self.at.form(place.offset) for place in places]
        lane = self.at.lane
        if lane is not None:
            if not size_of(offsets[0]):
                values = across_lanes(reducer, values, lane.mask, self.at)
            else:
                self.check_apart(places, offsets, lane)
        old = [self.at.read(place.buffer, offset) for place, offset in zip(places, offsets)]
        for place, offset, value in zip(places, offsets, self.at.combined(reducer, old, values)):
            self.at.write(place.buffer, offset, value)

    def check_apart(self, places: tuple[Place, ...], offsets: list[Value], lane: Lane) -> None:
        """All lanes read before any writes: of two that share an element, one would be lost."""
        for place, offset in zip(places, offsets):
            active = spread(offset, lane.count)[lane.mask]
            if len(np.unique(active)) < len(active):
                raise InternalError(f"lanes update one element of {place.buffer}, at {active.tolist()}")
