"""Items of all files by a part of their name: `mm` finds `matmul`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from lsprotocol import types
from tdl.lsp.limits import why_not_checked
from tdl.lsp.outline import outline
from tdl.lsp.positions import range_at
from tdl.lsp.workspace import Workspace

_NAMELESS = (types.SymbolKind.Module, types.SymbolKind.Object)  # imports and schedules have the names of others


def workspace_symbol(workspace: Workspace, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
    """The items whose names have the letters of the query in its order, the best first."""
    found = [(rank, each) for each in _items(workspace) if (rank := _rank(params.query, each.name)) is not None]
    return [each for _, each in sorted(found, key=lambda pair: (pair[0], pair[1].name))]


def _items(workspace: Workspace) -> Iterator[types.SymbolInformation]:
    for path in workspace.files():
        source = workspace.read(path)
        if source is None or why_not_checked(source) is not None:
            continue
        for entry in outline(source):
            if entry.kind not in _NAMELESS:
                place = types.Location(workspace.uri(path), range_at(source, entry.name_span, workspace.encoding))
                yield types.SymbolInformation(place, entry.name, entry.kind, container_name=PurePath(path).stem)


def _rank(query: str, name: str) -> int | None:
    """0 for the name itself, 1 for its start, 2 for a part of it, 3 for letters in their order, None for none of it."""
    query, name = query.casefold(), name.casefold()
    for rank, fits in enumerate((name == query, name.startswith(query), query in name)):
        if fits:
            return rank
    letters = iter(name)
    return 3 if all(letter in letters for letter in query) else None
