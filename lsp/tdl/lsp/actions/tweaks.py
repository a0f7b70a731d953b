"""What can be done to a schedule where the cursor is in it."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language.source import Span
from tdl.lsp.actions.candidate import Choice
from tdl.lsp.actions.line_moves import line_moves
from tdl.lsp.actions.subject import schedule_at
from tdl.lsp.snapshot import Snapshot


def of_lines(snapshot: Snapshot, place: Span) -> Iterator[Choice]:
    """Changes of the line at a place."""
    subject = schedule_at(snapshot, place.start)
    if subject is None:
        return
    for number, line in enumerate(subject.lines):
        span = subject.place(line)
        if span.start <= place.start <= span.end and place.end <= span.end:
            yield from line_moves(subject, number)
