"""Open texts, what is remembered of them, and what is not."""

from __future__ import annotations

import gc
from pathlib import Path

from lsprotocol import types
from tdl.lsp.features.diagnostics import diagnostics
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace

URI = "file:///nowhere/a.tdl"
TEXT = "op f(X: f32[N]) -> Y: f32[N] {\n    Y[i] = X[i] * 2\n}\nschedule f for cpu {\n    split Y.i by 8 -> io, ii\n}\n"


def typed(workspace: Workspace, version: int, text: str) -> None:
    """The number in the op's body replaced."""
    line = workspace.documents["/nowhere/a.tdl"].source.line(2)
    place = types.Range(types.Position(1, line.index("*") + 2), types.Position(1, len(line)))
    workspace.edit(URI, version, [types.TextDocumentContentChangePartial(place, text)])


def test_an_analysis_is_made_once_for_a_text(tmp_path: Path) -> None:
    other = tmp_path / "other.tdl"
    other.write_text("const A: f32 = 1\n", encoding="utf-8")
    workspace = Workspace()
    document = workspace.open((tmp_path / "main.tdl").as_uri(), 1, "from other import A\n")
    first = workspace.analysis(document.source)
    assert workspace.analysis(document.source) is first
    workspace.open(other.as_uri(), 1, "const A: f32 = 2\n")
    assert workspace.analysis(document.source) is not first
    assert workspace.takes_from(document, str(other))


def test_a_file_on_disk_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.tdl"
    workspace = Workspace()
    assert workspace.read(str(path)) is None
    path.write_text("const A: f32 = 1\n", encoding="utf-8")
    first = workspace.read(str(path))
    assert workspace.read(str(path)) is first
    path.write_text("const A: f32 = 10\n", encoding="utf-8")
    changed = workspace.read(str(path))
    assert changed is not None
    assert changed.text == "const A: f32 = 10\n"


def test_an_edit_of_what_is_not_open_is_passed_over() -> None:
    assert Workspace().edit(URI, 2, [types.TextDocumentContentChangeWholeDocument("x")]) is None


def test_memory_does_not_grow_with_edits() -> None:
    """Ten thousand versions, all analysed: once the memo tables are full, as much is let go as is kept."""
    workspace = Workspace()
    workspace.open(URI, 1, TEXT)
    counts = []
    for number in range(10_000):
        typed(workspace, number + 2, str(number))
        snapshot = Snapshot(workspace.documents["/nowhere/a.tdl"], workspace)
        assert not snapshot.analysis.diagnostics
        if number in (8_999, 9_999):
            assert diagnostics(snapshot) == []
            gc.collect()
            counts.append(len(gc.get_objects()))
    assert counts[1] - counts[0] < 500
