"""Every feature has an answer to every text, at every place in it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol import types
from tdl.lsp.asking import at_once
from tdl.lsp.features.table import DOCUMENT_FEATURES, WORKSPACE_FEATURES
from tdl.lsp.protocol import Refused
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace

from tests.lsp.features.pages import asked_of, params_of

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.tdl"))
URI = "file:///project/main.tdl"
LITERALS = types.ClientCodeActionLiteralOptions(types.ClientCodeActionKindOptions([]))
CLIENT = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(code_action_literal_support=LITERALS)
    )
)
PIECES = (
    "op f", "(", ")", "[", "]", "{", "}", ",", "..", "->", "=", ":", "i", "X", "8", "\n", "# ", "## ", '"',
    "for i", "in", "if", "split", "by", "apply", "cache", "at", "as", "import", "from",
)  # fmt: skip


def wrong(text: str, rng: random.Random) -> str:
    """The text with something taken out, put in, or both."""
    start = rng.randrange(len(text) + 1)
    end = start + rng.choice((0, 0, 1, 2, 5, 40))
    return text[:start] + rng.choice(("", " ", *PIECES)) + text[end:]


@pytest.mark.parametrize("seed", range(8))
def test_every_feature_answers(seed: int) -> None:
    rng, workspace = random.Random(seed), Workspace()
    text = rng.choice(PROGRAMS).read_text(encoding="utf-8")
    for version in range(12):
        text = wrong(text, rng)
        snapshot = Snapshot(workspace.open(URI, version, text), workspace, CLIENT)
        marks = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        place = {"line": rng.randrange(20), "character": rng.randrange(9)}
        spot = {"start": place, "end": place}
        item = {"name": "f", "kind": 12, "uri": URI, "range": spot, "selectionRange": spot}
        given = {"newName": rng.choice(("fresh", "X", "i")), "previousResultId": "none", "item": item}
        for feature in (*DOCUMENT_FEATURES, *WORKSPACE_FEATURES):
            subject = snapshot if feature in DOCUMENT_FEATURES else workspace
            try:
                at_once(feature.answer(subject, params_of(feature.method, snapshot, marks, given)), asked_of(snapshot))
            except Refused:
                continue
