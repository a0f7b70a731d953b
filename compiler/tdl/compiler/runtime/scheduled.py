"""The schedule of a call: which one holds, applied to the op at the call's sizes, every line proved there or refused.

The verdict on a file (`schedule.check`) may have left lines to the call, as they depend on its sizes; what is refused
here is shown as `tdlc check` would show it, with the sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from tdl.compiler.backends.llvm.target import host
from tdl.compiler.runtime.instructions import chosen, missing_features, refused_texts
from tdl.compiler.schedule.apply import Applied, apply_schedule
from tdl.compiler.schedule.check import bound_program
from tdl.compiler.schedule.tree import Nest
from tdl.language.analysis import read_file, standard
from tdl.language.binding import Bound, describe_sizes
from tdl.language.diagnostic import Diagnostic
from tdl.language.hardware import TARGETS
from tdl.language.scope import Declaration
from tdl.language.source import Source
from tdl.language.tree import Program

FindSource = Callable[[str], "Source | None"]
"""The text of a file by its path, for messages."""

_ARCHITECTURES = {"x86_64": "x86", "i686": "x86", "aarch64": "aarch64", "arm64": "aarch64", "riscv64": "riscv"}


class ScheduleError(ValueError):
    """A schedule that may not be applied at the sizes of a call, or on this machine. The message shows why.

    `declaration` is what the diagnostics are about: the schedule, or an intrinsic that it uses.
    """

    def __init__(self, declaration: Declaration, diagnostics: Sequence[Diagnostic], find: FindSource) -> None:
        from tdl.language.render import plain, render

        self.source, offset = _file_of(declaration, find)
        self.diagnostics = tuple(each.shifted(offset) for each in diagnostics)
        super().__init__("\n\n".join(plain(render(each, self.source, find=find)) for each in self.diagnostics))


@dataclass(frozen=True)
class Scheduled:
    """A schedule on an op at exact sizes."""

    schedule: Declaration
    program: Program
    applied: Applied

    @property
    def nest(self) -> Nest:
        return self.applied.nest


@cache
def host_targets() -> tuple[str, ...]:
    """What this machine is to schedules, the most specific first."""
    target = _ARCHITECTURES.get(host().triple.partition("-")[0], "cpu")
    line = [target]
    while (parent := TARGETS[line[-1]]) is not None:
        line.append(parent)
    return tuple(line)


def schedule_for(schedules: Iterable[Declaration], bound: Bound, find: FindSource) -> Declaration | None:
    """The schedule of a call on this machine; None where none holds. Raises ScheduleError where it can run none."""
    schedule = chosen(schedules, bound.program, bound.sizes, host_targets())
    missing = () if schedule is None else tuple(missing_features(schedule))
    if schedule is not None and missing:
        raise ScheduleError(schedule, missing, find)
    return schedule


def scheduled(
    op: Declaration, schedule: Declaration, bound: Bound, knobs: Mapping[str, int] | None = None
) -> Scheduled:
    """A schedule applied at the sizes of a call, refused lines and all."""
    program = replace(bound_program(op, bound.program, bound.sizes), dims=())
    return Scheduled(schedule, program, apply_schedule(program, schedule, knobs=knobs, sizes=bound.sizes))


def proved(
    op: Declaration, schedule: Declaration, bound: Bound, find: FindSource, knobs: Mapping[str, int] | None = None
) -> Scheduled:
    """The same with every line applied. Raises ScheduleError where one is refused."""
    made = scheduled(op, schedule, bound, knobs)
    refused = made.applied.errors
    if refused:
        at = f"`{op.name}` is called with {describe_sizes(bound.sizes)}" if bound.sizes else f"in a call of `{op.name}`"
        raise ScheduleError(schedule, [replace(each, notes=(*each.notes, at)) for each in refused], find)
    check_texts(made.nest, find)
    return made


def check_texts(nest: Nest, find: FindSource) -> None:
    """Raises ScheduleError, with its place in the intrinsic, where LLVM does not take the text of one."""
    for declaration, diagnostic in refused_texts(nest):
        raise ScheduleError(declaration, (diagnostic,), find)


def find_source(path: str) -> Source | None:
    """The text of a file on disk or of the standard library."""
    return standard(path[1:-1]) if path.startswith("<std") else read_file(path)


def _file_of(declaration: Declaration, find: FindSource) -> tuple[Source, int]:
    """The file with a declaration in it and where that begins; the item alone if the file is not what it was."""
    source = find(declaration.path)
    if source is not None and source.text.startswith(declaration.text, declaration.offset):
        return source, declaration.offset
    return Source(declaration.path, declaration.text), 0
