"""The tokens of an item that parses, with the comments and line ends between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from tdl.language.parser.automaton import NEWLINE
from tdl.language.parser.lexemes import Recorder
from tdl.language.parser.lines import line_start

PROPERTY = "PROPERTY"  # the name of one: its value is not applied to it
_GAP = re.compile(r"#[^\r\n]*|\r\n?|\n")
OPERAND_ENDS = frozenset({"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "INF", "NAN", "RPAR", "RSQB", "EMIT"})


@dataclass(frozen=True, slots=True)
class Comment:
    """`lines` line ends stand between it and what is before it; none: it is at the end of a line of code.

    `gap` is how many blanks are before it, and `column` where it starts: what its alignment is judged by.
    """

    text: str
    lines: int
    gap: int
    column: int


@dataclass(frozen=True, slots=True)
class Token:
    """`comments` and then `lines` line ends are between the token before and this one; `gap` blanks where it is none.

    `column` is where it stood in its line. `is_first` tells that a statement starts here, `is_operator` that it stands
    between two operands.
    """

    kind: str
    text: str
    comments: tuple[Comment, ...]
    lines: int
    gap: int
    column: int
    is_first: bool
    is_operator: bool


@lru_cache(maxsize=2048)
def read_tokens(text: str) -> tuple[Token, ...]:
    """The tokens of `text`, an item without a mistake, but for the newlines."""
    recorder = Recorder(text)
    recorder.run()
    tokens: list[Token] = []
    previous_kind, previous_end, is_first = "", 0, True
    for kind, start, end in recorder.taken:
        if kind == NEWLINE:
            is_first = True
            continue
        if is_first and tokens and tokens[0].kind in ("MEMORY", "TARGET"):
            kind = PROPERTY
        comments, lines = read_gap(text, previous_end, start)
        is_operator = kind in ("MULTIPLY", "POWER", "COMPARE") or (kind == "ADD" and previous_kind in OPERAND_ENDS)
        gap = 0 if comments or lines else start - previous_end
        column = start - line_start(text, start)
        tokens.append(Token(kind, text[start:end], comments, lines, gap, column, is_first, is_operator))
        previous_kind, previous_end, is_first = kind, end, kind == "LBRACE"
    return tuple(tokens)


def read_gap(text: str, start: int, end: int) -> tuple[tuple[Comment, ...], int]:
    """The comments between two tokens, and how many line ends follow the last of them."""
    if text[start:end] in ("", " "):
        return (), 0
    comments: list[Comment] = []
    lines, line, after = 0, line_start(text, start), start
    for match in _GAP.finditer(text, start, end):
        if match.group()[0] == "#":
            column = match.start() - line
            comments.append(Comment(match.group().rstrip(), lines, match.start() - after, column))
            lines = 0
        else:
            lines += 1
            line = match.end()
        after = match.end()
    return tuple(comments), lines
