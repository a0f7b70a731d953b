"""A line of source as a terminal shows it: tabs, wide and combining characters, control characters, and cropping.

    "\\ta\\x1b"   becomes   ["    ", "a", "␛"] at cells 0, 4, 5

Every character gets a first cell, so that a mark can be drawn under it. Control characters are shown by their pictures
and never sent to the terminal. This module knows nothing of diagnostics.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

TAB = 4

_INVISIBLE = frozenset("\u200b\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Formatting characters that could make a line look like another one; shown as U+FFFD."""


@dataclass(frozen=True, slots=True)
class Row:
    """`cells[c]` is what stands in cell `c` ("" behind a wide character); `starts[n]` is the cell of character `n`."""

    cells: tuple[str, ...]
    starts: tuple[int, ...]

    def cell(self, character: int) -> int:
        """The first cell of a character, counted from 0; characters past the end have one cell each."""
        last = len(self.starts) - 1
        return self.starts[character] if character <= last else self.starts[last] + character - last


def lay_out(text: str) -> Row:
    """Give every character of a line its cells."""
    cells: list[str] = []
    starts: list[int] = []
    for character in text:
        width = _width(character, len(cells))
        if width == 0 and cells:
            starts.append(len(cells) - 1)
            cells[-1] += character
            continue
        starts.append(len(cells))
        cells.append(" " if character == "\t" else printable(character))
        cells.extend([" " if character == "\t" else ""] * (width - 1))
    starts.append(len(cells))
    return Row(tuple(cells), tuple(starts))


def printable(text: str) -> str:
    """The text with control and invisible formatting characters made visible; line ends and tabs stay."""
    return text if text.isprintable() and text.isascii() else "".join(map(_glyph, text))


def display_width(text: str) -> int:
    """How many cells a text without tabs takes."""
    return len(text) if text.isascii() else sum(_width(character, 0) for character in text)


@dataclass(frozen=True, slots=True)
class Window:
    """The cells `begin` up to `end` of a row, of which some may be replaced by an ellipsis on either side."""

    begin: int
    end: int

    def text(self, row: Row, ellipsis: str) -> str:
        """What is seen through the window, without blanks at its end."""
        left = ellipsis if self.begin else ""
        right = ellipsis if self.end < len(row.cells) else ""
        first, last = self.begin + len(left), self.end - len(right)
        shown = list(row.cells[first:last])
        if shown and first and not shown[0]:
            shown[0] = " "
        if shown and row.cells[last : last + 1] == ("",):
            shown[-1] = " "
        return (left + "".join(shown) + right).rstrip()

    def clip(self, start: int, end: int) -> tuple[int, int]:
        """A range of cells as columns of the window, at least one wide."""
        left = min(max(start, self.begin), max(self.end - 1, self.begin))
        right = max(min(end, self.end), left + 1)
        return left - self.begin, right - self.begin


def crop(row: Row, start: int, end: int, room: int) -> Window:
    """The window of `room` cells that shows the range best: all of the row, else the range a third of the way in."""
    total = max(len(row.cells), start + 1)
    if total <= room:
        return Window(0, total)
    before = max(room // 3, (room - (end - start)) // 2)
    begin = min(max(start - before, 0), total - room)
    return Window(begin, begin + room)


def _width(character: str, column: int) -> int:
    if character == "\t":
        return TAB - column % TAB
    if character.isascii() or character in _INVISIBLE:
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _glyph(character: str) -> str:
    if character in "\n\t":
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0x80 <= code < 0xA0 or 0xD800 <= code < 0xE000 or character in _INVISIBLE:
        return "\ufffd"
    return character
