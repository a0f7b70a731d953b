"""What the name at the cursor is."""

from __future__ import annotations

from lsprotocol import types
from tdl.lsp.snapshot import Snapshot, name_of


def hover(snapshot: Snapshot, params: types.HoverParams) -> types.Hover | None:
    """The head of the item whose name is at the cursor, with its doc comment."""
    offset = snapshot.offset(params.position)
    entry = snapshot.entry_at(offset)
    name = None if entry is None else name_of(entry.placed.item)
    if entry is None or name is None:
        return None
    span = name.span.shifted(entry.placed.offset)
    if not span.start <= offset <= span.end:
        return None
    doc = getattr(entry.placed.item, "doc", None) or ""
    parsed = entry.placed.parsed
    head = parsed.text[parsed.item.span.start :].partition("{")[0].strip()
    text = f"```tdl\n{head}\n```\n\n{doc}".rstrip()
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), snapshot.range(span))
