"""Which values does each index take, and how large is each tensor that does not say so?

    Y[i, j] = sum(X[i + 1, k] * W[k, j] for k)     i and j from the shape of Y, k from those of X and W

An index of a tensor with a declared shape takes that shape. Any other is bounded by the subscripts in which it is the
only index and that have no boundary; of several bounds the one that is provably the tightest counts. What is still open
in an intermediate takes the box of what its readers read. All open ends and sizes are solved here, or reported, and
then their tensor is broken.

It does not check that accesses are in bounds, or that definitions cover their tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tdl.language import forms
from tdl.language.conditions import nature
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts, extent, linear
from tdl.language.open_ranges import Open, Read, Slot, collect_open, is_open, is_solved, unknown_of
from tdl.language.proof import holds
from tdl.language.range_errors import report_ambiguous, report_unbounded
from tdl.language.report import Report
from tdl.language.sets import Undecided
from tdl.language.tree import Binder, Definition, Expr, Program, Target, Tensor, map_children
from tdl.language.witness import size_facts

End = Literal["lo", "hi"]


@dataclass
class _Solver:
    program: Program
    report: Report
    facts: Facts
    open: Open
    was_broken: bool
    solution: dict[Symbol, Form] = field(default_factory=dict)
    waiting: list[Slot] = field(init=False)
    unshaped: list[Tensor] = field(init=False)

    def __post_init__(self) -> None:
        self.waiting = list(self.open.slots.values())
        self.unshaped = [tensor for tensor in self.program.tensors.values() if any(map(is_open, tensor.shape))]

    def solve(self) -> None:
        """Solve what can be solved directly; where that stops, break a cycle or ask the readers; report the rest."""
        steps: tuple[Callable[[], bool], ...] = (self._solve_direct, self._solve_partial, self._solve_by_readers)
        while any(step() for step in steps):
            pass
        self._report_open()

    def _open_slots(self) -> list[Slot]:
        self.waiting = [
            slot
            for slot in self.waiting
            if slot.unknowns[0] not in self.solution and not self._is_broken(slot.definition)
        ]
        return self.waiting

    def _solve_direct(self) -> bool:
        """Indices all of whose bounds are known, and shapes all of whose definitions are."""
        progress = False
        for slot in self._open_slots():
            bounds = [(self._known(lo), self._known(hi)) for lo, hi in slot.bounds]
            if bounds and all(is_solved(form) for pair in bounds for form in pair):
                progress = self._settle(slot, bounds) or progress
        for tensor in self.unshaped:
            progress = self._solve_shape(tensor) or progress
        return progress

    def _solve_partial(self) -> bool:
        """The first index that has a known bound beside ones that wait for it: what goes in a circle bounds nothing."""
        for slot in self._open_slots():
            bounds = [(self._known(lo), self._known(hi)) for lo, hi in slot.bounds]
            known = [pair for pair in bounds if all(map(is_solved, pair))]
            if known:
                return self._settle(slot, known)
        return False

    def _solve_by_readers(self) -> bool:
        """The last index in the text whose readers' boxes are known."""
        for wait in (True, False):
            for slot in reversed(self._open_slots()):
                end = self._end_of_reads(slot, wait) if slot.is_left else None
                if end is not None:
                    return self._settle(slot, [(forms.ZERO, end)])
        return False

    def _end_of_reads(self, slot: Slot, wait: bool) -> Form | None:
        """One past where the index's tensors are read; with `wait`, None until all readers are known."""
        boxes: list[Form | None] = []
        for target in slot.definition.targets:
            axes = [axis for axis, form in enumerate(target.coordinates) if form.symbol == slot.binder.index]
            for read in self._bounding_reads(target.tensor):
                boxes += [self._box(read, axis) for axis in axes if axis < len(read.access.subscripts)]
        known = [box for box in boxes if box is not None]
        if not known or (wait and len(known) < len(boxes)):
            return None
        return self._tightest(known, "lo") or _extreme("max", known)

    def _bounding_reads(self, tensor: str) -> list[Read]:
        """The reads without a boundary, or else all."""
        reads = self.open.reads.get(tensor, [])
        return [read for read in reads if read.access.boundary is None] or reads

    def _box(self, read: Read, axis: int) -> Form | None:
        """One past the greatest value of a subscript, by the ranges and by each condition; None if not known yet."""
        subscript = read.access.subscripts[axis]
        if nature(subscript) == "data":
            return None
        binders = self._known_binders(read.domain.binders)
        reached = (subscript, *(subscript + condition for condition in linear(read.domain.conditions)))
        ends = [extent(form, binders, "greatest") for form in reached]
        known = [end + 1 for end in ends if end is not None and is_solved(end) and nature(end) != "data"]
        return (self._tightest(known, "hi") or known[0]) if known else None

    def _known_binders(self, binders: tuple[Binder, ...]) -> list[Binder]:
        return [replace(binder, lo=self._known(binder.lo), hi=self._known(binder.hi)) for binder in binders]

    def _settle(self, slot: Slot, bounds: list[tuple[Form, Form]]) -> bool:
        lower = [lo for lo, _ in bounds]
        if slot.is_left and forms.ZERO not in lower:
            lower.append(forms.ZERO)
        upper = [hi for _, hi in bounds]
        lo, hi = self._tightest(lower, "lo"), self._tightest(upper, "hi")
        if lo is None or hi is None:
            self._break(slot)
            report_ambiguous(slot, lower if lo is None else upper, lo is None, self.program, self.facts, self.report)
            return True
        self.solution.update(zip(slot.unknowns, (lo, hi)))
        return True

    def _tightest(self, candidates: list[Form], end: End) -> Form | None:
        """The greatest lower (least upper) bound, if one is that for all admitted sizes."""
        distinct = list(dict.fromkeys(candidates))
        for best in distinct:
            others = (best - other if end == "lo" else other - best for other in distinct if other is not best)
            if all(self._is_natural(difference) for difference in others):
                return best
        return None

    def _is_natural(self, form: Form) -> bool:
        try:
            return holds(form, self.facts, Domain())
        except Undecided:
            return False

    def _known(self, form: Form) -> Form:
        return form if is_solved(form) else forms.substitute(form, self.solution)

    def _is_broken(self, definition: Definition) -> bool:
        return any(target.tensor in self.report.broken for target in definition.targets)

    # ---- shapes

    def _solve_shape(self, tensor: Tensor) -> bool:
        if tensor.name in self.report.broken:
            return False
        progress = False
        for axis, size in enumerate(tensor.shape):
            if is_open(size) and unknown_of(size) not in self.solution:
                ends = [self._end(d, t.coordinates[axis]) for d, t in self._writers(tensor.name)]
                known = [end for end in ends if end is not None and is_solved(end)]
                if known and len(known) == len(ends):
                    self.solution[unknown_of(size)] = self._box_size(known)
                    progress = True
        return progress

    def _writers(self, name: str) -> list[tuple[Definition, Target]]:
        return [(d, target) for d in self.program.definitions for target in d.targets if target.tensor == name]

    def _end(self, definition: Definition, coordinate: Form) -> Form | None:
        """One past the greatest value of a coordinate."""
        high = extent(coordinate, self._known_binders(definition.indices), "greatest")
        return None if high is None else high + 1

    def _box_size(self, ends: list[Form]) -> Form:
        distinct = list(dict.fromkeys(ends))
        size = self._tightest(distinct, "lo") or _extreme("max", distinct)
        return size if self._is_natural(size) else forms.extreme("max", forms.ZERO, size)

    # ---- what is left

    def _report_open(self) -> None:
        for slot in self._open_slots():
            is_excused = slot.is_excused or (slot.is_left and self.was_broken) or self._waits_for_broken(slot)
            self._break(slot)
            if not is_excused:
                report_unbounded(slot, self.report)
        for tensor in self.unshaped:
            if not all(is_solved(self._known(size)) for size in tensor.shape):
                self.report.broken.add(tensor.name)

    def _break(self, slot: Slot) -> None:
        self.report.broken.update(target.tensor for target in slot.definition.targets)

    def _waits_for_broken(self, slot: Slot) -> bool:
        """Whether the index waits for a tensor that was reported already."""
        waiting = {
            s for pair in slot.bounds for form in pair for s in self._known(form).symbols() if s.kind == "unknown"
        }
        tensors = self.program.tensors
        return any(
            not waiting.isdisjoint(symbol for size in tensors[name].shape for symbol in size.symbols())
            for name in self.report.broken
            if name in tensors
        )


