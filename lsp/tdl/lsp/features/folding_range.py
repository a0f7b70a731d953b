"""What folds: bodies of items, statements of several lines, comments, and imports that follow each other.

Ranges are of whole lines. The line with the closing brace stays in sight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types
from lsprotocol.types import FoldingRangeKind
from tdl.language import syntax
from tdl.language.parser.lexemes import lexemes
from tdl.language.source import Source, Span
from tdl.language.syntax import PlacedItem
from tdl.lsp.snapshot import Snapshot

_COMMENTS = re.compile(r"^[ \t]*#[^\r\n]*(?:(?:\r\n|\r|\n)[ \t]*#[^\r\n]*)+", re.MULTILINE)


def folding_range(snapshot: Snapshot, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
    """Every range of two lines or more, in order."""
    source, items = snapshot.source, snapshot.analysis.file.items
    found = [*_bodies(source, items), *_comments(source), *_imports(source, items)]
    return sorted(found, key=lambda each: (each.start_line, -each.end_line))


def _lines(
    source: Source, span: Span, kind: FoldingRangeKind | None = None, *, keeps_last: bool = False
) -> Iterator[types.FoldingRange]:
    first, last = (source.position(place).line - 1 for place in (span.start, span.end))
    if first < last - keeps_last:
        yield types.FoldingRange(first, last - keeps_last, kind=kind)


def _bodies(source: Source, items: tuple[PlacedItem, ...]) -> Iterator[types.FoldingRange]:
    for placed in items:
        text, offset = placed.parsed.text, placed.offset
        braces = [start for kind, start, _ in lexemes(text) if kind in ("LBRACE", "RBRACE")]
        has_body = len(braces) > 1
        whole = Span(braces[0], braces[-1]) if has_body else placed.item.span
        yield from _lines(source, whole.shifted(offset), keeps_last=has_body)
        for statement in _statements(placed.item):
            yield from _lines(source, statement.span.shifted(offset))


def _statements(item: syntax.Item) -> tuple[syntax.Node, ...]:
    match item:
        case syntax.Op() | syntax.Graph() | syntax.Intrinsic() | syntax.Schedule() | syntax.Tactic():
            return tuple(each for each in item.body if not isinstance(each, syntax.Broken))
    return ()


def _comments(source: Source) -> Iterator[types.FoldingRange]:
    for match in _COMMENTS.finditer(source.text):
        yield from _lines(source, Span(*match.span()), FoldingRangeKind.Comment)


def _imports(source: Source, items: tuple[PlacedItem, ...]) -> Iterator[types.FoldingRange]:
    run: list[PlacedItem] = []
    for placed in (*items, None):
        if placed is not None and isinstance(placed.item, syntax.Import):
            run.append(placed)
        elif run:
            end = run[-1].offset + len(run[-1].parsed.text)
            yield from _lines(source, Span(run[0].offset, end), FoldingRangeKind.Imports)
            run = []
