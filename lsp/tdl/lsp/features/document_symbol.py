"""The outline of a document: a tree where the client shows one, else a list."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from tdl.lsp.outline import Entry, outline
from tdl.lsp.snapshot import Snapshot


def document_symbol(
    snapshot: Snapshot, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
    """Every item, with what it declares."""
    document = snapshot.client.text_document
    symbols = None if document is None else document.document_symbol
    entries = outline(snapshot.source)
    if symbols is not None and symbols.hierarchical_document_symbol_support:
        return [_tree(each, snapshot) for each in entries]
    return [symbol for each in entries for symbol in _flat(each, None, snapshot)]


def _tree(entry: Entry, snapshot: Snapshot) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        entry.name,
        entry.kind,
        snapshot.range(entry.span),
        snapshot.range(entry.name_span),
        entry.detail or None,
        children=[_tree(each, snapshot) for each in entry.children] or None,
    )


def _flat(entry: Entry, container: str | None, snapshot: Snapshot) -> Iterator[types.SymbolInformation]:
    location = types.Location(snapshot.document.uri, snapshot.range(entry.span))
    yield types.SymbolInformation(location, entry.name, entry.kind, container_name=container)
    for each in entry.children:
        yield from _flat(each, entry.name, snapshot)
