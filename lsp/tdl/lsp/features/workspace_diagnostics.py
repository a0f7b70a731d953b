"""What is wrong anywhere in the workspace, for clients that ask for all of it."""

from __future__ import annotations

from lsprotocol import types
from tdl.lsp.features.diagnostics import diagnostics, result_id
from tdl.lsp.snapshot import snapshot_of
from tdl.lsp.workspace import Workspace


def workspace_diagnostics(
    workspace: Workspace, params: types.WorkspaceDiagnosticParams
) -> types.WorkspaceDiagnosticReport:
    """A report for each program, short where the client's last result still holds."""
    previous = {each.uri: each.value for each in params.previous_result_ids}
    return types.WorkspaceDiagnosticReport(
        [report for path in workspace.files() if (report := _report(workspace, path, previous)) is not None]
    )


def _report(
    workspace: Workspace, path: str, previous: dict[str, str]
) -> types.WorkspaceDocumentDiagnosticReport | None:
    snapshot = snapshot_of(workspace, path)
    if snapshot is None:
        return None
    open_document = workspace.documents.get(path)
    version = None if open_document is None else open_document.version
    items, uri = diagnostics(snapshot), snapshot.document.uri
    identity = result_id(items)
    if previous.get(uri) == identity:
        return types.WorkspaceUnchangedDocumentDiagnosticReport(uri, identity, version=version)
    return types.WorkspaceFullDocumentDiagnosticReport(uri, items, version=version, result_id=identity)
