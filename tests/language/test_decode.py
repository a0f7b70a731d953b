"""From bytes to text: the byte-order mark, and bytes that are not UTF-8."""

from __future__ import annotations

import pytest
from tdl.language.decode import decode


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", b"op", b"\xef\xbb\xbfop", "# é\r\n".encode()])
def test_utf8(data: bytes) -> None:
    source, diagnostic = decode("f.tdl", data)
    assert diagnostic is None
    assert source.text == data.decode("utf-8-sig")


@pytest.mark.parametrize(
    ("data", "offset", "line", "column"),
    [(b"\xff", 0, 1, 1), (b"a\n\xc3(", 2, 2, 1), (b"\xef\xbb\xbfab\xe9", 5, 1, 3), ("é".encode() + b"\xe9", 2, 1, 2)],
)
def test_other_bytes_are_placed(data: bytes, offset: int, line: int, column: int) -> None:
    source, diagnostic = decode("f.tdl", data)
    assert diagnostic is not None
    assert f"byte 0x{data[offset]:02x} at offset {offset} " in diagnostic.message
    position = source.position(diagnostic.primary.start)
    assert (position.line, position.column) == (line, column)
    assert source.text[diagnostic.primary.start] == "\ufffd"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_byte_order_marks_of_other_encodings_are_named(encoding: str) -> None:
    _, diagnostic = decode("f.tdl", "op f".encode(encoding))
    assert diagnostic is not None
    assert encoding.upper() in diagnostic.notes[0]
