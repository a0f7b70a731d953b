"""What can be done to a schedule where the cursor is in it, or to a loop at an index of its op."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language import syntax
from tdl.language.schedules.loops import Loop as Named
from tdl.language.schedules.settings import names_in
from tdl.language.source import Span
from tdl.lsp.actions.candidate import Candidate, Choice
from tdl.lsp.actions.factors import factor_moves, factors_of
from tdl.lsp.actions.knobs import to_knob, to_literal
from tdl.lsp.actions.line_moves import line_moves
from tdl.lsp.actions.loop_moves import loop_moves
from tdl.lsp.actions.subject import Subject, schedule_at, schedules_of
from tdl.lsp.actions.writing import written_schedules
from tdl.lsp.asking import Asking, each_legal
from tdl.lsp.snapshot import Snapshot


def of_loops(snapshot: Snapshot, place: Span) -> Iterator[Choice]:
    """Changes of the loop that is named at a place."""
    subject = schedule_at(snapshot, place.start)
    names = _named_in(subject, place) if subject is not None else []
    if subject is None:
        subject, names = _of_index(snapshot, place)
    if subject is not None:
        for loop in subject.loops:
            if any(subject.state.loops.find(subject.name(loop)) is each for each in names):
                yield from loop_moves(subject, loop)


def _named_in(subject: Subject, place: Span) -> list[Named]:
    """The loop of a schedule that is named at a place, if it is still there behind the last line."""
    for line in subject.lines:
        if isinstance(line, syntax.Line):
            values = [value for clause in line.clauses for value in clause.values]
            for node in (*line.operands, *values, *line.results):
                text = node.text if isinstance(node, syntax.Ref | syntax.Name) else None
                if text is not None and _touches(subject.place(node), place):
                    found = subject.state.loops.find(text)
                    return [found] if isinstance(found, Named) and found.fate is None else []
    return []


def _of_index(snapshot: Snapshot, place: Span) -> tuple[Subject | None, list[Named]]:
    """The loops over the index of an op at a place, in the only schedule of it in this file."""
    entry = snapshot.entry_at(place.start)
    if entry is None or not isinstance(entry.placed.item, syntax.Op):
        return None, []
    found = list(schedules_of(snapshot, entry.declaration))
    if len(found) != 1:
        return None, []
    here = Span(place.start - entry.placed.offset, place.end - entry.placed.offset)
    live = found[0].state.loops.live
    return found[0], [loop for loop in live if loop.made is None and any(_touches(each, here) for each in loop.indices)]


def of_factors(snapshot: Snapshot, place: Span) -> Asking[list[Candidate]]:
    """Changes of the factor at a place."""
    subject = schedule_at(snapshot, place.start)
    found: list[Candidate] = []
    for factor in () if subject is None else factors_of(subject):
        if subject is not None and _touches(factor.span, place):
            found += yield from each_legal(factor_moves(factor))
            found += yield from to_knob(subject, factor)
    return found


def of_knobs(snapshot: Snapshot, place: Span) -> Iterator[Choice]:
    """Changes of the knob at a place: in its own line, or where it is used."""
    subject = schedule_at(snapshot, place.start)
    if subject is None:
        return
    for number, line in enumerate(subject.lines):
        if isinstance(line, syntax.Knob) and _touches(subject.place(line), place):
            yield from to_literal(subject, number)
        for ref in names_in(line):
            if _touches(subject.place(ref), place):
                yield from _knob_named(subject, ref)


def _knob_named(subject: Subject, ref: syntax.Ref) -> Iterator[Choice]:
    for number, line in enumerate(subject.lines):
        if isinstance(line, syntax.Knob) and line.name.text == ref.text:
            yield from to_literal(subject, number)


def of_ops(snapshot: Snapshot, place: Span) -> Iterator[Choice]:
    """Schedules for the op whose head is at a place."""
    entry = snapshot.entry_at(place.start)
    if entry is None or not isinstance(entry.placed.item, syntax.Op):
        return
    text, item = entry.placed.parsed.text, entry.placed.item
    brace = text.find("{", item.name.span.end)
    head = Span(item.span.start, item.span.end if brace < 0 else brace).shifted(entry.placed.offset)
    if _touches(head, place):
        yield from written_schedules(snapshot, entry)


def of_lines(snapshot: Snapshot, place: Span) -> Iterator[Choice]:
    """Changes of the line at a place."""
    subject = schedule_at(snapshot, place.start)
    if subject is None:
        return
    for number, line in enumerate(subject.lines):
        if _touches(subject.place(line), place):
            yield from line_moves(subject, number)


def _touches(span: Span, place: Span) -> bool:
    """Whether a cursor or a selection is in a span."""
    return span.start <= place.start and place.end <= span.end
