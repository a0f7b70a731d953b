"""Renames over all files, refused with a reason where they would change what a program means."""

from __future__ import annotations

from lsprotocol import types
from tdl.language.source import Source
from tdl.lsp.positions import range_at
from tdl.lsp.protocol import Refused
from tdl.lsp.renaming import CannotRename, Rename, renamable
from tdl.lsp.renaming import rename as renamed
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.uses import definitions_at, occurrences_at


def prepare_rename(snapshot: Snapshot, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder:
    """The name that a rename at the cursor would change."""
    found = occurrences_at(snapshot, params.position)
    try:
        definition = renamable([each.definition for each in found])
    except CannotRename as reason:
        raise Refused(str(reason)) from None
    return types.PrepareRenamePlaceholder(snapshot.range(found[0].span), definition.name)


def rename(snapshot: Snapshot, params: types.RenameParams) -> types.WorkspaceEdit:
    """The edits that give what stands at the cursor another name."""
    try:
        made = renamed(snapshot.workspace, definitions_at(snapshot, params.position), params.new_name)
    except CannotRename as reason:
        raise Refused(str(reason)) from None
    edits = {path: _edits(snapshot, path, made) for path in made.spans}
    if _takes_versions(snapshot.client):
        changes = [types.TextDocumentEdit(_identity(snapshot, path), list(each)) for path, each in edits.items()]
        return types.WorkspaceEdit(document_changes=list(changes))
    return types.WorkspaceEdit({snapshot.workspace.uri(path): each for path, each in edits.items()})


def _edits(snapshot: Snapshot, path: str, made: Rename) -> list[types.TextEdit]:
    source = snapshot.workspace.read(path)
    assert isinstance(source, Source)
    return [types.TextEdit(range_at(source, span, snapshot.encoding), made.new) for span in made.spans[path]]


def _identity(snapshot: Snapshot, path: str) -> types.OptionalVersionedTextDocumentIdentifier:
    document = snapshot.workspace.documents.get(path)
    version = None if document is None else document.version
    return types.OptionalVersionedTextDocumentIdentifier(snapshot.workspace.uri(path), version)


def _takes_versions(client: types.ClientCapabilities) -> bool:
    edit = None if client.workspace is None else client.workspace.workspace_edit
    return edit is not None and bool(edit.document_changes)
