"""Bytes of a file to a `Source`. A byte-order mark is dropped; what is not UTF-8 is a diagnostic with its place.

The source of a faulty file has U+FFFD where bytes made no sense, so that the place can still be shown.
This module does not open files.
"""

from __future__ import annotations

from tdl.language.diagnostic import Diagnostic
from tdl.language.source import Source, Span

_MARK = b"\xef\xbb\xbf"
_OTHER_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def decode(path: str, data: bytes) -> tuple[Source, Diagnostic | None]:
    """The source, and what is wrong with its bytes if anything is."""
    skipped = len(_MARK) if data.startswith(_MARK) else 0
    body = data[skipped:]
    try:
        return Source(path, body.decode("utf-8")), None
    except UnicodeDecodeError as fault:
        return Source(path, body.decode("utf-8", errors="replace")), _explain(data, body, fault.start, skipped)


def _explain(data: bytes, body: bytes, offset: int, skipped: int) -> Diagnostic:
    start = len(body[:offset].decode("utf-8"))
    kind = next((name for mark, name in _OTHER_MARKS if data.startswith(mark)), None)
    note = f"it begins like a {kind} text: save it as UTF-8" if kind else "save the file as UTF-8"
    message = f"the file is not UTF-8: byte 0x{body[offset]:02x} at offset {offset + skipped} does not belong there"
    return Diagnostic("encoding", message, Span(start, start + 1), (note,))
