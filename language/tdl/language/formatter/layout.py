"""One statement as rows of text: where they start, and where a row that is too long is broken.

A row keeps the breaks that its author made. What goes on is indented by four, lines up behind the bracket that is open,
or in a definition with what follows `=` (an operator before it, so that the operands line up):

    G[i, j] = f(X[i, j],
                Y[i, j])
            - Z[i, j]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tdl.language.formatter.spacing import blanks
from tdl.language.formatter.tokens import Comment, Token

INDENT = 4
MAX_WIDTH = 130  # a line that goes further is broken
_BREAKS_BEFORE = ("ARROW", "_WHERE", "_EXPECT", "_FOR", "_ELSE", "_IF", "OR", "AND")  # the earliest is broken at first
_SIGNS = frozenset({"ADD", "MULTIPLY", "POWER", "COMPARE"})


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the result: code, and the comment at its end."""

    code: str
    comment: Comment | None = None
    is_after_blank: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a token is: its row, its columns, how deep in brackets, and the column it would start a row at."""

    row: int
    start: int
    end: int
    depth: int
    fresh: int


@dataclass(slots=True)
class Statement:
    """Tokens to lay out from `indent`; a row starts before each in `breaks`, `columns` are what some are moved to.

    What goes on lines up with the token `value`, if it is given; `anchors` line up with those of neighbours of the
    same `kind`.
    """

    tokens: Sequence[Token]
    indent: int
    kind: str = ""
    anchors: tuple[int, ...] = ()
    value: int | None = None
    breaks: set[int] = field(default_factory=set)
    columns: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.breaks |= {i for i, token in enumerate(self.tokens) if i and (token.lines or token.comments)}


def places(statement: Statement) -> list[Place]:
    """Where each token goes."""
    result: list[Place] = []
    brackets: list[tuple[int, int]] = []  # the columns of what is inside, and of a closing bracket that starts a row
    row, column, row_indent = 0, statement.indent, statement.indent
    value_column: int | None = None
    for i, token in enumerate(statement.tokens):
        is_closing = token.kind in ("RPAR", "RSQB")
        fresh = _fresh_column(statement, token, brackets, value_column)
        if i in statement.breaks:
            row, column, row_indent = row + 1, fresh, fresh
        elif i:
            column = max(
                column + blanks(statement.tokens, statement.breaks, i, len(brackets)), statement.columns.get(i, 0)
            )
        if i == statement.value:
            value_column = column
        if is_closing and brackets:
            brackets.pop()
        end = _end_column(column, token.text)
        result.append(Place(row, column, end, len(brackets), fresh))
        if token.kind in ("LPAR", "LSQB"):
            is_last = i + 1 in statement.breaks
            brackets.append((row_indent + INDENT, row_indent) if is_last else (end, column))
        column = end
    return result


def rows(statement: Statement) -> list[Row]:
    """The statement as text, with the comments inside it; those before its first token are not its own."""
    result: list[Row] = []
    code, column = "", 0
    for i, (token, place) in enumerate(zip(statement.tokens, places(statement))):
        if i in statement.breaks:
            result += with_comments(Row(code), token.comments, place.fresh)
            code, column = "", 0
        code += " " * (place.start - column) + token.text
        column = place.end
    return [*result, Row(code)]


def with_comments(row: Row, comments: Sequence[Comment], indent: int) -> list[Row]:
    """A row and the comments after it: the first may be at its end, the others have lines of their own."""
    if comments and comments[0].lines == 0:
        row, comments = replace(row, comment=comments[0]), comments[1:]
    return [row, *comment_rows(comments, indent)]


def comment_rows(comments: Sequence[Comment], indent: int) -> list[Row]:
    return [Row(" " * indent + comment.text, None, comment.lines > 1) for comment in comments]


def _fresh_column(statement: Statement, token: Token, brackets: list[tuple[int, int]], value_column: int | None) -> int:
    """Where the token would start a row."""
    if brackets:
        return brackets[-1][token.kind in ("RPAR", "RSQB")]
    if token.kind in ("LBRACE", "RBRACE"):
        return statement.indent
    if value_column is None:
        return statement.indent + INDENT
    if token.kind in _SIGNS:
        return max(value_column - len(token.text) - 1, statement.indent + INDENT)
    return value_column


def _end_column(column: int, text: str) -> int:
    last = max(text.rfind("\n"), text.rfind("\r"))
    return column + len(text) if last < 0 else len(text) - last - 1


def break_long_rows(statement: Statement) -> bool:
    """Break each row that is too long at its outermost good place; False where nothing is left to break."""
    found = places(statement)
    count = len(statement.breaks)
    rows: dict[int, list[int]] = {}
    for i, place in enumerate(found):
        rows.setdefault(place.row, []).append(i)
    for tokens in rows.values():
        if found[tokens[-1]].end > MAX_WIDTH:
            statement.breaks.update(_breaks(statement.tokens, found, tokens))
    return len(statement.breaks) > count


def _breaks(tokens: Sequence[Token], found: list[Place], row: list[int]) -> set[int]:
    """Where to break a row: among the outermost places of the best kind, as late as the width allows."""
    candidates = [(found[i].depth, _rank(tokens, i), i) for i in row[1:] if _rank(tokens, i) is not None]
    if not candidates:
        return set()
    best = min(candidates)[:2]
    chosen = [i for *kind, i in candidates if tuple(kind) == best]
    breaks: set[int] = set()
    moved = 0  # how far the rest of the row has been moved to the left
    for i, following in zip(chosen, [*chosen[1:], row[-1] + 1]):
        if found[following - 1].end - moved > MAX_WIDTH:
            moved = found[i].start - found[i].fresh
            breaks.add(i)
    return breaks


def _rank(tokens: Sequence[Token], i: int) -> int | None:
    """How good it is to break before token `i` (less is better), or None where a line may not end."""
    token = tokens[i]
    if token.kind in _BREAKS_BEFORE:
        return _BREAKS_BEFORE.index(token.kind)
    if tokens[i - 1].kind == "COMMA":
        return len(_BREAKS_BEFORE)
    if token.is_operator:
        return (
            len(_BREAKS_BEFORE)
            + 1
            + (token.kind == "COMPARE")
            + 2 * (token.kind == "MULTIPLY")
            + 3 * (token.kind == "POWER")
        )
    return None
