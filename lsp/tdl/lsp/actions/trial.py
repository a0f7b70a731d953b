"""Changes tried on a copy of the text: what would be wrong then that is not wrong now.

    trial = Trial(snapshot)
    trial.objection(candidate)        None where it may be offered, else the first new error

Errors are compared by code and message, as many of each: an edit moves the others, and need not mend them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tdl.language.diagnostic import Diagnostic
from tdl.lsp.actions.candidate import Candidate, edited
from tdl.lsp.snapshot import Snapshot


class Trial:
    """Tries changes of one document at one version."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._known = Counter(map(_identity, _errors(snapshot.diagnostics)))

    def objection(self, candidate: Candidate) -> Diagnostic | None:
        """The first error that a change would bring."""
        text = edited(self._snapshot.source.text, candidate.edits)
        path = self._snapshot.source.path
        workspace = self._snapshot.workspace.with_texts({path: text})
        known = self._known.copy()
        for error in _errors(Snapshot(workspace.documents[path], workspace).diagnostics):
            identity = _identity(error)
            if not known[identity]:
                return error
            known[identity] -= 1
        return None


def _errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [each for each in diagnostics if each.severity == "error"]


def _identity(error: Diagnostic) -> tuple[str, str]:
    return error.code, error.message
