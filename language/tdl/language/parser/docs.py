"""Doc comments: the `##` lines directly above an item or a definition."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n|\r|\n")


def doc_start(text: str, start: int) -> int:
    """Where the doc comment of what starts at `start` begins, or `start` where it has none."""
    begin = line = _line_start(text, start)
    if text[line:start].strip(" \t\f\ufeff"):
        return start
    while line > 0:
        line = _line_start(text, _before_line_end(text, line))
        if not text[line:begin].lstrip(" \t\f\ufeff").startswith("##"):
            break
        begin = line
    return begin if begin < _line_start(text, start) else start


def doc_above(text: str, start: int) -> str | None:
    """The words of the doc comment of what starts at `start`."""
    begin = doc_start(text, start)
    if begin == start:
        return None
    lines = _LINE_END.split(text[begin:start])
    return "\n".join(_words(line) for line in lines if line.strip())


def _words(line: str) -> str:
    return line.lstrip(" \t\f\ufeff")[2:].removeprefix(" ").rstrip()


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def _before_line_end(text: str, line: int) -> int:
    """The end of the line above the one that starts at `line`, without its line end."""
    return line - 2 if text[line - 2 : line] == "\r\n" else line - 1
