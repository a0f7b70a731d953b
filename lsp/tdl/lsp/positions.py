"""Places as LSP counts them, against offsets in characters.

    "x𝄞y", character 3 in UTF-16      offset 2: `𝄞` is two units there
    "x𝄞y", character 5 in UTF-8       offset 2
    "x𝄞y", character 2 in UTF-32      offset 2

Lines end where the language ends them, which is where LSP does: at `\\n`, `\\r\\n` and `\\r`, and nowhere else. A place
beyond a line's end is the line's end, one beyond the last line the text's end, and one inside a character its start.
"""

from __future__ import annotations

from bisect import bisect_right

from lsprotocol.types import Position, PositionEncodingKind, Range
from tdl.language.source import Source, Span

Encoding = PositionEncodingKind

ENCODINGS: tuple[Encoding, ...] = (Encoding.Utf8, Encoding.Utf16, Encoding.Utf32)


def units(text: str, encoding: Encoding) -> int:
    """How long a piece of a line is in an encoding."""
    if encoding is Encoding.Utf32 or text.isascii():
        return len(text)
    if encoding is Encoding.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def offset_at(source: Source, position: Position, encoding: Encoding) -> int:
    """The offset of a place that a client speaks of."""
    starts = source.line_starts
    if position.line >= len(starts):
        return len(source.text)
    line = source.line(position.line + 1)
    return starts[position.line] + _characters(line, position.character, encoding)


def position_at(source: Source, offset: int, encoding: Encoding) -> Position:
    """The place of an offset; one between `\\r` and `\\n` is before both."""
    offset = min(max(offset, 0), len(source.text))
    starts = source.line_starts
    number = bisect_right(starts, offset) - 1
    return Position(number, units(source.text[starts[number] : offset].removesuffix("\r"), encoding))


def span_at(source: Source, place: Range, encoding: Encoding) -> Span:
    """The characters of a range; its ends may stand in either order."""
    ends = offset_at(source, place.start, encoding), offset_at(source, place.end, encoding)
    return Span(min(ends), max(ends))


def range_at(source: Source, span: Span, encoding: Encoding) -> Range:
    """The range of some characters."""
    return Range(position_at(source, span.start, encoding), position_at(source, span.end, encoding))


def _characters(line: str, count: int, encoding: Encoding) -> int:
    """How many whole characters of a line so many units are."""
    if encoding is Encoding.Utf32 or line.isascii():
        return min(count, len(line))
    for number, character in enumerate(line):
        count -= units(character, encoding)
        if count < 0:
            return number
    return len(line)
