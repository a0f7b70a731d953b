"""Which values does each index take, and how large is each tensor that does not say so?

    Y[i, j] = sum(X[i + 1, k] * W[k, j] for k)     i and j from the shape of Y, k from those of X and W

An index of a tensor with a declared shape takes that shape. Any other is bounded by the subscripts in which it is the
only index and that have no boundary; of several bounds the one that is provably the tightest counts. What is still open
in an intermediate takes the box of what its readers read. The draft names every open end and size by an `unknown`
symbol; all of them are solved here, or reported, and then their tensor is broken.

It does not check that accesses are in bounds, or that definitions cover their tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from tdl.language import forms
from tdl.language.conditions import less, nature
from tdl.language.domains import Domain, visit_accesses
from tdl.language.forms import FloorDiv, Form, Symbol
from tdl.language.inequalities import Facts, extent
from tdl.language.proof import holds
from tdl.language.report import Report
from tdl.language.sets import Undecided
from tdl.language.tree import (
    Access,
    Binder,
    Definition,
    Expr,
    Program,
    Reduce,
    Target,
    Tensor,
    map_children,
    walk,
)
from tdl.language.witness import find_witness, show_point, size_facts, size_symbols

End = Literal["lo", "hi"]


@dataclass
class _Slot:
    """An index whose range is open. `bounds` are candidates for its two ends, which may mention unknown sizes."""

    binder: Binder
    definition: Definition
    is_left: bool
    bounds: list[tuple[Form, Form]] = field(default_factory=list)
    is_excused: bool = False  # what would bound it may be in something already reported

    @property
    def unknowns(self) -> tuple[Symbol, Symbol]:
        return _unknown(self.binder.lo), _unknown(self.binder.hi)


@dataclass
class _Read:
    """A read of a tensor by a definition that does not write it."""

    access: Access
    domain: Domain


@dataclass
class _Solver:
    program: Program
    report: Report
    facts: Facts
    was_broken: bool
    solution: dict[Symbol, Form] = field(default_factory=dict)
    slots: dict[Symbol, _Slot] = field(default_factory=dict)  # by the unknown of the lower end
    reads: dict[str, list[_Read]] = field(default_factory=dict)

    # ---- collecting

    def collect(self, definition: Definition) -> None:
        for binder in definition.indices:
            if is_open(binder.lo):
                self.slots[_unknown(binder.lo)] = _Slot(binder, definition, True, self._declared(definition, binder))
        for binder in _reduction_binders(definition):
            if is_open(binder.lo):
                self.slots[_unknown(binder.lo)] = _Slot(binder, definition, False)
        own = {target.tensor for target in definition.targets}
        visit_accesses(definition, lambda access, domain: self._collect_access(own, access, domain))

    def _declared(self, definition: Definition, binder: Binder) -> list[tuple[Form, Form]]:
        """The ranges that declared shapes give to a left-hand index."""
        found = []
        for target in definition.targets:
            for coordinate, size in zip(target.coordinates, self.program.tensors[target.tensor].shape):
                if coordinate.symbol == binder.index and not is_open(size):
                    found.append((forms.ZERO, size))
        return found

    def _collect_access(self, own: set[str], access: Access, domain: Domain) -> None:
        if access.tensor in self.report.broken or access.tensor not in self.program.tensors:
            self._excuse(access, domain)
        if access.tensor in own or access.tensor in self.report.broken:
            return
        self.reads.setdefault(access.tensor, []).append(_Read(access, domain))
        if access.boundary is not None:
            return
        for subscript, size in zip(access.subscripts, self.program.tensors[access.tensor].shape):
            slot = self._only_index(subscript, domain)
            if slot is not None and not (slot.is_left and self._declared(slot.definition, slot.binder)):
                bounds = _inverted(subscript, slot.binder.index, forms.ZERO, size - 1)
                if bounds is not None:
                    slot.bounds.append((bounds[0], bounds[1] + 1))

    def _excuse(self, access: Access, domain: Domain) -> None:
        for binder in domain.binders:
            if is_open(binder.lo) and any(form.mentions(binder.index) for form in access.subscripts):
                self.slots[_unknown(binder.lo)].is_excused = True

    def _only_index(self, subscript: Form, domain: Domain) -> _Slot | None:
        """The open slot of the subscript's only index, if it has just one and no data."""
        indices = {symbol for symbol in subscript.symbols() if symbol.kind == "index"}
        if len(indices) != 1 or nature(subscript) == "data":
            return None
        for binder in reversed(domain.binders):
            if binder.index in indices:
                return self.slots.get(_unknown(binder.lo)) if is_open(binder.lo) else None
        return None

    # ---- solving

    def solve(self) -> None:
        """Solve what can be solved directly; where that stops, break a cycle or ask the readers; report the rest."""
        steps: tuple[Callable[[], bool], ...] = (self._solve_direct, self._solve_partial, self._solve_by_readers)
        while any(step() for step in steps):
            pass
        for slot in self._open_slots():
            self._report_unbounded(slot)

    def _open_slots(self) -> list[_Slot]:
        return [
            slot
            for slot in self.slots.values()
            if slot.unknowns[0] not in self.solution and not self._is_broken(slot.definition)
        ]

    def _solve_direct(self) -> bool:
        """Indices all of whose bounds are known, and shapes all of whose definitions are."""
        progress = False
        for slot in self._open_slots():
            bounds = [(self._known(lo), self._known(hi)) for lo, hi in slot.bounds]
            if bounds and all(is_solved(form) for pair in bounds for form in pair):
                progress = self._settle(slot, bounds) or progress
        for tensor in self.program.tensors.values():
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

    def _end_of_reads(self, slot: _Slot, wait: bool) -> Form | None:
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

    def _bounding_reads(self, tensor: str) -> list[_Read]:
        """The reads without a boundary, or else all."""
        reads = self.reads.get(tensor, [])
        return [read for read in reads if read.access.boundary is None] or reads

    def _box(self, read: _Read, axis: int) -> Form | None:
        binders = [replace(b, lo=self._known(b.lo), hi=self._known(b.hi)) for b in read.domain.binders]
        subscript = read.access.subscripts[axis]
        if nature(subscript) == "data":
            return None
        high = extent(subscript, binders, "greatest")
        return high + 1 if high is not None and is_solved(high) and nature(high) != "data" else None

    def _settle(self, slot: _Slot, bounds: list[tuple[Form, Form]]) -> bool:
        lower = [lo for lo, _ in bounds]
        if slot.is_left and forms.ZERO not in lower:
            lower.append(forms.ZERO)
        upper = [hi for _, hi in bounds]
        lo, hi = self._tightest(lower, "lo"), self._tightest(upper, "hi")
        if lo is None or hi is None:
            self._report_ambiguous(slot, lower if lo is None else upper, "lo" if lo is None else "hi")
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
            if is_open(size) and _unknown(size) not in self.solution:
                ends = [self._end(d, t.coordinates[axis]) for d, t in self._writers(tensor.name)]
                known = [end for end in ends if end is not None and is_solved(end)]
                if known and len(known) == len(ends):
                    self.solution[_unknown(size)] = self._box_size(known)
                    progress = True
        return progress

    def _writers(self, name: str) -> list[tuple[Definition, Target]]:
        return [(d, target) for d in self.program.definitions for target in d.targets if target.tensor == name]

    def _end(self, definition: Definition, coordinate: Form) -> Form | None:
        """One past the greatest value of a coordinate."""
        binders = [replace(b, lo=self._known(b.lo), hi=self._known(b.hi)) for b in definition.indices]
        high = extent(coordinate, binders, "greatest")
        return None if high is None else high + 1

    def _box_size(self, ends: list[Form]) -> Form:
        distinct = list(dict.fromkeys(ends))
        size = self._tightest(distinct, "lo") or _extreme("max", distinct)
        return size if self._is_natural(size) else forms.extreme("max", forms.ZERO, size)

    # ---- reporting

    def _report_unbounded(self, slot: _Slot) -> None:
        broken = {target.tensor for target in slot.definition.targets}
        is_excused = slot.is_excused or (slot.is_left and self.was_broken) or self._waits_for_broken(slot)
        self.report.broken.update(broken)
        if is_excused:
            return
        name = slot.binder.index.name
        kind = "index" if slot.is_left else "reduction index"
        reason = "it is the only index of no subscript without a boundary"
        if slot.is_left:
            reason += ", and nothing reads " + " or ".join(f"`{each}` at a known place" for each in sorted(broken))
        self.report.error(
            "unbounded-index",
            f"nothing bounds the {kind} `{name}`",
            slot.binder.span,
            reason,
            f"give it a range, as in `for {name} in 0..N`",
        )

    def _waits_for_broken(self, slot: _Slot) -> bool:
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

    def _report_ambiguous(self, slot: _Slot, candidates: list[Form], end: End) -> None:
        self.report.broken.update(target.tensor for target in slot.definition.targets)
        distinct = list(dict.fromkeys(candidates))
        first, second, notes = self._contested(distinct, end)
        name = slot.binder.index.name
        word = "starts" if end == "lo" else "ends"
        fact = f"`where {first} <= {second}`" if end == "hi" else f"`where {first} >= {second}`"
        self.report.error(
            "ambiguous-range",
            f"the range of `{name}` {word} at {first} or at {second}: neither is the tighter for all sizes",
            slot.binder.span,
            *notes,
            f"give a range, as in `for {name} in 0..{first}`, or state a fact, as in {fact}",
        )

    def _contested(self, candidates: list[Form], end: End) -> tuple[Form, Form, list[str]]:
        """Two bounds of which either may be the tighter, with sizes that show it."""
        for position, first in enumerate(candidates):
            for second in candidates[position + 1 :]:
                points = [self._where_less(first, second), self._where_less(second, first)]
                if all(points):
                    shown = " and with ".join(f"{text}" for text in points if text)
                    return first, second, [f"{first} against {second}: with {shown}"]
        return candidates[0], candidates[-1], []

    def _where_less(self, left: Form, right: Form) -> str | None:
        """Sizes at which one form is less than another, and the two values."""
        point = find_witness(self.facts.formulas, less(left, right), size_symbols(self.program))
        if point is None:
            return None
        shown = {symbol: value for symbol, value in point.items() if left.mentions(symbol) or right.mentions(symbol)}
        try:
            ends = f"{forms.evaluate(left, shown)} and {forms.evaluate(right, shown)}"
        except (KeyError, ZeroDivisionError):
            return show_point(shown)
        return f"{show_point(shown)} the ends are {ends}"


