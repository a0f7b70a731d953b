"""Offsets against places, in every encoding, over every kind of line end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position, Range
from tdl.language.source import Source, Span
from tdl.lsp.positions import ENCODINGS, Encoding, offset_at, position_at, span_at, units

TEXTS = st.text(st.sampled_from("ab\n\r\f\u2028\u0085é𝄞\ud800"), max_size=24)
CODECS = {Encoding.Utf8: ("utf-8", 1), Encoding.Utf16: ("utf-16-le", 2), Encoding.Utf32: ("utf-32-le", 4)}


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_units_are_those_of_the_codec(text: str, encoding: Encoding) -> None:
    codec, width = CODECS[encoding]
    assert units(text, encoding) == len(text.encode(codec, "surrogatepass")) // width


@given(TEXTS, st.integers(0, 24), st.sampled_from(ENCODINGS))
def test_there_and_back(text: str, offset: int, encoding: Encoding) -> None:
    source = Source("a.tdl", text)
    offset = min(offset, len(text))
    back = offset_at(source, position_at(source, offset, encoding), encoding)
    is_inside_line_end = text[offset - 1 : offset + 1] == "\r\n"
    assert back == offset - is_inside_line_end


@given(TEXTS, st.integers(0, 30), st.integers(0, 30), st.sampled_from(ENCODINGS))
def test_any_place_is_an_offset_on_its_line(text: str, line: int, character: int, encoding: Encoding) -> None:
    source = Source("a.tdl", text)
    offset = offset_at(source, Position(line, character), encoding)
    if line < len(source.line_starts):
        assert source.line_starts[line] <= offset <= source.line_starts[line] + len(source.line(line + 1))
    else:
        assert offset == len(text)


@pytest.mark.parametrize(
    ("encoding", "character", "offset"),
    [
        (Encoding.Utf16, 1, 1),
        (Encoding.Utf16, 2, 1),  # inside the clef
        (Encoding.Utf16, 3, 2),
        (Encoding.Utf8, 4, 1),
        (Encoding.Utf8, 5, 2),
        (Encoding.Utf32, 2, 2),
        (Encoding.Utf32, 99, 3),
    ],
)
def test_a_character_of_several_units(encoding: Encoding, character: int, offset: int) -> None:
    assert offset_at(Source("a.tdl", "x𝄞y\nz"), Position(0, character), encoding) == offset


def test_the_ends_of_a_range_may_stand_in_either_order() -> None:
    source = Source("a.tdl", "abc\ndef")
    assert span_at(source, Range(Position(1, 1), Position(0, 2)), Encoding.Utf16) == Span(2, 5)
