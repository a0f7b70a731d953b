"""Every change that is offered, anywhere in the programs, leads to a text with no error that was not there before.

The text after each is checked as a whole and from the beginning, not as the offers themselves are tried.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import converters, types
from tdl.compiler.schedule.check import diagnose
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse
from tdl.language.source import Source, Span
from tdl.lsp.asking import at_once
from tdl.lsp.features.code_action import code_action
from tdl.lsp.positions import Encoding, span_at
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.tweaks import tweaks
from tdl.lsp.workspace import Workspace

from tests.lsp.features.pages import asked_of
from tests.lsp.test_any_text import CLIENT, PROGRAMS

WRONG = sorted((Path(__file__).parents[1] / "programs_invalid").glob("*.tdl"))
CONVERTER = converters.get_converter()
_WORD = re.compile(r"\w+")


def snapshot_of(path: Path) -> Snapshot:
    workspace = Workspace()
    return Snapshot(workspace.open(path.as_uri(), 1, path.read_text(encoding="utf-8")), workspace, CLIENT)


def errors(path: str, text: str) -> Counter[tuple[str, str]]:
    found = diagnose(analyse(Source(path, text)))
    return Counter((each.code, each.message) for each in found if each.severity == "error")


def after(source: Source, edits: Any) -> str:
    text = source.text
    placed = [(span_at(source, each.range, Encoding.Utf16), each.new_text) for each in edits]
    for span, new in sorted(placed, key=lambda each: (each[0].start, each[0].end), reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


def places(analysis: Analysis) -> Iterator[int]:
    """The names of ops, and of each schedule the first place of every word in its lines."""
    for entry in analysis.module.entries:
        item, offset = entry.placed.item, entry.placed.offset
        if isinstance(item, syntax.Op):
            yield offset + item.name.span.start
        if isinstance(item, syntax.Schedule):
            seen: set[str] = set()
            for line in item.body:
                for match in _WORD.finditer(entry.placed.parsed.text, line.span.start, line.span.end):
                    if match[0] not in seen or match.start() == line.span.start:
                        seen.add(match[0])
                        yield offset + match.start()


def offered(snapshot: Snapshot, offset: int, only: list[str] | None) -> list[types.CodeAction]:
    place = snapshot.range(Span(offset, offset))
    identity, context = types.TextDocumentIdentifier(snapshot.document.uri), types.CodeActionContext([], only)
    answer = code_action(snapshot, types.CodeActionParams(identity, place, context))
    found: list[types.CodeAction] = at_once(answer, asked_of(snapshot))
    return found


def texts_of(snapshot: Snapshot, offsets: Iterable[int], only: list[str] | None = None) -> dict[str, str]:
    """The texts that the offers at some places lead to, with what they are called."""
    found: dict[str, str] = {}
    for offset in offsets:
        for action in offered(snapshot, offset, only):
            assert action.edit is not None
            assert action.edit.changes is not None
            text = after(snapshot.source, action.edit.changes[snapshot.document.uri])
            found.setdefault(text, f"{action.title} at {snapshot.source.position(offset)}")
    return found


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_what_is_offered_brings_no_error(path: Path) -> None:
    snapshot = snapshot_of(path)
    texts = texts_of(snapshot, places(snapshot.analysis))
    for text, title in texts.items():
        assert not errors(str(path), text), f"{title}\n{text}"
    assert len(texts) >= len(snapshot.analysis.module.ops)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_a_fix_mends_an_error_and_brings_none(path: Path) -> None:
    snapshot = snapshot_of(path)
    before = errors(str(path), snapshot.source.text)
    offsets = [each.primary.start for each in snapshot.diagnostics]
    for text, title in texts_of(snapshot, offsets, ["quickfix"]).items():
        new = errors(str(path), text)
        assert not new - before, f"{title}\n{text}"
        assert new.total() < before.total(), f"{title}\n{text}"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_edits_of_tweaks_bring_no_error(path: Path) -> None:
    snapshot = snapshot_of(path)
    ask = asked_of(snapshot)
    for entry in snapshot.analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Schedule):
            found = at_once(tweaks(snapshot, entry.placed.offset + entry.placed.item.span.start), ask)
            for edit in edits_in(found):
                changes = CONVERTER.structure(edit, types.WorkspaceEdit).changes
                assert changes is not None
                text = after(snapshot.source, changes[snapshot.document.uri])
                assert not errors(str(path), text), text


def edits_in(answer: Any) -> Iterator[Any]:
    """Every edit in an answer."""
    if isinstance(answer, dict):
        for key, each in answer.items():
            yield from [each] if key == "edit" and each is not None else edits_in(each)
    elif isinstance(answer, list):
        for each in answer:
            yield from edits_in(each)
