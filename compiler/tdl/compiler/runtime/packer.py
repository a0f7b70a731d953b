"""Packing an input before any call: which of an op's schedules takes it packed, and how, from what its array tells.

An array tells the sizes and the dtype that its declared type names; others may be given. Of the schedules that may hold
with what is known, all that pack the input must do it in one way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tdl.compiler.runtime.arguments import Argument, prepare_input
from tdl.compiler.runtime.packing import Packed, Packing, pack, packings_of
from tdl.compiler.runtime.scheduled import host_targets
from tdl.compiler.runtime.table import Spec
from tdl.compiler.schedule.apply import apply_schedule
from tdl.compiler.schedule.choose import choose, condition
from tdl.compiler.schedule.tree import Nest
from tdl.language import syntax
from tdl.language.binding import BindError, instance_of
from tdl.language.check import check_op
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration
from tdl.language.tree import Program


class Packer:
    """Packs inputs of one op."""

    def __init__(self, op: Declaration, schedules: Sequence[Declaration], knobs: Mapping[str, int]) -> None:
        self.op = op
        self.schedules = schedules
        self.knobs = knobs

    def packed(self, name: str, argument: Argument, settings: Mapping[str, Any]) -> Packed:
        """The argument packed as some schedule takes it."""
        op = self.op.name
        found = {packing.key: packing for packing in self._packings(name, argument, settings)}
        if not found:
            raise ValueError(f"{op}: no schedule that may hold for this array takes {name} packed")
        if len(found) > 1:
            ways = "; or ".join(map(str, found.values()))
            raise ValueError(f"{op}: {name} is packed in several ways: {ways}. Give sizes by name to choose")
        (packing,) = found.values()
        if argument.packed is not None:
            return argument.packed
        return pack(packing, prepare_input(op, argument, Spec(name, packing.dtype, packing.shape)))

    def _packings(self, name: str, argument: Argument, settings: Mapping[str, Any]) -> Iterator[Packing]:
        program, known = self._program(name, argument, settings)
        left = list(self.schedules)
        while left:
            schedule = choose(left, program, known, host_targets(), is_open=True)
            if schedule is None:
                return
            left.remove(schedule)
            for packing in self._under(schedule, program, known, name):
                if packing.shape != argument.type.shape:
                    wanted = ", ".join(map(str, packing.shape))
                    raise ValueError(f"{self.op.name}: {name} has shape {argument.type.shape}, not ({wanted})")
                yield packing
            if condition(schedule, program, known):
                return

    def _under(
        self, schedule: Declaration, program: Program, known: Mapping[Symbol, int], name: str
    ) -> Iterator[Packing]:
        nest: Nest = apply_schedule(program, schedule, knobs=self.knobs, sizes=known).steps[-1].nest
        try:
            yield from packings_of(nest, known, name)
        except KeyError as error:
            size = str(error.args[0])
            raise ValueError(f"{self.op.name}: how it is packed depends on {size}; give {size}=...") from None

    def _program(self, name: str, argument: Argument, settings: Mapping[str, Any]) -> tuple[Program, dict[Symbol, int]]:
        """The op with the sizes and parameters that the array and the settings tell."""
        item = self.op.item
        assert isinstance(item, syntax.Op)
        parameters = {each.name.text for each in item.params}
        chosen = {key: value for key, value in settings.items() if key in parameters}
        sizes = {key: value for key, value in settings.items() if key not in parameters}
        declared = next((each.type.dtype.text for each in item.inputs if each.name.text == name), "")
        if declared in parameters and argument.type.dtype is not None:
            chosen.setdefault(declared, argument.type.dtype)
        try:
            program = check_op(self.op, instance_of(self.op, chosen, sizes)).program
            tensor = program.tensors.get(name)
            if tensor is None or tensor.role != "input":
                raise ValueError(f"{self.op.name} has no input {name}; it has {', '.join(program.inputs)}")
            if len(tensor.shape) != len(argument.type.shape):
                raise ValueError(
                    f"{self.op.name}: {name} has {len(tensor.shape)} dimensions, not {argument.array.ndim}"
                )
            for form, size in zip(tensor.shape, argument.type.shape):
                if form.symbol is not None and form.symbol.kind == "dim":
                    sizes.setdefault(form.symbol.name, size)
            bound = instance_of(self.op, chosen, sizes)
            program = check_op(self.op, bound).program
        except BindError as error:
            raise ValueError(f"{self.op.name}: {error}") from None
        known = {Symbol(key, "dim"): size for key, size in bound.sizes}
        return replace(program, dims=tuple(dim for dim in program.dims if dim not in known)), known
