"""The places of a document that name what stands at the cursor: written where they say what it is, else read."""

from __future__ import annotations

from lsprotocol import types
from tdl.language import occurrences
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.uses import definitions_at

_KINDS = {
    "declare": types.DocumentHighlightKind.Write,
    "write": types.DocumentHighlightKind.Write,
    "read": types.DocumentHighlightKind.Read,
}


def document_highlight(
    snapshot: Snapshot, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    """Every occurrence in this document, in order of place."""
    definitions = definitions_at(snapshot, params.position)
    found = {each.span: each.access for one in definitions for each in occurrences.of(snapshot.analysis, one)}
    spans = sorted(found, key=lambda span: span.start)
    return [types.DocumentHighlight(snapshot.range(span), _KINDS[found[span]]) for span in spans] or None
