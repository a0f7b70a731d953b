"""Numbers for the tuner to choose, and back.

split C.i by 8 -> io, ii            knob i_tile = 8 in [4, 8, 16]
                                    split C.i by i_tile -> io, ii
"""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language import syntax
from tdl.language.schedules.settings import names_in
from tdl.lsp.actions import layout
from tdl.lsp.actions.candidate import REWRITE, Candidate, Choice, Edit
from tdl.lsp.actions.factors import Factor, changed, nearest
from tdl.lsp.actions.subject import Subject
from tdl.lsp.asking import Asking, first_legal

_NAMES = {"vectorize": "lanes", "fold": "ring", "prefetch": "ahead", "skew": "slope"}

_CHOICES, _TRIED = 2, 6
"""On each side of the number: how many are wanted, and how many tried."""


def to_knob(subject: Subject, factor: Factor) -> Asking[list[Candidate]]:
    """A number as a knob, whose choices are legal each."""
    values = [factor.value]
    for side in nearest(factor):
        found: list[int] = []
        for each in side[:_TRIED]:
            if len(found) < _CHOICES and (yield from first_legal((changed(factor, each, "choice"),))):
                found.append(each)
        values += found
    line = subject.lines[factor.line]
    assert isinstance(line, syntax.Line)
    loop = line.operands[0]
    axis = loop.parts[-1].text if isinstance(loop, syntax.Ref) else "n"
    (name,) = subject.fresh(_NAMES.get(factor.verb, f"{axis}_tile"))
    choices = ", ".join(map(str, sorted(values)))
    above = layout.insert(subject, factor.line, f"knob {name} = {factor.value} in [{choices}]")
    edits = (*above, Edit(factor.span, name))
    return (yield from first_legal((Candidate("knob", f"make {factor.value} a knob", REWRITE, edits),)))


def to_literal(subject: Subject, number: int) -> Iterator[Choice]:
    """A knob as the number that it begins with, wherever it stands."""
    knob = subject.lines[number]
    if not isinstance(knob, syntax.Knob):
        return
    value = subject.text(knob.value)
    if not isinstance(knob.value, syntax.Number):
        value = f"({value})"
    uses = [ref for line in subject.lines for ref in names_in(line) if ref.text == knob.name.text]
    edits = (*layout.remove(subject, number), *(Edit(subject.place(ref), value) for ref in uses))
    yield (Candidate("literal", f"write {value} for `{knob.name.text}`", REWRITE, edits),)
