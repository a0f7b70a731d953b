"""A diagnostic as text: the source lines with marks under what is meant, then notes and what would mend it.

    error[unknown-name]: nothing here is called `bais`
      --> blur.tdl:2:19
       |
     2 |     Y[i] = X[i] + bais[i]
       |                   ^^^^
       = help: did you mean `bias`?
     2 +     Y[i] = X[i] + bias[i]

The result is lines of styled fragments; `plain` drops the styles, a terminal maps them to colours. Nothing here prints,
reads a file, or knows about terminals.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tdl.language.cells import Row, Window, crop, display_width, lay_out, printable
from tdl.language.diagnostic import Diagnostic, Fix
from tdl.language.frame import ASCII, Fragment, Frame, Layout, Line, Style, gutter
from tdl.language.source import Source, Span

SHOWN_LINES = 4
"""Of a span or a fix over more lines than this, the first ones and the last are shown."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters `start` up to `end`, from 0, of one line to be underlined."""

    source: Source
    line: int
    start: int
    end: int
    style: Style
    text: str = ""


Find = Callable[[str], Source | None]
"""Gives the source of a path that a label speaks of."""


def render(
    diagnostic: Diagnostic,
    source: Source,
    *,
    frame: Frame = ASCII,
    width: int | None = None,
    find: Find = lambda path: None,
) -> list[Line]:
    """All lines of a diagnostic whose spans are absolute in `source`; `find` gives other files that it mentions."""
    marks = list(_marks(diagnostic, source, find))
    last = max((mark.line for mark in marks), default=1)
    layout = Layout(frame, width, len(str(last)))
    kind: Style = diagnostic.severity
    head = (
        Fragment(f"{diagnostic.severity}[{diagnostic.code}]", kind),
        Fragment(f": {_safe(diagnostic.message)}", "message"),
    )
    lines: list[Line] = [head]
    for path, group in groupby(marks, key=lambda mark: mark.source.path):
        lines += _excerpt(path, list(group), layout)
    remarks = list(_remarks(diagnostic, source, layout))
    if remarks:
        lines.append(gutter("", layout.frame.bar, layout))
    lines += _join(remarks, layout)
    return lines


def plain(lines: Sequence[Line]) -> str:
    """The lines as one text without styles, ending in a newline."""
    return "".join("".join(fragment.text for fragment in line).rstrip() + "\n" for line in lines)


# ---- marks


def _marks(diagnostic: Diagnostic, source: Source, find: Find) -> Iterator[Mark]:
    """Those of the file itself first, then by file."""
    yield from _split(source, diagnostic.primary, diagnostic.severity, "")
    others: list[Mark] = []
    for label in diagnostic.secondary:
        place = source if label.path in (None, source.path) else find(label.path or "")
        if place is source:
            yield from _split(source, label.span, "secondary", _safe(label.text))
        elif place is not None:
            others += _split(place, label.span, "secondary", _safe(label.text))
    yield from sorted(others, key=lambda mark: mark.source.path)


def _split(source: Source, span: Span, style: Style, text: str) -> list[Mark]:
    """One mark for each line that a span touches; the words stand at the last."""
    first, last = source.position(span.start), source.position(max(span.start, span.end - 1))
    if first.line == last.line:
        end = last.column if span.end > span.start else first.column
        return [Mark(source, first.line, first.column - 1, end, style, text)]
    marks = []
    for number in _abridged(first.line, last.line):
        content = source.line(number)
        start = first.column - 1 if number == first.line else len(content) - len(content.lstrip())
        end = last.column if number == last.line else len(content.rstrip())
        if end > start or number == first.line:
            marks.append(Mark(source, number, start, max(end, start + 1), style, text if number == last.line else ""))
    return marks


def _abridged(first: int, last: int) -> list[int]:
    if last - first < SHOWN_LINES:
        return list(range(first, last + 1))
    return [*range(first, first + SHOWN_LINES - 1), last]


# ---- the picture


def _excerpt(path: str, marks: list[Mark], layout: Layout) -> Iterator[Line]:
    """The place, then each marked line with its underlines."""
    source, first = marks[0].source, marks[0]
    place = f"{_safe(path)}:{first.line}:{first.start + 1}"
    yield (Fragment(" " * layout.gutter + f" {layout.frame.arrow} ", "frame"), Fragment(place, "place"))
    yield gutter("", layout.frame.bar, layout)
    previous = None
    for number in sorted({mark.line for mark in marks}):
        if previous is not None and number == previous + 2:
            yield _source_line(source, number - 1, layout)
        elif previous is not None and number > previous + 2:
            yield (Fragment(layout.frame.gap.rjust(layout.gutter + (1 if len(layout.frame.gap) == 1 else 2)), "frame"),)
        yield from _marked_line(source, number, [mark for mark in marks if mark.line == number], layout)
        previous = number


