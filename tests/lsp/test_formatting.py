"""Edits of blanks: applied, they give exactly what the formatter writes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol import types
from tdl.language.diagnostic import InternalError
from tdl.language.format import format_text
from tdl.lsp.features.formatting import changed_blanks, formatting
from tdl.lsp.positions import Encoding
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.tdl"))
OPTIONS = types.FormattingOptions(tab_size=8, insert_spaces=False)


def formatted(text: str, encoding: Encoding = Encoding.Utf16) -> str:
    """The text after the server's edits, made by the server's own rules of edits, the last one first."""
    workspace = Workspace(encoding=encoding)
    document = workspace.open("file:///a.tdl", 1, text)
    params = types.DocumentFormattingParams(types.TextDocumentIdentifier(document.uri), OPTIONS)
    edits = formatting(Snapshot(document, workspace), params)
    assert edits is not None
    changes = [types.TextDocumentContentChangePartial(each.range, each.new_text) for each in reversed(edits)]
    changed = workspace.edit(document.uri, 2, changes)
    assert changed is not None
    return changed.source.text


def shaken(text: str, rng: random.Random) -> str:
    """The text with other blanks between its words, where that is the same program."""
    return "".join(each + " " * rng.randrange(3) if each in ",]" else each for each in text)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_edits_give_what_the_formatter_writes(path: Path, line_end: str) -> None:
    text = path.read_text(encoding="utf-8").replace("\n", line_end)
    shaken_text = shaken(text, random.Random(path.stem))
    assert formatted(shaken_text) == format_text(shaken_text)


@pytest.mark.parametrize("encoding", [Encoding.Utf8, Encoding.Utf16, Encoding.Utf32])
def test_edits_behind_wide_characters(encoding: Encoding) -> None:
    text = "# 𝄞\nop f(größe:f32[N])->Y:f32[N]{Y[i]=größe[i]}   # 𝄞\n\n\n\nconst   N=2\n"
    assert formatted(text, encoding) == format_text(text)


def test_mixed_line_ends() -> None:
    text = "const  A=1\r\nconst B  =2\nconst C=3\r\n\n\n"
    assert formatted(text) == format_text(text)


@pytest.mark.parametrize("text", ["const A=1", "# a", "", "\n", "  ", "const A=1\n\n\n", "\n\nconst A = 1\n"])
def test_the_ends_of_a_text(text: str) -> None:
    assert formatted(text) == format_text(text)


@pytest.mark.parametrize("after", ["a c", "a", "a b c"])
def test_an_edit_that_would_change_more_than_blanks_is_a_fault(after: str) -> None:
    with pytest.raises(InternalError):
        list(changed_blanks("a b", after))
