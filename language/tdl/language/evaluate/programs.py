"""The reference evaluator: what a checked program means.

Definitions run in the order of the program's steps, each vectorised over all its indices that no sweep has fixed. It
proves nothing, and does not check what a call must: that sizes satisfy the op's facts, or that the obligations hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from tdl.language import forms
from tdl.language.arithmetic import Value
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.evaluate.boxes import BOX, blocks
from tdl.language.evaluate.expressions import evaluate_in
from tdl.language.evaluate.lanes import Lanes, Memory
from tdl.language.evaluate.reductions import reduced
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Binder, Definition, Program, Reduce, Run, Step, Sweep, Target

Fixed = Mapping[int, Mapping[int, int]]
"""What the enclosing sweeps have fixed: for each definition, the coordinates on axes of its first target."""


def evaluate(
    program: Program, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int], *, every_tensor: bool = False
) -> dict[str, Array]:
    """The outputs of a concrete program by name; with `every_tensor` its inputs and intermediates as well.

    `sizes` gives every dimension; `inputs` have the dtypes and shapes that the program declares.
    Raises OutOfBounds and DivisionByZero as the program does, ValueError for an input that does not fit.
    """
    values = {Symbol(name, "param"): value for name, value in program.parameters.items() if isinstance(value, int)}
    values.update(sizes)
    tensors = {name: _storage(program, name, inputs, values) for name in program.tensors}
    machine = _Machine(program, Lanes(Memory(program, tensors), (), None, values, {}))
    with np.errstate(all="ignore"):
        machine.run(program.steps, {})
    return {name: tensor for name, tensor in tensors.items() if every_tensor or name in program.outputs}


def _storage(program: Program, name: str, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int]) -> Array:
    """The array given for an input, or a new one."""
    tensor = program.tensors[name]
    shape = tuple(max(0, forms.evaluate(size, sizes)) for size in tensor.shape)
    dtype = numpy_dtype(tensor.dtype)
    if tensor.role != "input":
        return np.zeros(shape, dtype)
    given = np.asarray(inputs[name])
    if given.shape != shape or given.dtype != dtype:
        raise ValueError(f"{name} must be {dtype}{[*shape]}, not {given.dtype}{[*given.shape]}")
    return given


class _Machine:
    """Runs a program's steps on its tensors."""

    def __init__(self, program: Program, start: Lanes) -> None:
        self.start = start
        self.sizes = {symbol: value for symbol, value in start.symbols.items() if isinstance(value, int)}
        self.definitions = {definition.number: definition for definition in program.definitions}
        self.boxes = {
            number: tuple(self._concrete(index) for index in definition.indices)
            for number, definition in self.definitions.items()
        }

    def run(self, steps: Iterable[Step], fixed: Fixed) -> None:
        for step in steps:
            match step:
                case Run(number):
                    self._run(self.definitions[number], fixed.get(number, {}))
                case Sweep():
                    self._sweep(step, fixed)

    def _sweep(self, sweep: Sweep, fixed: Fixed) -> None:
        values = range(self._size(sweep.lo), self._size(sweep.hi))
        for value in values if sweep.ascending else reversed(values):
            here = {number: {**fixed.get(number, {}), axis: value} for number, axis in sweep.axes.items()}
            self.run(sweep.body, {**fixed, **here})

    def _run(self, definition: Definition, fixed: Mapping[int, int]) -> None:
        """Run a definition over its box, cut at the coordinates that are fixed."""
        box = {binder.index: binder for binder in self.boxes[definition.number]}
        for axis, value in fixed.items():
            coordinate = definition.targets[0].coordinates[axis]
            binder = box.get(coordinate.symbol) if coordinate.symbol else None
            if binder is None:
                if self._size(coordinate) != value:
                    return
            elif binder.lo.constant <= value < binder.hi.constant:
                box[binder.index] = Binder(binder.index, forms.constant(value), forms.constant(value + 1))
            else:
                return
        for lanes in blocks(tuple(box.values()), self.start, evaluate_in, BOX):
            self._define(definition, lanes)

    def _define(self, definition: Definition, lanes: Lanes) -> None:
        """Compute a definition in some lanes and write it there."""
        if definition.filter is not None:
            lanes = lanes.where(evaluate_in(definition.filter, lanes))
            if not lanes.is_active:
                return
        value = definition.value
        values = reduced(value, lanes, evaluate_in) if isinstance(value, Reduce) else (evaluate_in(value, lanes),)
        for target, each in zip(definition.targets, values):
            self._write(target, definition, lanes, each)

    def _write(self, target: Target, definition: Definition, lanes: Lanes, value: Value) -> None:
        """Store a value in the part of the target that the lanes cover."""
        indices = [binder.index for binder in definition.indices]
        key = (*(self._place(coordinate, lanes, indices) for coordinate in target.coordinates), ...)
        order = [coordinate.symbol for coordinate in target.coordinates if coordinate.symbol in indices]
        part = lanes.memory.tensors[target.tensor][key]
        where = True if lanes.mask is None else lanes.mask
        np.copyto(part.transpose([order.index(index) for index in indices]), value, where=where)

    def _place(self, coordinate: Form, lanes: Lanes, indices: list[Symbol]) -> int | slice:
        """Where on its axis a target is written: at a number, or over the range of an index."""
        if coordinate.symbol not in indices:
            return self._size(coordinate)
        value = lanes.symbols[coordinate.symbol]
        first, count = (value, 1) if isinstance(value, int) else (int(value.flat[0]), value.size)
        return slice(first, first + count)

    def _concrete(self, binder: Binder) -> Binder:
        """The binder with numbers for its ends."""
        return Binder(binder.index, forms.constant(self._size(binder.lo)), forms.constant(self._size(binder.hi)))

    def _size(self, form: Form) -> int:
        return forms.evaluate(form, self.sizes)