def _reduction_binders(definition: Definition) -> Iterable[Binder]:
    for expr in (definition.value, *([definition.filter] if definition.filter is not None else [])):
        for node in walk(expr):
            if isinstance(node, Reduce):
                yield from node.binders


def is_open(form: Form) -> bool:
    """Whether a form is an end or a size that the text does not give."""
    symbol = form.symbol
    return symbol is not None and symbol.kind == "unknown"


def is_solved(form: Form) -> bool:
    return all(symbol.kind != "unknown" for symbol in form.symbols())


def _unknown(form: Form) -> Symbol:
    symbol = form.symbol
    assert symbol is not None
    return symbol


def _extreme(kind: Literal["min", "max"], of: list[Form]) -> Form:
    result = of[0]
    for form in of[1:]:
        result = forms.extreme(kind, result, form)
    return result


def _inverted(form: Form, index: Symbol, lo: Form, hi: Form) -> tuple[Form, Form] | None:
    """The least and greatest `index` for which `lo <= form <= hi`; None where that is not one interval to be found.

    2*i + 1 in 0..=9    becomes    i in 0..=4
    (i + 1)//2 in a..=b    becomes    i in 2*a - 1..=2*b
    """
    holding = [(atom, coefficient) for atom, coefficient in form.terms if Form(((atom, 1),), 0).mentions(index)]
    if len(holding) != 1:
        return None
    (atom, coefficient) = holding[0]
    rest = form - Form(((atom, coefficient),), 0)
    low, high = lo - rest, hi - rest
    if coefficient < 0:
        low, high = -high, -low
    by = forms.constant(abs(coefficient))
    low, high = -forms.floor_div(-low, by), forms.floor_div(high, by)
    match atom:
        case Symbol():
            return low, high
        case FloorDiv(dividend, divisor) if divisor.is_constant and divisor.constant > 0:
            width = divisor.constant
            return _inverted(dividend, index, low * width, high * width + (width - 1))
    return None


