"""The one layout of TDL text: what `tdlc fmt` and editors write.

    op f(X:f32[N])->Y:f32[N]{              op f(X: f32[N]) -> Y: f32[N] {
      m = max(X[i] for i)       becomes        m    = max(X[i] for i)
      Y[i]=X[i]-m                              Y[i] = X[i] - m
    }                                      }

Formatting twice changes nothing, and the program stays the same one. Comments, single blank lines, line breaks inside
statements and one-line bodies are the author's. An item that does not parse, and text outside any item, stay as they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tdl.language.formatter.alignment import fit, neighbours, text_of
from tdl.language.formatter.layout import Row, Statement, comment_rows, rows, with_comments
from tdl.language.formatter.pieces import are_neighbours, body_rows, doc_rows, head_statement
from tdl.language.formatter.tokens import Comment, Token, read_gap, read_tokens
from tdl.language.parse import parse_file
from tdl.language.source import Source
from tdl.language.syntax import File


@dataclass(frozen=True, slots=True)
class _Part:
    """An item, or text that stays as it is (`raw`); then comments, and `lines` line ends before the next part."""

    raw: str | None
    tokens: Sequence[Token]
    statement: Statement | None
    comments: tuple[Comment, ...]
    lines: int


def format_text(text: str) -> str:
    """The text laid out, with its own line ends."""
    parts = _parts(text, parse_file(Source("", text)))
    _fit_heads(parts)
    result: list[Row] = []
    lines = 0
    for part in parts:
        laid = _rows(part)
        if laid:
            laid[0] = replace(laid[0], is_after_blank=lines > 1)
        result += laid
        if result and part.raw is None and part.tokens:
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
    parts = [_raw(text, 0, bounds[0]) if has_strays[0] else _Part(None, (), None, *read_gap(text, 0, bounds[0]))]
    for placed, end, has_stray in zip(file.items, bounds[1:], has_strays[1:]):
        if placed.parsed.diagnostics or has_stray:
            parts.append(_raw(text, placed.offset, end))
            continue
        tokens = read_tokens(placed.parsed.text)
        after = placed.offset + len(placed.parsed.text)
        parts.append(_Part(None, tokens, head_statement(tokens), *read_gap(text, after, end)))
    return parts


def _raw(text: str, start: int, end: int) -> _Part:
    kept = text[start:end].rstrip(" \t\f\r\n\ufeff").removeprefix("\ufeff")
    return _Part(kept, (), None, *read_gap(text, start + len(kept), end))


def _fit_heads(parts: Sequence[_Part]) -> None:
    """Lay out the items without a body, tests on neighbouring lines together."""
    heads: list[Statement] = []
    is_joined: list[bool] = []
    before: _Part | None = None
    for part in parts:
        if part.statement is not None:
            is_next = before is not None and before.lines < 2 and all(c.lines == 0 for c in before.comments)
            last = before.statement if before is not None and is_next else None
            is_joined.append(last is not None and are_neighbours(last, part.statement))
            heads.append(part.statement)
        before = part
    for group in neighbours(heads, is_joined):
        fit(group)


def _rows(part: _Part) -> list[Row]:
    if part.raw is not None:
        return [Row(part.raw)]
    if not part.tokens:
        return []
    return [*doc_rows(part.tokens), *(rows(part.statement) if part.statement else body_rows(part.tokens))]
