"""A change that might be offered: edits of one document, and what a person is told they do.

    Candidate("fix", "change to `tanh`", "quickfix", (Edit(Span(40, 44), "tanh"),))

Whether it leads to an error is not known here; `trial.py` finds out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tdl.language.diagnostic import Diagnostic
from tdl.language.source import Span

QUICK_FIX = "quickfix"
REWRITE = "refactor.rewrite"
MOVE = "refactor.move"


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` in the place of an absolute span."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """`id` names the sort of change; `mends` is the error that it is about, if it is about one."""

    id: str
    title: str
    kind: str
    edits: tuple[Edit, ...]
    mends: Diagnostic | None = None
    is_preferred: bool = False


Choice = tuple[Candidate, ...]
"""Changes of which the first that is legal is offered."""


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, whose spans are of the text before any; of two at one place, the earlier is first."""
    parts: list[str] = []
    end = 0
    for edit in sorted(edits, key=lambda each: (each.span.start, each.span.end)):
        parts += (text[end : edit.span.start], edit.text)
        end = edit.span.end
    return "".join((*parts, text[end:]))


def line_end(text: str) -> str:
    """How the lines of a text end, for those that are put into it."""
    return "\r\n" if "\r\n" in text else "\n"
