"""What a selection grows to: a name, the expressions around it, its statement, the body, the item, the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from lsprotocol import types
from tdl.language import syntax
from tdl.language.parser.lexemes import lexemes
from tdl.language.source import Span
from tdl.lsp.snapshot import Snapshot


def selection_range(snapshot: Snapshot, params: types.SelectionRangeParams) -> list[types.SelectionRange]:
    """For each place the smallest range, which leads to all larger ones."""
    return [_around(snapshot, snapshot.offset(position)) for position in params.positions]


def _around(snapshot: Snapshot, offset: int) -> types.SelectionRange:
    result: types.SelectionRange | None = None
    last: Span | None = None
    for span in sorted(_spans(snapshot, offset), key=lambda each: each.start - each.end):
        if span != last and (last is None or (last.start <= span.start and span.end <= last.end)):
            result, last = types.SelectionRange(snapshot.range(span), result), span
    assert result is not None
    return result


def _spans(snapshot: Snapshot, offset: int) -> Iterator[Span]:
    """Everything that an offset is in, at its ends too."""
    yield Span(0, len(snapshot.source.text))
    entry = snapshot.entry_at(offset)
    if entry is None:
        return
    start, text = entry.placed.offset, entry.placed.parsed.text
    inside = offset - start
    braces = [place for kind, *place in lexemes(text) if kind in ("LBRACE", "RBRACE")]
    body = (Span(braces[0][1], braces[-1][0]),) if len(braces) > 1 else ()
    for span in (Span(0, len(text)), *body, *_nodes(entry.placed.item, inside)):
        if span.start <= inside <= span.end:
            yield span.shifted(start)


def _nodes(node: object, inside: int) -> Iterator[Span]:
    if isinstance(node, tuple):
        for each in node:
            yield from _nodes(each, inside)
    elif isinstance(node, syntax.Node):
        if node.span.start <= inside <= node.span.end:
            yield node.span
        for part in fields(node):
            yield from _nodes(getattr(node, part.name), inside)
