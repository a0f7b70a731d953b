"""Changes of the text that are offered where the cursor is: each was tried, and brings no error.

unknown name `tahn`            change to `tanh`
split C.i by 6 -> io, ii       change 6 to 4 · change 6 to 8 · remove this line
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lsprotocol import converters, types
from tdl.language.diagnostic import Diagnostic
from tdl.language.source import Span
from tdl.lsp.actions.at_cursor import of_factors, of_knobs, of_lines, of_loops, of_ops
from tdl.lsp.actions.candidate import QUICK_FIX, REWRITE, Candidate, Choice
from tdl.lsp.actions.fixes import proposed_fixes
from tdl.lsp.actions.imports import missing_imports
from tdl.lsp.actions.mending import mended_lines
from tdl.lsp.actions.ranges import missing_ranges
from tdl.lsp.actions.workspace_edits import workspace_edit
from tdl.lsp.asking import Asking, each_legal
from tdl.lsp.features.diagnostics import converted
from tdl.lsp.snapshot import Snapshot

OF_ERRORS: tuple[Callable[[Snapshot, Diagnostic], Iterator[Choice]], ...] = (
    proposed_fixes,
    missing_imports,
    missing_ranges,
)
"""What might mend an error."""

AT_PLACES: tuple[Callable[[Snapshot, Span], Iterator[Choice]], ...] = (of_knobs, of_loops, of_lines, of_ops)
"""What might be done where nothing is wrong."""

Answer = list[types.CodeAction | types.Command] | None

OPTIONS = types.CodeActionOptions(
    [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, types.CodeActionKind.RefactorMove]
)


def code_action(snapshot: Snapshot, params: types.CodeActionParams) -> Asking[Answer]:
    """The changes for a range, those that mend something first."""
    if not _takes_edits(snapshot.client) and not _takes_commands(snapshot.client):
        return None
    place, only = snapshot.span(params.range), params.context.only
    found: list[Candidate] = []
    if _is_wanted(QUICK_FIX, only):
        for error in _errors_at(snapshot, place):
            found += yield from each_legal(choice for mend in OF_ERRORS for choice in mend(snapshot, error))
            found += yield from mended_lines(snapshot, error)
    if _is_wanted(REWRITE, only):
        found += yield from of_factors(snapshot, place)
    for propose in AT_PLACES:
        choices = propose(snapshot, place)
        found += yield from each_legal(each for each in choices if each and _is_wanted(each[0].kind, only))
    once = {each.edits: each for each in reversed(found)}.values()
    return [_offered(snapshot, each) for each in reversed(once)]


def _errors_at(snapshot: Snapshot, place: Span) -> list[Diagnostic]:
    return [
        each for each in snapshot.diagnostics if each.primary.start <= place.end and place.start <= each.primary.end
    ]


def _is_wanted(kind: str, only: object) -> bool:
    """Whether a kind is one of those asked for, or a kind of one."""
    if not isinstance(only, list | tuple):
        return True
    wanted = [str(getattr(each, "value", each)) for each in only]
    return any(not each or f"{kind}.".startswith(f"{each}.") for each in wanted)


def _offered(snapshot: Snapshot, candidate: Candidate) -> types.CodeAction | types.Command:
    if not _takes_edits(snapshot.client):
        return _command(snapshot, candidate)
    return types.CodeAction(
        candidate.title,
        candidate.kind,
        diagnostics=None if candidate.mends is None else [converted(snapshot, candidate.mends)],
        is_preferred=candidate.is_preferred or None,
        edit=workspace_edit(snapshot, candidate.edits),
    )


def _command(snapshot: Snapshot, candidate: Candidate) -> types.Command:
    """The change as a command that has the server make it, for clients that know nothing else."""
    edit = converters.get_converter().unstructure(workspace_edit(snapshot, candidate.edits))
    what = {"uri": snapshot.document.uri, "name": candidate.title, "edit": edit}
    return types.Command(candidate.title, "tdl.applyEdit", arguments=[what])


def _takes_commands(client: types.ClientCapabilities) -> bool:
    return client.workspace is not None and bool(client.workspace.apply_edit)


def _takes_edits(client: types.ClientCapabilities) -> bool:
    """Whether the client takes actions that are edits, as all but the oldest do; others know commands alone."""
    document = client.text_document
    action = None if document is None else document.code_action
    return action is not None and action.code_action_literal_support is not None
