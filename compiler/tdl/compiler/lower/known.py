"""What is known at a point of a kernel: facts of the sizes, the ranges of the loops around, the conditions that hold.

Everything is decided by putting range ends in for loops (`schedule/extremes.py`), never by isl: lowering asks hundreds
of questions, and a "not known" only costs a guard.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tdl.compiler.kernel.tree import Loop
from tdl.compiler.schedule.bounds import greatest_value
from tdl.compiler.schedule.extremes import eliminated, sides
from tdl.language.forms import FloorDiv, Form, Symbol, is_small
from tdl.language.inequalities import End, Facts, is_known
from tdl.language.tree import Binder

_LARGEST = 24
"""Atoms of the largest form that is asked about. Nothing is ever seen of larger ones, and to spread them takes long."""


@dataclass(frozen=True)
class Known:
    """`binders` from the outermost loop in; `conditions` are forms that are >= 0.

    `asked` keeps answers: copies of a body ask the same again. It is shared by all that comes from one beginning.
    """

    facts: Facts
    binders: tuple[Binder, ...] = ()
    conditions: tuple[Form, ...] = ()
    asked: dict[tuple[Form, tuple[Binder, ...]], bool] = field(default_factory=dict, compare=False, repr=False)

    def inside(self, symbol: Symbol, lo: Form, hi: Form) -> Known:
        """In the body of a loop, whose range is not empty there."""
        some = () if (hi - lo).is_constant else (hi - lo - 1,)
        return replace(self, binders=(*self.binders, Binder(symbol, lo, hi)), conditions=(*self.conditions, *some))

    def where(self, conditions: Iterable[Form]) -> Known:
        """Where conditions hold as well; those that bound a loop's counter bound its range."""
        found = self
        for form in conditions:
            more = (form, *_undivided(form))
            found = replace(found._narrowed(form), conditions=(*found.conditions, *more))
        return found

    def most(self, loop: Loop) -> int | None:
        """A number that the loop's iterations never exceed."""
        shown = self.number(loop.hi - loop.lo, "greatest")
        found = [each for each in (shown, loop.most) if each is not None]
        return max(min(found), 0) if found else None

    def _narrowed(self, form: Form) -> Known:
        """The innermost counter in `form >= 0` within its ends and this one, where it is clear which is nearer."""
        for position in reversed(range(len(self.binders))):
            binder = self.binders[position]
            step = dict(form.terms).get(binder.index, 0)
            if not step and not form.mentions(binder.index):
                continue
            rest = Form(tuple(term for term in form.terms if term[0] != binder.index), form.constant)
            if abs(step) != 1 or rest.mentions(binder.index):
                return self
            outer = replace(self, binders=self.binders[:position])
            if step > 0 and outer.holds(-rest - binder.lo):
                binder = replace(binder, lo=-rest)
            elif step < 0 and outer.holds(binder.hi - rest - 1):
                binder = replace(binder, hi=rest + 1)
            return replace(self, binders=(*self.binders[:position], binder, *self.binders[position + 1 :]))
        return self

    def holds(self, goal: Form) -> bool:
        """Whether `goal >= 0` is certain."""
        if goal.is_constant:
            return goal.constant >= 0
        kind, parts = sides(goal)
        if len(parts) > 1:
            return (all if kind == "min" else any)(self.holds(part) for part in parts)
        if self._follows(goal):
            return True
        shared = set(goal.symbols())
        near = (each for each in self.conditions if not shared.isdisjoint(each.symbols()))
        return any(self._follows(goal - condition) for condition in near)

    def end(self, form: Form, end: End, of: Iterable[Symbol] | None = None) -> Form | None:
        """The least or greatest value as a form over sizes, or over what is not in `of`; None where none is seen."""
        chosen = None if of is None else set(of)
        found: Form | None = form
        for binder in reversed(self.binders):
            if found is not None and (chosen is None or binder.index in chosen) and found.mentions(binder.index):
                found = eliminated(found, binder, end, self.facts)
        if found is None or (chosen is None and any(symbol.kind == "index" for symbol in found.symbols())):
            return None
        return found

    def number(self, form: Form, end: End) -> int | None:
        """A number that the form never falls below, or never exceeds."""
        if end == "least":
            most = self.number(-form, "greatest")
            return None if most is None else -most
        plain = greatest_value(form)
        if plain is not None:
            return plain
        over_sizes = self.end(form, end)
        return None if over_sizes is None else greatest_value(over_sizes)

    def _follows(self, goal: Form) -> bool:
        key = goal, self._spoken_of(goal)
        found = self.asked.get(key)
        if found is None:
            found = self.asked[key] = self._is_least_natural(goal)
        return found

    def _spoken_of(self, form: Form) -> tuple[Binder, ...]:
        """The binders of the counters in a form, and of those in their ends."""
        symbols = set(form.symbols())
        found: list[Binder] = []
        for binder in reversed(self.binders):
            if binder.index in symbols:
                symbols.update(binder.lo.symbols(), binder.hi.symbols())
                found.append(binder)
        return tuple(found)

    def _is_least_natural(self, goal: Form) -> bool:
        if not is_small(goal, most=_LARGEST):
            return False
        least = self.end(goal, "least")
        if least is None:
            return False
        kind, parts = sides(least)
        return (all if kind == "min" else any)(is_known(part, self.facts, ()) for part in parts)


def _undivided(form: Form) -> tuple[Form, ...]:
    """`x + k*y >= 0` where the form is `x//k + y`, for both say the same."""
    divisions = [atom for atom, count in form.terms if isinstance(atom, FloorDiv) and count == 1]
    if len(divisions) != 1 or not divisions[0].divisor.is_constant or divisions[0].divisor.constant <= 0:
        return ()
    rest = Form(tuple(term for term in form.terms if term[0] != divisions[0]), form.constant)
    return (divisions[0].dividend + rest * divisions[0].divisor.constant,)
