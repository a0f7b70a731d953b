"""Text and places in it.

A `Span` is a half-open range of characters. Spans inside a syntax tree count from the start of their top-level item,
so that an item that merely moved keeps its tree, its analysis and its diagnostics; `Source` turns an absolute offset
into a line and a column. Lines end at `\\n`, `\\r\\n` or `\\r`, and nowhere else.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to, not including, `end`."""

    start: int
    end: int

    def shifted(self, offset: int) -> Span:
        return Span(self.start + offset, self.end + offset)

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)


@dataclass(frozen=True)
class Position:
    """A place as people count: both from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """The text of one file. `path` is what messages show."""

    path: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        return (0, *(match.end() for match in _LINE_END.finditer(self.text)))

    def position(self, offset: int) -> Position:
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.line_starts, offset)
        return Position(line, offset - self.line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")
