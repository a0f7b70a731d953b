"""Lines of a text, by offset. They end at `\\r\\n`, `\\n` or `\\r`."""

from __future__ import annotations

BLANKS = " \t\f\ufeff"


def line_start(text: str, offset: int) -> int:
    """Where the line of `offset` starts."""
    feed = text.rfind("\n", 0, offset) + 1
    return max(feed, text.rfind("\r", feed, offset) + 1)


def previous_line_end(text: str, start: int) -> int:
    """Where the line above the one that starts at `start` ends, without its line end."""
    return start - 2 if text[start - 2 : start] == "\r\n" else start - 1


def indentation(text: str, offset: int) -> int:
    """How far the line of `offset` is indented."""
    start = end = line_start(text, offset)
    while text[end : end + 1] and text[end] in BLANKS:
        end += 1
    return end - start


def content_end(text: str, start: int, end: int) -> int:
    """`end` moved back over blank lines and whole comment lines, and over the white space before them."""
    while True:
        while end > start and text[end - 1] in BLANKS + "\r\n":
            end -= 1
        line = max(line_start(text, end), start)
        if not text[line:end].lstrip(BLANKS).startswith("#"):
            return end
        end = line
