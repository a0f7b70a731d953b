"""An item as rows: its head, and the statements of its body, each on lines of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tdl.language.formatter.alignment import fit, neighbours
from tdl.language.formatter.layout import INDENT, MAX_WIDTH, Row, Statement, comment_rows, places, rows, with_comments
from tdl.language.formatter.tokens import Token

_CALL = 3  # the token at which the call of a `test` or `bench` starts


def head_statement(tokens: Sequence[Token]) -> Statement | None:
    """An item without a body, to be fitted with its neighbours; None where it has one."""
    if any(token.kind == "LBRACE" for token in tokens):
        return None
    if tokens[0].kind in ("TEST", "BENCH"):
        return Statement(tokens, 0, "test", (_CALL,))
    return Statement(tokens, 0)


def are_neighbours(before: Statement, after: Statement) -> bool:
    """Whether two tests on neighbouring lines line up; a test and a bench do where they did."""
    if before.kind != "test" or after.kind != "test" or after.tokens[0].comments:
        return False
    same_keyword = before.tokens[0].kind == after.tokens[0].kind
    return same_keyword or before.tokens[_CALL].column == after.tokens[_CALL].column


def body_rows(tokens: Sequence[Token]) -> list[Row]:
    """An item with a body. It stays on one line where it was and fits."""
    brace = next(i for i, token in enumerate(tokens) if token.kind == "LBRACE")
    head = [*tokens[:brace], _joined(tokens[brace])]
    body, closing = tokens[brace + 1 : -1], tokens[-1]
    if not any(token.lines or token.comments for token in (*body, closing)):
        whole = Statement([*head, *body, closing], 0)
        if all(place.end <= MAX_WIDTH for place in places(whole)):
            return rows(whole)
    if not body and not closing.comments:
        body_free = Statement([*head, _joined(closing)], 0)
        fit([body_free])
        return rows(body_free)
    top = Statement(head, 0)
    fit([top])
    result = rows(top)
    top_rows = len(result)
    for statement in _fitted(_statements(body)):
        first = statement.tokens[0]
        result[-1:] = with_comments(result[-1], first.comments, INDENT)
        laid = rows(statement)
        result += [replace(laid[0], is_after_blank=first.lines > 1), *laid[1:]]
    result[-1:] = with_comments(result[-1], closing.comments, INDENT)
    result.append(Row(closing.text))
    result[top_rows] = replace(result[top_rows], is_after_blank=False)
    return result


def _joined(token: Token) -> Token:
    """A brace that goes on the line before it, where no comment is in between."""
    return token if token.comments else replace(token, lines=0)


def _statements(body: Sequence[Token]) -> list[Statement]:
    starts = [i for i, token in enumerate(body) if token.is_first]
    return [_statement(body[start:end]) for start, end in zip(starts, [*starts[1:], len(body)])]


def _statement(tokens: Sequence[Token]) -> Statement:
    """A statement of a body, with what lines up in it."""
    first = tokens[0].kind
    if first in ("IDENTITY", "COMBINE"):
        return Statement(tokens, INDENT, "reducer", (1,), 1)
    depth = 0
    outer: dict[str, int] = {}
    for i, token in enumerate(tokens):
        depth += (token.kind in ("LPAR", "LSQB")) - (token.kind in ("RPAR", "RSQB"))
        if depth == 0:
            outer.setdefault(token.kind, i)
    if "EQUAL" not in outer:
        return Statement(tokens, INDENT)
    equal = outer["EQUAL"]
    if first == "KNOB":
        return Statement(tokens, INDENT, "knob", (equal, outer["_IN"]))
    return Statement(tokens, INDENT, "let" if first == "LET" else "definition", (equal,), equal + 1)


def _fitted(statements: Sequence[Statement]) -> Sequence[Statement]:
    """The statements, neighbours of one kind lined up."""
    is_joined = [False] * len(statements)
    for i in range(1, len(statements)):
        first = statements[i].tokens[0]
        is_next_line = first.lines < 2 and all(comment.lines == 0 for comment in first.comments)
        is_joined[i] = is_next_line and statements[i].kind == statements[i - 1].kind
    for group in neighbours(statements, is_joined):
        fit(group)
    return statements


def doc_rows(tokens: Sequence[Token]) -> list[Row]:
    """The doc comment of an item."""
    return comment_rows(tokens[0].comments, 0)
