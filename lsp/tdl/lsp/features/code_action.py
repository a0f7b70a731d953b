"""Changes of the text that are offered where the cursor is: each was tried, and brings no error.

unknown name `tahn`            change to `tanh`
split C.i by 6 -> io, ii       change 6 to 4 · change 6 to 8 · remove this line
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lsprotocol import types
from tdl.language.diagnostic import Diagnostic
from tdl.language.source import Span
from tdl.lsp.actions.candidate import Candidate, Choice
from tdl.lsp.actions.fixes import proposed_fixes
from tdl.lsp.actions.imports import missing_imports
from tdl.lsp.actions.trial import Trial
from tdl.lsp.actions.tweaks import of_lines
from tdl.lsp.features.diagnostics import converted
from tdl.lsp.slices import Slices
from tdl.lsp.snapshot import Snapshot

OF_ERRORS: tuple[Callable[[Snapshot, Diagnostic], Iterator[Choice]], ...] = (proposed_fixes, missing_imports)
"""What might mend an error."""

AT_PLACES: tuple[Callable[[Snapshot, Span], Iterator[Choice]], ...] = (of_lines,)
"""What might be done where nothing is wrong."""

OPTIONS = types.CodeActionOptions(
    [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, types.CodeActionKind.RefactorMove]
)


def code_action(snapshot: Snapshot, params: types.CodeActionParams) -> Slices[list[types.CodeAction] | None]:
    """The changes for a range, those that mend something first. Each is tried in a slice of its own."""
    if not _takes_edits(snapshot.client):
        return None
    trial = Trial(snapshot)
    found: list[types.CodeAction] = []
    for choice in _choices(snapshot, snapshot.span(params.range)):
        for candidate in choice:
            if not _is_wanted(candidate, params.context.only):
                continue
            yield
            if trial.objection(candidate) is None:
                found.append(_offered(snapshot, candidate))
                break
    return found


def _choices(snapshot: Snapshot, place: Span) -> Iterator[Choice]:
    for found in snapshot.diagnostics:
        if found.primary.start <= place.end and place.start <= found.primary.end:
            for mend in OF_ERRORS:
                yield from mend(snapshot, found)
    for propose in AT_PLACES:
        yield from propose(snapshot, place)


def _is_wanted(candidate: Candidate, only: object) -> bool:
    """Whether its kind is one of those asked for, or a kind of one."""
    if not isinstance(only, list | tuple):
        return True
    kinds = [str(getattr(kind, "value", kind)) for kind in only]
    return any(not kind or f"{candidate.kind}.".startswith(f"{kind}.") for kind in kinds)


def _offered(snapshot: Snapshot, candidate: Candidate) -> types.CodeAction:
    return types.CodeAction(
        candidate.title,
        candidate.kind,
        diagnostics=None if candidate.mends is None else [converted(snapshot, candidate.mends)],
        is_preferred=candidate.is_preferred or None,
        edit=workspace_edit(snapshot, candidate),
    )


def workspace_edit(snapshot: Snapshot, candidate: Candidate) -> types.WorkspaceEdit:
    """The edits of a change as the client takes them."""
    edits = [types.TextEdit(snapshot.range(each.span), each.text) for each in candidate.edits]
    document = snapshot.document
    workspace = snapshot.client.workspace
    takes = None if workspace is None else workspace.workspace_edit
    if takes is not None and takes.document_changes:
        version = None if document.version < 0 else document.version
        identity = types.OptionalVersionedTextDocumentIdentifier(document.uri, version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identity, list(edits))])
    return types.WorkspaceEdit({document.uri: edits})


def _takes_edits(client: types.ClientCapabilities) -> bool:
    """Whether the client takes actions that are edits, as all but the oldest do; others know commands alone."""
    document = client.text_document
    action = None if document is None else document.code_action
    return action is not None and action.code_action_literal_support is not None
