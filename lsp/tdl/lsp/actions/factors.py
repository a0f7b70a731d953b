"""Numbers of a schedule that others may stand in the place of: the next larger and smaller legal one, one that divides.

split C.i by 6 -> io, ii        4 · 8 · 16, which divides 64
fold rows.i by 4                3 · 5
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tdl.language import syntax
from tdl.language.schedules.lines import LINES
from tdl.language.source import Span
from tdl.lsp.actions.candidate import REWRITE, Candidate, Choice, Edit
from tdl.lsp.actions.subject import Subject
from tdl.lsp.completion.factors import extent_at

_MOST = 4096
_SMOOTH = tuple(sorted({base << bits for base in (1, 3) for bits in range(13) if base << bits <= _MOST}))
"""1, 2, 3, 4, 6, 8, 12, ...: what tiles are made of."""
_TRIED = 12


@dataclass(frozen=True)
class Factor:
    """A number in a line, at an absolute span. `extents` are those of what it cuts, by test and bench; empty where it
    cuts nothing."""

    line: int
    span: Span
    value: int
    verb: str
    extents: dict[str, int]

    def others(self) -> list[int]:
        """Other numbers that make sense there, in order."""
        if self.verb in ("fold", "skew", "prefetch"):
            near = range(max(1, self.value - _TRIED), self.value + _TRIED + 1)
            return [each for each in near if each != self.value]
        most = max(self.extents.values(), default=_MOST)
        dividing = {each for each in range(1, min(most, 512) + 1) if self.divides(each)}
        return sorted({each for each in (*_SMOOTH, *dividing) if each != self.value and each <= 2 * most})

    def divides(self, value: int) -> bool:
        """Whether tiles of a size leave no remainder, at any test or bench."""
        return bool(self.extents) and all(extent % value == 0 for extent in self.extents.values())


def factors_of(subject: Subject) -> Iterator[Factor]:
    """The numbers of a schedule that are factors, in order of place."""
    for number, line in enumerate(subject.lines):
        if isinstance(line, syntax.Line):
            form = LINES.get(line.verb.text)
            for clause in line.clauses:
                row = None if form is None else form.clause(clause.keyword.text)
                if row is not None and row.kind in ("factors", "count"):
                    yield from _of_clause(subject, number, line, clause)


def _of_clause(subject: Subject, number: int, line: syntax.Line, clause: syntax.Clause) -> Iterator[Factor]:
    values = clause.values
    if len(values) == 1 and isinstance(values[0], syntax.Array):
        values = values[0].items
    verb = line.verb.text
    for place, node in enumerate(values):
        value = _integer(node)
        if value is None:
            continue
        outer = _integer(values[place - 1]) if verb == "split" and place else None
        cut = line.operands[place if verb == "tile" and place < len(line.operands) else 0]
        extents = _extents(subject, number, verb, cut) if outer is None else {"": outer}
        yield Factor(number, subject.place(node), value, verb, extents)


def _integer(node: syntax.Expr) -> int | None:
    """A number of at least 1 that is written as one."""
    try:
        value = int(node.text.replace("_", ""), 0) if isinstance(node, syntax.Number) else 0
    except ValueError:
        return None
    return value if value > 0 else None


def _extents(subject: Subject, number: int, verb: str, loop: syntax.Expr) -> dict[str, int]:
    if verb not in ("split", "tile", "vectorize") or not isinstance(loop, syntax.Ref):
        return {}
    before = subject.before(number)
    found = {case.name: extent_at(before, case, loop.text) for case in subject.cases}
    return {case: extent for case, extent in found.items() if extent}


def changed(factor: Factor, value: int, id: str) -> Candidate:
    """The factor with another value."""
    shown = ", ".join(f"{each}" for each in dict.fromkeys(factor.extents.values()))
    why = f", which divides {shown}" if factor.divides(value) else ""
    return Candidate(id, f"change {factor.value} to {value}{why}", REWRITE, (Edit(factor.span, str(value)),))


def factor_moves(factor: Factor) -> Iterator[Choice]:
    """The next smaller and larger that are legal, and the nearest that divides."""
    smaller, larger = nearest(factor)
    yield tuple(changed(factor, each, "smaller") for each in smaller)
    yield tuple(changed(factor, each, "larger") for each in larger)
    shown = {factor.value, *smaller[:1], *larger[:1]}
    if not any(map(factor.divides, shown)):
        dividing = [each for each in factor.others() if each > 1 and factor.divides(each)]
        near = sorted(dividing, key=lambda each: (abs(each - factor.value), -each))
        yield tuple(changed(factor, each, "divide") for each in near[:_TRIED])


def nearest(factor: Factor) -> tuple[list[int], list[int]]:
    """Other numbers below and above, the nearest first."""
    others = factor.others()
    smaller = [each for each in reversed(others) if each < factor.value]
    return smaller[:_TRIED], [each for each in others if each > factor.value][:_TRIED]
