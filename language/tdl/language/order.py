"""In which order are definitions run, and elements of those that need each other?

    S[0, j] = X[0, j]                                  run S.0
    S[t, j] = S[t - 1, j] + X[t, j]  for t in 1..T     sweep t in 1..T: run S.1

Definitions that need each other in a circle share a sweep: an axis of each of their tensors and one direction, such
that no read goes the wrong way. Reads from earlier in the sweep are then settled, and what remains is ordered inside it
in the same way (Allen and Kennedy, "Automatic translation of Fortran programs to vector form", 1987, over exact
dependences). A sweep that can be chosen never harms what comes inside, so none is ever taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Literal

from tdl.language import forms
from tdl.language.components import strong_components
from tdl.language.conditions import equal
from tdl.language.cycles import report_cycle
from tdl.language.dependences import Dependence, Signs, can_happen, dependences, signs_of
from tdl.language.domains import Domain
from tdl.language.forms import Form
from tdl.language.inequalities import Facts
from tdl.language.proof import holds
from tdl.language.report import Report
from tdl.language.sets import Undecided
from tdl.language.tree import Access, Definition, Obligation, Program, Run, Step, Sweep, walk
from tdl.language.witness import size_facts

_CHOICES = 2_000

Axes = Mapping[str, int]
"""An axis of each tensor of a cycle."""

Used = Mapping[str, frozenset[int]]
"""The axes of each tensor that enclosing sweeps have fixed."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A sweep that may be made: how each dependence goes along it."""

    axes: Axes
    ascending: bool
    signs: tuple[Signs, ...]

    @property
    def settled(self) -> int:
        return sum(not signs.zero for signs in self.signs)

    @property
    def is_useful(self) -> bool:
        return any(signs.positive or signs.negative for signs in self.signs)


@dataclass
class _Sorter:
    program: Program
    report: Report
    facts: Facts
    obligations: list[Obligation] = field(default_factory=list)

    def steps(self, definitions: Sequence[Definition], found: list[Dependence], used: Used) -> Iterator[Step]:
        """The definitions in order, where those already swept along `used` axes are at equal coordinates."""
        by_number = {definition.number: definition for definition in definitions}
        needs: dict[int, set[int]] = {}
        for each in found:
            needs.setdefault(each.reader.number, set()).add(each.writer.number)
        for component in strong_components(list(by_number), needs):
            members = [by_number[number] for number in component]
            inside = [each for each in found if each.reader.number in component and each.writer.number in component]
            if inside:
                yield from self._component(members, inside, used)
            else:
                yield Run(component[0])

    def _component(self, members: list[Definition], inside: list[Dependence], used: Used) -> Iterator[Step]:
        choice = self._choice(members, inside, used)
        if choice is None:
            yield from self._refuse(members, inside, used)
        else:
            yield self._sweep(members, inside, choice, used)

    def _refuse(self, members: list[Definition], inside: list[Dependence], used: Used) -> Iterator[Step]:
        """Report a cycle; or, if all would be well but for what is not known without sizes, owe the proof."""
        certain = [each for each in inside if not each.is_deferred]
        if len(certain) < len(inside):
            trial = _Sorter(self.program, Report(), self.facts)
            steps = tuple(trial.steps(members, certain, used))
            if not trial.report.has_errors:
                self.obligations.append(Obligation("order", members[0].span))
                yield from steps
                return
        report_cycle(self.program, self.report, self.facts, members, certain)
        yield from (Run(member.number) for member in members)

    def _sweep(self, members: list[Definition], inside: list[Dependence], choice: _Choice, used: Used) -> Sweep:
        axes = {member.number: choice.axes[member.targets[0].tensor] for member in members}
        kept = [
            each.restricted(equal(each.distance(axes[each.reader.number], axes[each.writer.number]), forms.ZERO))
            for each, signs in zip(inside, choice.signs)
            if signs.zero
        ]
        now_used = {tensor: used.get(tensor, frozenset()) | {axis} for tensor, axis in choice.axes.items()}
        body = tuple(self.steps(members, kept, now_used))
        lo, hi = self._hull([_range(member, axes[member.number]) for member in members])
        return Sweep(axes, choice.ascending, lo, hi, body)

    def _hull(self, ranges: list[tuple[Form, Form]]) -> tuple[Form, Form]:
        (lo, hi), *others = ranges
        for other_lo, other_hi in others:
            lo = self._extreme("min", lo, other_lo)
            hi = self._extreme("max", hi, other_hi)
        return lo, hi

    def _extreme(self, kind: Literal["min", "max"], left: Form, right: Form) -> Form:
        for first, second in ((left, right), (right, left)):
            if holds(first - second if kind == "max" else second - first, self.facts, Domain()):
                return first
        return forms.extreme(kind, left, right)

    # ---- choosing a sweep

    def _choice(self, members: list[Definition], inside: list[Dependence], used: Used) -> _Choice | None:
        """The sweep that settles most dependences; of equals the first."""
        best: _Choice | None = None
        known: dict[tuple[int, int, int], Signs] = {}
        for axes in islice(_axes(members, self.program, used), _CHOICES):
            for ascending in (True, False):
                choice = self._judge(inside, axes, ascending, known)
                if choice is not None and (best is None or choice.settled > best.settled):
                    best = choice
                    if best.settled == len(inside):
                        return best
        return best

    def _judge(
        self, inside: list[Dependence], axes: Axes, ascending: bool, known: dict[tuple[int, int, int], Signs]
    ) -> _Choice | None:
        """The choice, if no dependence goes the wrong way and some go the right one."""
        found: list[Signs] = []
        for position, each in enumerate(inside):
            reader, writer = (axes[d.targets[0].tensor] for d in (each.reader, each.writer))
            key = (position, reader, writer)
            if key not in known:
                known[key] = signs_of(each, self.facts, each.distance(reader, writer))
            if known[key].negative if ascending else known[key].positive:
                return None
            found.append(known[key])
        choice = _Choice(axes, ascending, tuple(found))
        return choice if choice.is_useful else None