def _filled(expr: Expr, solution: Mapping[Symbol, Form]) -> Expr:
    def change(child: Expr) -> Expr:
        return _filled(child, solution)

    def change_form(form: Form) -> Form:
        if is_open(form):
            return forms.substitute(form, solution)
        return forms.substitute(form, {}, change) if nature(form) == "data" else form

    return map_children(expr, change, change_form)


def _filled_definition(definition: Definition, solution: Mapping[Symbol, Form]) -> Definition:
    indices = tuple(
        replace(binder, lo=forms.substitute(binder.lo, solution), hi=forms.substitute(binder.hi, solution))
        for binder in definition.indices
    )
    condition = None if definition.filter is None else _filled(definition.filter, solution)
    return replace(definition, indices=indices, filter=condition, value=_filled(definition.value, solution))


def infer_ranges(program: Program, report: Report) -> Program:
    """The program with every range end and size solved, but those of tensors that are now broken."""
    solver = _Solver(program, report, size_facts(program), bool(report.broken))
    for definition in program.definitions:
        if not any(target.tensor in report.broken for target in definition.targets):
            solver.collect(definition)
    solver.solve()
    tensors = {
        name: replace(tensor, shape=tuple(forms.substitute(size, solver.solution) for size in tensor.shape))
        for name, tensor in program.tensors.items()
    }
    definitions = tuple(_filled_definition(definition, solver.solution) for definition in program.definitions)
    return replace(program, tensors=tensors, definitions=definitions)
