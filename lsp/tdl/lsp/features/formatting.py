"""The one layout of TDL text, as edits of the blanks that are not as they should be; nothing else ever changes.

A file with syntax errors is left as it is. The options of the client do not count: there is one layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest

from lsprotocol import types
from tdl.language.diagnostic import InternalError
from tdl.language.format import format_text
from tdl.language.source import Span
from tdl.lsp.snapshot import Snapshot

_BLANKS = re.compile(r"([\s\ufeff]*)([^\s\ufeff])")
_END = "."


def formatting(snapshot: Snapshot, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """The edits that lay the document out."""
    return _edits(snapshot, Span(0, len(snapshot.source.text)))


def range_formatting(snapshot: Snapshot, params: types.DocumentRangeFormattingParams) -> list[types.TextEdit] | None:
    """Those of them that are in a range."""
    return _edits(snapshot, snapshot.span(params.range))


def on_type_formatting(snapshot: Snapshot, params: types.DocumentOnTypeFormattingParams) -> list[types.TextEdit] | None:
    """Those in the item that is being typed, before the cursor; after a new line, before that line."""
    offset = snapshot.offset(params.position)
    entry = snapshot.entry_at(offset)
    if entry is None:
        return None
    line = types.Position(params.position.line, 0)
    end = snapshot.offset(line) if params.ch == "\n" else offset
    return _edits(snapshot, Span(entry.placed.offset, end))


def _edits(snapshot: Snapshot, inside: Span) -> list[types.TextEdit] | None:
    """None where there are syntax errors."""
    file, text = snapshot.analysis.file, snapshot.source.text
    if file.diagnostics or any(placed.parsed.diagnostics for placed in file.items):
        return None
    return [
        types.TextEdit(snapshot.range(span), blanks)
        for span, blanks in changed_blanks(text, format_text(text))
        if inside.start <= span.start and span.end <= inside.end
    ]


def changed_blanks(before: str, after: str) -> Iterator[tuple[Span, str]]:
    """The blanks of a text that another has otherwise, each with what it has. All else is the same in both."""
    old_lines, new_lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = _alike(old_lines, new_lines)
    last = _alike(old_lines[first:][::-1], new_lines[first:][::-1])
    before, after = ("".join(lines[first : len(lines) - last]) for lines in (old_lines, new_lines))
    start = sum(map(len, old_lines[:first]))
    for old, new in zip_longest(_BLANKS.finditer(before + _END), _BLANKS.finditer(after + _END)):
        if old is None or new is None or old[2] != new[2]:
            raise InternalError("formatting would lose or add characters, so the text was left as it is")
        if old[1] != new[1]:
            yield _narrowed(start + old.start(1), old[1], new[1])


def _narrowed(start: int, old: str, new: str) -> tuple[Span, str]:
    """Without what both begin and end with; `\\r\\n` is not taken apart."""
    if "\r" in old or "\r" in new:
        return Span(start, start + len(old)), new
    first = _alike(old, new)
    old_end, new_end = old[first:], new[first:]
    last = _alike(old_end[::-1], new_end[::-1])
    return Span(start + first, start + len(old) - last), new_end[: len(new_end) - last]


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    """How many characters or lines two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second)))