def _axes(members: list[Definition], program: Program, used: Used) -> Iterator[Axes]:
    """Every way to take one free axis of each tensor: first the same position in all, then the same index name."""
    tensors = list(dict.fromkeys(member.targets[0].tensor for member in members))
    free = [
        [axis for axis in range(len(program.tensors[tensor].shape)) if axis not in used.get(tensor, ())]
        for tensor in tensors
    ]
    names = {
        (member.targets[0].tensor, axis): str(coordinate)
        for member in members
        for axis, coordinate in enumerate(member.targets[0].coordinates)
        if not coordinate.is_constant
    }

    def strangeness(axes: tuple[int, ...]) -> tuple[bool, int]:
        return len(set(axes)) > 1, len({names.get(pair) for pair in zip(tensors, axes)})

    for axes in sorted(islice(product(*free), _CHOICES), key=strangeness):
        yield dict(zip(tensors, axes))


def _range(definition: Definition, axis: int) -> tuple[Form, Form]:
    """The values of the definition's coordinate on the axis."""
    coordinate = definition.targets[0].coordinates[axis]
    for binder in definition.indices:
        if coordinate.symbol == binder.index:
            return binder.lo, binder.hi
    return coordinate, coordinate + 1


def _reads(definition: Definition) -> set[str]:
    roots = (definition.value, *([definition.filter] if definition.filter is not None else []))
    return {node.tensor for root in roots for node in walk(root) if isinstance(node, Access)}


def find_order(program: Program, report: Report) -> Program:
    """The program with its `steps`; definitions of broken tensors are left out."""
    definitions = [d for d in program.definitions if all(t.tensor not in report.broken for t in d.targets)]
    writers: dict[str, list[Definition]] = {}
    for definition in definitions:
        for target in definition.targets:
            writers.setdefault(target.tensor, []).append(definition)
    needs = {d.number: {w.number for name in _reads(d) for w in writers.get(name, ())} for d in definitions}
    by_number = {definition.number: definition for definition in definitions}
    sorter = _Sorter(program, report, size_facts(program))
    steps: list[Step] = []
    for component in strong_components(list(by_number), needs):
        members = [by_number[number] for number in component]
        if len(members) == 1 and component[0] not in needs[component[0]]:
            steps.append(Run(component[0]))
            continue
        try:
            found = [each for member in members for each in dependences(program, member, members)]
            steps += sorter.steps(members, [each for each in found if can_happen(each, sorter.facts)], {})
        except Undecided:
            names = " and ".join(dict.fromkeys(f"`{member.targets[0].tensor}`" for member in members))
            report.error(
                "undecided",
                f"whether there is an order for {names}, which depends on itself, could not be decided",
                members[0].span,
                "simplify the subscripts of the reads of itself, or the conditions around them",
            )
    return replace(program, steps=tuple(steps), obligations=(*program.obligations, *sorter.obligations))
