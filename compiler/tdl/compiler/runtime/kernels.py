"""The kernels of an op: which one serves a call.

Without a schedule, one kernel for each instance serves all sizes. Under a schedule a kernel is made for the sizes at
hand, so that strides and trip counts are numbers. The last 16 of these are kept; when there are more sizes than that,
the schedule is tried on the op with its sizes left open, and if every line is legal so, that kernel serves instead.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from tdl.compiler.runtime import records
from tdl.compiler.runtime.compile import Kernel, building, compile_nest, compile_program
from tdl.compiler.runtime.scheduled import FindSource, check_texts, proved, schedule_for
from tdl.compiler.schedule.apply import apply_schedule
from tdl.language.binding import Bound
from tdl.language.scope import Declaration
from tdl.language.signature import Instance
from tdl.language.tree import Program

KEPT = 16
"""Kernels for exact sizes, for each op."""

Key = tuple[Declaration, Instance]


class Kernels:
    """May be asked by several threads at once. Knobs have the values given, or else their schedules'."""

    def __init__(
        self, op: Declaration, schedules: Sequence[Declaration], find: FindSource, knobs: Mapping[str, int]
    ) -> None:
        self.op = op
        self.schedules = tuple(schedules)
        self.find = find
        self.knobs = knobs
        self._plain: dict[int, tuple[Program, Kernel]] = {}
        self._exact: OrderedDict[Key, Kernel] = OrderedDict()
        self._open: dict[tuple[Declaration, int], tuple[Program, Kernel | None]] = {}

    def kernel(self, bound: Bound) -> Kernel:
        """The kernel for a call. Raises ScheduleError where the schedule that holds is not legal at its sizes."""
        schedule = schedule_for(self.schedules, bound, self.find)
        with building:
            return self._without(bound.program) if schedule is None else self._under(schedule, bound)

    def _without(self, program: Program) -> Kernel:
        kept = self._plain.get(id(program))
        if kept is None:
            if len(self._plain) >= 256:
                self._plain.clear()
            kept = self._plain[id(program)] = program, compile_program(program)
        return kept[1]

    def _under(self, schedule: Declaration, bound: Bound) -> Kernel:
        key = schedule, instance(bound)
        kernel = self._exact.get(key)
        if kernel is None and len(self._exact) >= KEPT:
            kernel = self._with_open_sizes(schedule, bound.program)
            if kernel is not None:
                return kernel
            self._exact.popitem(last=False)
        if kernel is None:
            kernel = self._exact[key] = self._made(schedule, bound, key[1])
        self._exact.move_to_end(key)
        return kernel

    def _made(self, schedule: Declaration, bound: Bound, at: Instance) -> Kernel:
        """A kernel for exact sizes, from the cache if it is there."""
        key = records.record_key(self.op, schedule, at, self.knobs)
        kernel = records.read(key)
        if kernel is None:
            kernel = compile_nest(proved(self.op, schedule, bound, self.find, self.knobs).nest)
            records.write(key, kernel, bound.sizes)
        return kernel

    def _with_open_sizes(self, schedule: Declaration, program: Program) -> Kernel | None:
        """The kernel for all sizes, if a line needs no number and each is legal for all of them."""
        key = schedule, id(program)
        kept = self._open.get(key)
        if kept is None:
            applied = apply_schedule(program, schedule, knobs=self.knobs)
            if not applied.errors:
                check_texts(applied.nest, self.find)
            kernel = None if applied.errors else compile_nest(applied.nest)
            kept = self._open[key] = program, kernel
        return kept[1]


def instance(bound: Bound) -> Instance:
    """Everything that a call binds."""
    program = bound.program
    parameters = {name: value for name, value in program.parameters.items() if value is not None}
    return Instance.of(parameters, program.packs, {symbol.name: size for symbol, size in bound.sizes.items()})
