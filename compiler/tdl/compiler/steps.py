"""An op after each line of its schedule, for those who look: `tdlc show`, an editor, `Op.nest`.

Sizes may be given, some of them or none: the lines are then applied as far as they can be with open sizes, and refused
ones are part of what there is to see. Without a schedule there is the one step that the compiler makes by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tdl.compiler.runtime.instructions import chosen
from tdl.compiler.runtime.scheduled import host_targets
from tdl.compiler.schedule.apply import Step, apply_schedule
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.compiler.schedule.tree import Nest
from tdl.language import syntax
from tdl.language.binding import instance_of
from tdl.language.check import check_op
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration
from tdl.language.tree import Program


@dataclass(frozen=True)
class Steps:
    """`steps[0]` is the op before any line; spans are relative to the schedule's item."""

    program: Program
    schedule: Declaration | None
    steps: tuple[Step, ...]

    def nest(self, count: int | None = None) -> Nest:
        """The nest after so many lines, by default all. Raises ValueError where there are not so many."""
        lines = len(self.steps) - 1
        if count is not None and not 0 <= count <= lines:
            raise ValueError(f"the schedule of `{self.program.name}` has {lines} lines, and no step {count}")
        return self.steps[lines if count is None else count].nest

    @property
    def refused(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.refusal is not None)


def steps_of(
    op: Declaration,
    schedules: Sequence[Declaration] = (),
    *,
    parameters: Mapping[str, object] | None = None,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    knobs: Mapping[str, int] | None = None,
) -> Steps:
    """The steps of an op under the first of its schedules that holds on this machine, or may hold at open sizes.

    Raises BindError for parameters and sizes that the op does not have, ValueError for such knobs.
    """
    instance = instance_of(op, parameters or {}, sizes or {})
    program = check_op(op, instance).program
    known = {Symbol(name, "dim"): size for name, size in instance.sizes}
    program = replace(program, dims=tuple(dim for dim in program.dims if dim not in known))
    schedule = chosen(schedules, program, known, host_targets(), is_open=True)
    check_knobs(op, schedules, knobs or {})
    if schedule is None:
        return Steps(program, None, (Step(None, automatic_nest(program)),))
    return Steps(program, schedule, apply_schedule(program, schedule, knobs=knobs, sizes=known).steps)


def knobs_of(schedule: Declaration) -> tuple[str, ...]:
    """The names of a schedule's knobs."""
    assert isinstance(schedule.item, syntax.Schedule)
    return tuple(line.name.text for line in schedule.item.body if isinstance(line, syntax.Knob))


def check_knobs(op: Declaration, schedules: Sequence[Declaration], knobs: Mapping[str, int]) -> None:
    """Raises ValueError for a knob that no schedule of the op has, TypeError for a value that is no integer."""
    known = {name: None for schedule in schedules for name in knobs_of(schedule)}
    for name, value in knobs.items():
        if name not in known:
            raise ValueError(f"no schedule of `{op.name}` has a knob `{name}` (there is {', '.join(known) or 'none'})")
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"the knob `{name}` is an integer, not {value!r}")