def _marked_line(source: Source, number: int, marks: list[Mark], layout: Layout) -> Iterator[Line]:
    row = lay_out(source.line(number))
    window = crop(row, row.cell(marks[0].start), row.cell(marks[0].end), layout.room)
    text = window.text(row, layout.frame.ellipsis)
    yield (*gutter(str(number), layout.frame.bar, layout), Fragment(text and " " + text))
    for group in _underlines(marks):
        yield (*gutter("", layout.frame.bar, layout), Fragment(" "), *_underline(group, row, window, layout.frame))


def _underlines(marks: list[Mark]) -> list[list[Mark]]:
    """Marks that fit in one row together: none but the last has words, and they do not touch."""
    rows: list[list[Mark]] = []
    for mark in sorted(marks, key=lambda mark: (mark.style == "secondary", mark.start)):
        before = rows[-1][-1] if rows else None
        if before is not None and not before.text and before.end < mark.start:
            rows[-1].append(mark)
        else:
            rows.append([mark])
    return rows


def _underline(marks: list[Mark], row: Row, window: Window, frame: Frame) -> Iterator[Fragment]:
    column = 0
    for mark in marks:
        start, end = window.clip(row.cell(mark.start), row.cell(mark.end))
        yield Fragment(" " * (start - column))
        yield Fragment((frame.dash if mark.style == "secondary" else frame.caret) * (end - start), mark.style)
        if mark.text:
            yield Fragment(" " + mark.text, mark.style)
        column = end


def _source_line(source: Source, number: int, layout: Layout) -> Line:
    row = lay_out(source.line(number))
    text = crop(row, 0, 0, layout.room).text(row, layout.frame.ellipsis)
    return (*gutter(str(number), layout.frame.bar, layout), Fragment(text and " " + text))


# ---- notes and help


@dataclass(frozen=True, slots=True)
class _Remark:
    """`= kind: text`, and the lines that a fix would leave."""

    kind: Style
    text: tuple[str, ...]
    patch: tuple[Line, ...] = ()


def _remarks(diagnostic: Diagnostic, source: Source, layout: Layout) -> Iterator[_Remark]:
    """Notes, then fixes; a note that asks for a fix (`did you mean ...?`) stands in for the fix's title."""
    introduced = {asked_for(note, diagnostic.fixes): note for note in diagnostic.notes}
    for note in diagnostic.notes:
        if asked_for(note, diagnostic.fixes) is None:
            yield _Remark("note", _wrap(_safe(note), layout, len("note: ")))
    for fix in diagnostic.fixes:
        title = _wrap(_safe(introduced.get(fix, fix.title)), layout, len("help: "))
        yield _Remark("help", title, tuple(_patch(fix, source, layout)))


def asked_for(note: str, fixes: Sequence[Fix]) -> Fix | None:
    """The fix that a note asks for, if it is a question that quotes one."""
    return next((fix for fix in fixes if note.endswith("?") and f"`{fix.text}`" in note), None)


def _join(remarks: Sequence[_Remark], layout: Layout) -> Iterator[Line]:
    frame = layout.frame
    for number, remark in enumerate(remarks):
        is_end = number == len(remarks) - 1 and not remark.patch
        head = gutter("", frame.last if is_end else frame.branch, layout)
        rest = gutter(
            "", " " * len(frame.last) if is_end or frame is ASCII else frame.bar.ljust(len(frame.last)), layout
        )
        for row, text in enumerate(remark.text):
            title = f" {remark.kind}: "
            yield (*(rest if row else head), Fragment(" " * len(title) if row else title, remark.kind), Fragment(text))
        yield from remark.patch


def _patch(fix: Fix, source: Source, layout: Layout) -> Iterator[Line]:
    """The lines as they would be, from the first that the fix touches to the last."""
    first, last = source.position(fix.span.start), source.position(fix.span.end)
    head = source.line(first.line)[: first.column - 1]
    tail = source.line(last.line)[last.column - 1 :]
    for number, text in enumerate((head + fix.text + tail).splitlines()[:SHOWN_LINES]):
        row = lay_out(text)
        focus = row.cell(len(head)) if number == 0 else 0
        shown = crop(row, focus, focus + len(fix.text), layout.room).text(row, layout.frame.ellipsis)
        yield (*gutter(str(first.line + number), "+", layout), Fragment(" " + shown, "added"))


def _wrap(text: str, layout: Layout, title: int) -> tuple[str, ...]:
    """Long remarks are broken between words where a width is set; their own line ends stay."""
    lines = text.split("\n")
    if layout.width is None:
        return tuple(lines)
    room = max(layout.width - layout.gutter - 5 - title, 24)
    return tuple(
        part
        for line in lines
        for part in (
            [line] if display_width(line) <= room else textwrap.wrap(line, room, break_long_words=False) or [""]
        )
    )


def _safe(text: str) -> str:
    return printable(text).replace("\t", " ")
