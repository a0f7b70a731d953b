"""All places that name what stands at the cursor, in all files."""

from __future__ import annotations

from lsprotocol import types
from tdl.lsp.positions import range_at
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.uses import definitions_at, uses


def references(snapshot: Snapshot, params: types.ReferenceParams) -> list[types.Location] | None:
    """The uses, and if asked for where it is introduced; None where nothing stands at the cursor."""
    definitions = definitions_at(snapshot, params.position)
    if not definitions:
        return None
    return [
        types.Location(
            snapshot.workspace.uri(each.source.path), range_at(each.source, each.occurrence.span, snapshot.encoding)
        )
        for each in uses(snapshot.workspace, definitions)
        if params.context.include_declaration or not each.is_where_it_is_defined
    ]