def _extreme(kind: Literal["min", "max"], of: list[Form]) -> Form:
    result = of[0]
    for form in of[1:]:
        result = forms.extreme(kind, result, form)
    return result


def _filled(expr: Expr, solution: Mapping[Symbol, Form]) -> Expr:
    def change(child: Expr) -> Expr:
        return _filled(child, solution)

    def change_form(form: Form) -> Form:
        if is_open(form):
            return forms.substitute(form, solution)
        return forms.substitute(form, {}, change) if nature(form) == "data" else form

    return map_children(expr, change, change_form)


def _filled_definition(definition: Definition, solution: Mapping[Symbol, Form], is_inside: bool) -> Definition:
    """With `is_inside`, its reductions have open ranges as well."""
    indices = tuple(_filled_binder(binder, solution) if is_open(binder.lo) else binder for binder in definition.indices)
    if not is_inside:
        return replace(definition, indices=indices)
    condition = None if definition.filter is None else _filled(definition.filter, solution)
    return replace(definition, indices=indices, filter=condition, value=_filled(definition.value, solution))


def _filled_binder(binder: Binder, solution: Mapping[Symbol, Form]) -> Binder:
    return replace(binder, lo=forms.substitute(binder.lo, solution), hi=forms.substitute(binder.hi, solution))


def _filled_tensor(tensor: Tensor, solution: Mapping[Symbol, Form]) -> Tensor:
    return replace(tensor, shape=tuple(forms.substitute(size, solution) for size in tensor.shape))


def infer_ranges(program: Program, report: Report) -> Program:
    """The program with every range end and size solved, but those of tensors that are now broken."""
    found = collect_open(program, report.broken)
    solver = _Solver(program, report, size_facts(program), found, bool(report.broken))
    solver.solve()
    solved = solver.solution
    tensors = {**program.tensors, **{tensor.name: _filled_tensor(tensor, solved) for tensor in solver.unshaped}}
    inside = {slot.definition.number for slot in found.slots.values() if not slot.is_left}
    definitions = tuple(_filled_definition(each, solved, each.number in inside) for each in program.definitions)
    return replace(program, tensors=tensors, definitions=definitions)
