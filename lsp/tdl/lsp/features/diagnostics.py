"""Diagnostics as LSP has them, pushed after each edit or pulled by the client.

Diagnostic("unknown-name", "unknown name `Z`", ...)
    range, severity 1, source "tdlc", code "unknown-name" with a link to its page, the notes below the message,
    its further places as related information
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from lsprotocol import types
from tdl.compiler.pages import page_path
from tdl.language.diagnostic import Diagnostic, Label
from tdl.language.source import Span
from tdl.lsp.limits import why_not_checked
from tdl.lsp.snapshot import Snapshot

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


def diagnostics(snapshot: Snapshot) -> list[types.Diagnostic]:
    """Everything wrong with a document."""
    reason = why_not_checked(snapshot.source)
    if reason is not None:
        severity = types.DiagnosticSeverity.Information
        return [types.Diagnostic(snapshot.range(Span(0, 0)), reason, severity, source="tdlc")]
    return [converted(snapshot, each) for each in snapshot.diagnostics]


def language_diagnostics(snapshot: Snapshot) -> list[types.Diagnostic]:
    """What is wrong with a document but for what its schedules may not do, which takes longer to say."""
    return [converted(snapshot, each) for each in snapshot.analysis.diagnostics]


def converted(snapshot: Snapshot, found: Diagnostic) -> types.Diagnostic:
    """One diagnostic as LSP has it."""
    href = page_uri(found.code)
    related = [each for each in (_related(snapshot, label) for label in found.secondary) if each is not None]
    return types.Diagnostic(
        range=snapshot.range(found.primary),
        message="\n".join((found.message, *found.notes)),
        severity=_SEVERITIES[found.severity],
        code=found.code,
        code_description=None if href is None else types.CodeDescription(href),
        source="tdlc",
        related_information=related or None,
    )


def diagnostic(snapshot: Snapshot, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
    """The answer to a client that asks: all of it, or that nothing changed since the result that it has."""
    items = diagnostics(snapshot)
    identity = result_id(items)
    if params.previous_result_id == identity:
        return types.RelatedUnchangedDocumentDiagnosticReport(identity)
    return types.RelatedFullDocumentDiagnosticReport(items, result_id=identity)


def result_id(items: list[types.Diagnostic]) -> str:
    """A digest of what was found: the same findings have the same identity, whatever the version."""
    return blake2b(repr(items).encode("utf-8", "backslashreplace"), digest_size=12).hexdigest()


def _related(snapshot: Snapshot, label: Label) -> types.DiagnosticRelatedInformation | None:
    location = snapshot.location(label.path or snapshot.source.path, label.span)
    return None if location is None else types.DiagnosticRelatedInformation(location, label.text)


@lru_cache(maxsize=256)
def page_uri(code: str) -> str | None:
    """Where the page of a code is."""
    path = page_path(code)
    return path.as_uri() if path.is_file() else None
