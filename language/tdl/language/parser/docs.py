"""Doc comments: the `##` lines directly above an item or a definition."""

from __future__ import annotations

import re

from tdl.language.parser.lines import BLANKS, line_start, previous_line_end

_LINE_END = re.compile(r"\r\n|\r|\n")


def doc_start(text: str, start: int) -> int:
    """Where the doc comment of what starts at `start` begins, or `start` where it has none."""
    begin = line = line_start(text, start)
    if text[line:start].strip(BLANKS):
        return start
    while line > 0:
        line = line_start(text, previous_line_end(text, line))
        if not text[line:begin].lstrip(BLANKS).startswith("##"):
            break
        begin = line
    return begin if begin < line_start(text, start) else start


def doc_above(text: str, start: int) -> str | None:
    """The words of the doc comment of what starts at `start`."""
    begin = doc_start(text, start)
    if begin == start:
        return None
    lines = _LINE_END.split(text[begin:start])
    return "\n".join(_words(line) for line in lines if line.strip())


def _words(line: str) -> str:
    return line.lstrip(BLANKS)[2:].removeprefix(" ").rstrip()
