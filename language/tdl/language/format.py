"""The one layout of TDL text: what `tdlc fmt` and editors write.

    op f(X:f32[N])->Y:f32[N]{              op f(X: f32[N]) -> Y: f32[N] {
      m = max(X[i] for i)       becomes        m    = max(X[i] for i)
      Y[i]=X[i]-m                              Y[i] = X[i] - m
    }                                      }

Formatting twice changes nothing, and the program stays the same one. Comments, single blank lines, line breaks inside
statements and one-line bodies are the author's. An item that does not parse, and text outside any item, stay as they
are. How an item is laid out is remembered by its text, so that an editor may ask after each edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from tdl.language.formatter.alignment import fit, text_of
from tdl.language.formatter.layout import Row, Statement, comment_rows, rows, with_comments
from tdl.language.formatter.pieces import are_neighbours, body_rows, doc_rows, head_statement
from tdl.language.formatter.tokens import Comment, read_gap, read_tokens
from tdl.language.parse import parse_file
from tdl.language.source import Source
from tdl.language.syntax import File

Rows = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """The text of an item, or one that stays as it is; then comments, and `lines` line ends before the next part."""

    text: str
    is_raw: bool
    comments: tuple[Comment, ...]
    lines: int


def format_text(text: str) -> str:
    """The text laid out, with its own line ends."""
    result: list[Row] = []
    lines = 0
    parts = _parts(text, parse_file(Source("", text)))
    for part, rows_of_part in zip(parts, _laid_out(parts)):
        laid = list(rows_of_part)
        if laid:
            laid[0] = replace(laid[0], is_after_blank=lines > 1)
        result += laid
        if result and part.text and not part.is_raw:
            result[-1:] = with_comments(result[-1], part.comments, 0)
        else:
            result += comment_rows(part.comments, 0)
        lines = part.lines
    line_end = "\r\n" if "\r\n" in text else "\n"
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + "".join(line + line_end for line in text_of(result))


def _parts(text: str, file: File) -> list[_Part]:
    """The text before the first item, if any, and the items."""
    bounds = [*(placed.offset for placed in file.items), len(text)]
    strays = [diagnostic.primary.start for diagnostic in file.diagnostics]
    has_strays = [any(start <= stray <= end for stray in strays) for start, end in zip([0, *bounds], bounds)]
    parts = [_raw(text, 0, bounds[0]) if has_strays[0] else _Part("", False, *read_gap(text, 0, bounds[0]))]
    for placed, end, has_stray in zip(file.items, bounds[1:], has_strays[1:]):
        if placed.parsed.diagnostics or has_stray:
            parts.append(_raw(text, placed.offset, end))
            continue
        after = placed.offset + len(placed.parsed.text)
        parts.append(_Part(placed.parsed.text, False, *read_gap(text, after, end)))
    return parts


def _raw(text: str, start: int, end: int) -> _Part:
    kept = text[start:end].rstrip(" \t\f\r\n\ufeff").removeprefix("\ufeff")
    return _Part(kept, True, *read_gap(text, start + len(kept), end))


def _laid_out(parts: Sequence[_Part]) -> list[Rows]:
    """The rows of each part. Items without a body are laid out with those that they line up with."""
    result = [_rows(part) for part in parts]
    for group in _heads(parts):
        found = _head_rows(tuple(parts[number].text for number in group))
        for number, laid in zip(group, found):
            result[number] = laid
    return result


def _rows(part: _Part) -> Rows:
    if part.is_raw:
        return (Row(part.text),)
    return _body_rows(part.text) if part.text else ()


def _heads(parts: Sequence[_Part]) -> list[list[int]]:
    """The items without a body, by number: tests on neighbouring lines together."""
    groups: list[list[int]] = []
    before: tuple[_Part, Statement] | None = None
    for number, part in enumerate(parts):
        statement = head_statement(read_tokens(part.text)) if part.text and not part.is_raw else None
        if statement is not None and before is not None and _is_next(*before, statement):
            groups[-1].append(number)
        elif statement is not None:
            groups.append([number])
        before = None if statement is None else (part, statement)
    return groups


def _is_next(before: _Part, last: Statement, statement: Statement) -> bool:
    is_next_line = before.lines < 2 and all(comment.lines == 0 for comment in before.comments)
    return is_next_line and are_neighbours(last, statement)


@lru_cache(maxsize=1024)
def _head_rows(texts: tuple[str, ...]) -> tuple[Rows, ...]:
    """Items without a body that line up."""
    tokens = [read_tokens(text) for text in texts]
    statements = [statement for each in tokens if (statement := head_statement(each)) is not None]
    fit(statements)
    return tuple((*doc_rows(each), *rows(statement)) for each, statement in zip(tokens, statements))


@lru_cache(maxsize=2048)
def _body_rows(text: str) -> Rows:
    """An item with a body; none where it has none."""
    tokens = read_tokens(text)
    return () if head_statement(tokens) is not None else (*doc_rows(tokens), *body_rows(tokens))
