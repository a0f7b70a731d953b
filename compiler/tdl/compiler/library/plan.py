"""What a library holds: its functions, and for each the kernels that may serve a call.

    op dense(X: f32[M, K], ...)             int32_t dense(M, K, N, X, W, b, Y)
    bench large: dense(M=1024, ...)             a kernel for exactly these sizes, if a schedule holds there
    schedule dense ... when M >= 8 {            a kernel for all sizes where its `when` holds, if its lines are legal
                                                a kernel for all sizes

An op has a function for its parameters' defaults, and one for each other choice of parameters and ranks that the file's
tests and benches name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.library.instances import Extra, InstanceOf, instances_of
from tdl.compiler.library.target import BuildTarget
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.runtime.scheduled import find_source
from tdl.compiler.schedule.apply import apply_schedule
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.compiler.schedule.check import bound_program
from tdl.compiler.schedule.choose import schedules_of, when
from tdl.compiler.schedule.hardware import uses_of
from tdl.compiler.schedule.tree import Nest
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.binding import Bound
from tdl.language.check import check_op
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration
from tdl.language.tree import Expr, Program


@dataclass(frozen=True, eq=False)
class Variant:
    """A kernel, and when it serves: at exact sizes, where a condition over sizes holds, or always (neither).

    `sizes` leaves out what the kernel has open. `origin` says in words where it comes from.
    """

    kernel: Kernel
    origin: str
    sizes: Mapping[Symbol, int] | None = None
    condition: Expr | None = None


@dataclass(frozen=True, eq=False)
class Function:
    """An instance of an op. `program` has open sizes; the first variant that serves a call is taken.

    Where `is_complete` is false, sizes that no variant is for are refused.
    """

    name: str
    op: Declaration
    program: Program
    variants: tuple[Variant, ...]
    is_complete: bool = True


@dataclass(frozen=True, eq=False)
class Library:
    """`notes` are what a person should know of the build, a line each."""

    name: str
    functions: tuple[Function, ...]
    notes: tuple[str, ...]


class PlanError(ValueError):
    """A file of which no library can be made."""


def plan_library(
    name: str, analysis: Analysis, target: BuildTarget, ops: Sequence[str] = (), extra: Sequence[Extra] = ()
) -> Library:
    """Everything to compile for a file; of some ops only, where these are named. Raises PlanError."""
    functions, notes = [], []
    for op in analysis.module.ops.values():
        if ops and op.name not in ops:
            continue
        instances, why = instances_of(analysis, op, extra)
        if why:
            notes.append(f"`{op.name}` is left out: {why}")
        for instance in instances:
            planner = _Planner(op, instance, schedules_of(op, analysis.module.schedules), target)
            function = planner.function()
            notes += planner.notes
            if function is not None:
                functions.append(function)
    if not functions:
        raise PlanError(f"{analysis.source.path} has no op that a library can hold", *notes)
    return Library(name, tuple(functions), tuple(dict.fromkeys(notes)))


@dataclass
class _Planner:
    op: Declaration
    instance: InstanceOf
    schedules: Sequence[Declaration]
    target: BuildTarget

    def __post_init__(self) -> None:
        self.notes: list[str] = []

    def function(self) -> Function | None:
        program = check_op(self.op, self.instance.instance).program
        exact = [variant for bound in self.instance.specialised if (variant := self._exact(bound)) is not None]
        general = [] if program.obligations else list(self._general(program))
        if not exact and not general:
            note = "what it reads can only be proved for given sizes; name some in a `bench` line"
            self.notes.append(f"`{self.instance.name}` is left out: {note}")
            return None
        if not general:
            self.notes.append(
                f"`{self.instance.name}` takes the sizes of its bench lines only, for which it was proved"
            )
        return Function(self.instance.name, self.op, program, (*exact, *general), bool(general))

    def _exact(self, bound: Bound) -> Variant | None:
        """A kernel for the sizes of a bench, under the schedule that holds there; None where none does."""
        for schedule, condition in self._candidates(bound.program, bound.sizes):
            if condition is not True:
                continue
            program = replace(bound_program(self.op, bound.program, bound.sizes), dims=())
            applied = apply_schedule(program, schedule, sizes=bound.sizes)
            if applied.errors or not _is_buildable(applied.nest):
                return None
            return Variant(lower(applied.nest), f"schedule {place_of(schedule)}", sizes=bound.sizes)
        return None

    def _general(self, program: Program) -> Iterator[Variant]:
        """Kernels for open sizes: of each schedule that may hold, then of none."""
        for schedule, condition in self._candidates(program, {}):
            applied = apply_schedule(program, schedule)
            if applied.errors:
                why = applied.errors[0].message
                at = "sizes of bench lines" if self.instance.specialised else "no sizes: give some in a bench line"
                self.notes.append(f"`{self.instance.name}`: the schedule at {place_of(schedule)} serves {at} ({why})")
                continue
            if not _is_buildable(applied.nest):
                self.notes.append(f"`{self.instance.name}`: the schedule at {place_of(schedule)} takes inputs packed")
                continue
            kernel, origin = lower(applied.nest), f"schedule {place_of(schedule)}"
            if condition is True:
                yield Variant(kernel, origin)
                return
            assert not isinstance(condition, bool)
            yield Variant(kernel, origin, condition=condition)
        yield Variant(lower(automatic_nest(program)), "without a schedule")

    def _candidates(self, program: Program, sizes: Mapping[Symbol, int]) -> Iterator[tuple[Declaration, Expr | bool]]:
        """The schedules that may hold, in the order in which they are asked, and when they do."""
        features = self.target.features(self.target.levels[0])
        for kind in self.target.kinds:
            for schedule in self.schedules:
                item = schedule.item
                assert isinstance(item, syntax.Schedule)
                if item.target is not None and item.target.text != kind:
                    continue
                needed = {feature for intrinsic, _ in uses_of(schedule) for feature in intrinsic.features}
                condition = when(schedule, program, sizes)
                if condition is not False and needed <= features:
                    yield schedule, condition


def _is_buildable(nest: Nest) -> bool:
    return not nest.packed


def place_of(declaration: Declaration, start: int = 0) -> str:
    """A place in a declaration as `file.tdl:12`."""
    source = find_source(declaration.path)
    name = PurePath(declaration.path).name
    return name if source is None else f"{name}:{source.position(declaration.offset + start).line}"


def site_text(op: Declaration, site: Site) -> str:
    """What a failure's place is in words: `dense.tdl:12: X[I[i]]`."""
    text = " ".join(op.text[site.span.start : site.span.end].split())
    return f"{place_of(op, site.span.start)}: {text}"
