"""Edits of whole schedule lines that keep the layout of what is around: indentation, comments, the closing brace.

insert(subject, 1, "unroll ii")        above the second line; behind the last one where there is no such line
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tdl.language import syntax
from tdl.language.parser.lines import BLANKS, line_start
from tdl.language.source import Span
from tdl.lsp.actions.candidate import Edit, line_end
from tdl.lsp.actions.subject import Subject

_REST = re.compile(r"[ \t\f]*(?:#[^\r\n]*)?(?=[\r\n]|\Z)")
_END = re.compile(r"\r\n|\r|\n|\Z")


def insert(subject: Subject, number: int, *lines: str) -> tuple[Edit, ...]:
    """New lines above one of a schedule, or behind the last."""
    text, newline = subject.snapshot.source.text, line_end(subject.snapshot.source.text)
    margin = newline + indent(subject)
    new = margin.join(lines)
    if number < len(subject.lines):
        start = subject.place(subject.lines[number]).start
        if not _is_first(text, start):
            before = _blanks_before(text, start)
            return (Edit(Span(before, start), f"{margin}{new}{margin}"),)
        return (Edit(Span(start, start), f"{new}{margin}"),)
    if not subject.lines:
        brace = _closing(subject)
        return (Edit(Span(_blanks_before(text, brace), brace), f"{margin}{new}{newline}"),)
    end = subject.place(subject.lines[-1]).end
    rest = _REST.match(text, end)
    if rest is not None:
        return (Edit(Span(rest.end(), rest.end()), f"{margin}{new}"),)
    brace = _closing(subject)
    behind = Edit(Span(end, brace), f"{margin}{new}{newline}")
    first = subject.place(subject.lines[0]).start
    if _is_first(text, first):
        return (behind,)
    return (Edit(Span(_blanks_before(text, first), first), margin), behind)


def replace(subject: Subject, number: int, *lines: str) -> tuple[Edit, ...]:
    """A line with others in its place."""
    margin = line_end(subject.snapshot.source.text) + indent(subject)
    return (Edit(subject.place(subject.lines[number]), margin.join(lines)),)


def remove(subject: Subject, number: int) -> tuple[Edit, ...]:
    """A line taken out, with the comment behind it."""
    text, span = subject.snapshot.source.text, subject.place(subject.lines[number])
    rest = _REST.match(text, span.end)
    if rest is None or not _is_first(text, span.start):
        return (Edit(Span(_blanks_before(text, span.start), span.end if rest is None else rest.end()), ""),)
    end = _END.match(text, rest.end())
    return (Edit(Span(line_start(text, span.start), rest.end() if end is None else end.end()), ""),)


def swap(subject: Subject, first: int, second: int) -> tuple[Edit, ...]:
    """Two lines exchanged, with the comments behind them."""
    text = subject.snapshot.source.text
    a, b = (_with_comment(subject, number) for number in (first, second))
    return Edit(a, text[b.start : b.end]), Edit(b, text[a.start : a.end])


def with_texts(subject: Subject, line: syntax.Node, values: Sequence[tuple[syntax.Node, str]]) -> str:
    """A line with other texts in some places."""
    text, start = subject.text(line), line.span.start
    for node, value in sorted(values, key=lambda each: each[0].span.start, reverse=True):
        text = text[: node.span.start - start] + value + text[node.span.end - start :]
    return text


def indent(subject: Subject) -> str:
    """What stands before the lines of a schedule."""
    text = subject.snapshot.source.text
    for line in reversed(subject.lines):
        start = subject.place(line).start
        if _is_first(text, start):
            return text[line_start(text, start) : start]
    return "    "


def _with_comment(subject: Subject, number: int) -> Span:
    span = subject.place(subject.lines[number])
    rest = _REST.match(subject.snapshot.source.text, span.end)
    return span if rest is None else Span(span.start, rest.end())


def _is_first(text: str, offset: int) -> bool:
    """Whether nothing but blanks stands before it in its line."""
    return not text[line_start(text, offset) : offset].strip(BLANKS)


def _blanks_before(text: str, offset: int) -> int:
    while offset and text[offset - 1] in BLANKS:
        offset -= 1
    return offset


def _closing(subject: Subject) -> int:
    """Where the brace is that closes the schedule."""
    return subject.place(subject.item).end - 1
