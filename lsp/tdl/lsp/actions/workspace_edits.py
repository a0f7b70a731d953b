"""Edits as clients take them."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types
from tdl.lsp.actions.candidate import Edit
from tdl.lsp.snapshot import Snapshot


def workspace_edit(snapshot: Snapshot, edits: Iterable[Edit]) -> types.WorkspaceEdit:
    """Edits of a document, of the version that they are for where the client can tell."""
    made = [types.TextEdit(snapshot.range(each.span), each.text) for each in edits]
    document = snapshot.document
    workspace = snapshot.client.workspace
    takes = None if workspace is None else workspace.workspace_edit
    if takes is not None and takes.document_changes:
        version = None if document.version < 0 else document.version
        identity = types.OptionalVersionedTextDocumentIdentifier(document.uri, version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identity, list(made))])
    return types.WorkspaceEdit({document.uri: made})
