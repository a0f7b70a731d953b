"""Import paths as links to their files."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from tdl.language import syntax
from tdl.language.analysis import locate
from tdl.lsp.snapshot import Snapshot


def document_link(snapshot: Snapshot, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
    """A link for each path that leads to a file."""
    return list(_links(snapshot))


def _links(snapshot: Snapshot) -> Iterator[types.DocumentLink]:
    for placed in snapshot.analysis.file.items:
        if isinstance(placed.item, syntax.Import):
            path = locate(placed.item.path.text, snapshot.source.path)
            if snapshot.workspace.read(path) is not None:
                place = snapshot.range(placed.item.path.span.shifted(placed.offset))
                yield types.DocumentLink(place, snapshot.workspace.uri(path), f"open {placed.item.path.text}")
