"""Changes of a text tried: which of them is the first that brings no error."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tdl.language.source import Span
from tdl.lsp.actions.candidate import Edit
from tdl.lsp.actions.trial import Change, Trial
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace


def attempt(payload: dict[str, Any], progress: object) -> list[str | None]:
    """The objections to the changes of a choice, up to the first that is legal."""
    trial = _trial(payload["path"], tuple(payload["texts"].items()))
    changes = [
        Change(
            tuple(Edit(Span(start, end), text) for start, end, text in each["edits"]),
            None if each["mends"] is None else (each["mends"][0], each["mends"][1]),
        )
        for each in payload["choice"]
    ]
    return trial.objections(changes)


@lru_cache(maxsize=2)
def _trial(path: str, texts: tuple[tuple[str, str], ...]) -> Trial:
    """Made once for a text, which many changes are tried on."""
    workspace = Workspace().with_texts(dict(texts))
    return Trial(Snapshot(workspace.documents[path], workspace))
