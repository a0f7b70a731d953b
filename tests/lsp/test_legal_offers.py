"""What is offered behind `at`, `parallel` and the like is legal, and what programs have there is offered."""

from __future__ import annotations

import re

import pytest
from lsprotocol import types
from tdl.lsp.features.completion import completion
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace

from benchmarks.generate import generate

URI = "file:///project/main.tdl"
LINE = re.compile(r"^ +(?:(?:compute|store) \w+ at|parallel|vectorize|unroll|inline) (?=([\w.]+))", re.MULTILINE)
TEXT = generate(600)
"""The programs of the tests, each op with its schedules."""


def cases() -> list[tuple[str, int, str]]:
    """Schedules that end within a line, where they end, and what stands there in the program."""
    found = []
    for match in LINE.finditer(TEXT):
        rest = TEXT[TEXT.index("\n}", match.end()) :]
        found.append((TEXT[: match.end()] + rest, match.end(), match[1]))
    return found


def offered(workspace: Workspace, text: str, offset: int) -> list[str]:
    snapshot = Snapshot(workspace.open(URI, 1, text), workspace)
    document = types.TextDocumentIdentifier(URI)
    answer = completion(snapshot, types.CompletionParams(document, snapshot.position(offset)))
    return [item.label for item in answer.items]


def refusals(workspace: Workspace, text: str, offset: int, added: str) -> list[str]:
    """What is wrong with the line that is written on, also when it is written on with lanes."""
    found: list[str] = []
    for ending in ("", " by 16") if text[:offset].endswith("vectorize ") else ("",):
        whole = text[:offset] + added + ending + text[offset:]
        snapshot = Snapshot(workspace.open(URI, 1, whole), workspace)
        line = snapshot.position(offset).line
        wrong = [each.message for each in snapshot.diagnostics if snapshot.position(each.primary.start).line == line]
        if not wrong:
            return []
        found += wrong
    return found


@pytest.mark.parametrize(("text", "offset", "written"), cases())
def test_every_offer_is_legal(text: str, offset: int, written: str) -> None:
    workspace = Workspace()
    labels = offered(workspace, text, offset)
    assert written.rpartition(".")[2] in {label.rpartition(".")[2] for label in labels}
    for label in labels:
        assert refusals(workspace, text, offset, label) == [], label


def test_what_is_not_offered_is_refused() -> None:
    workspace = Workspace()
    for text, offset, _ in cases()[::7]:
        labels = offered(workspace, text, offset)
        before = re.sub(r"\w+ (?:\w+ at )?$", "split ", text[:offset])  # of which every loop is offered
        for loop in offered(workspace, before + text[offset:], len(before)):
            if loop not in labels and not text[:offset].rstrip().endswith("inline"):
                assert refusals(workspace, text, offset, loop) != [], loop
