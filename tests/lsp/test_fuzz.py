"""Sessions of random edits: 150 always, and with `pytest -m nightly` 2,000 in each encoding of places."""

from __future__ import annotations

from pathlib import Path

import pytest
from tdl.lsp.features.table import DOCUMENT_FEATURES

from tests.lsp.client import Client
from tests.lsp.fuzz import session
from tests.lsp.mirror import WIDTHS, Edit, Mirror, difference
from tests.lsp.processes import Watched, linux

each_encoding = pytest.mark.parametrize("encoding", sorted(WIDTHS))


def edited(client: Client, folder: Path, encoding: str, rounds: range) -> set[str]:
    """A session from start to end; nothing of it may be left."""
    (folder / "project").mkdir()
    asked = session(client, folder / "project", encoding, rounds)
    workers = client.request("tdl/status", None)["workers"]
    watched = [Watched(process) for process in workers.values() if process is not None]
    assert client.close() == 0
    assert all(each.ends() for each in watched)
    assert client.log.read_text(encoding="utf-8") == ""
    return asked


@linux
@each_encoding
def test_the_server_has_the_text_of_its_client(client: Client, tmp_path: Path, encoding: str) -> None:
    edited(client, tmp_path, encoding, range(1))


@linux
@pytest.mark.nightly
@each_encoding
def test_two_thousand_edits(client: Client, tmp_path: Path, encoding: str) -> None:
    asked = edited(client, tmp_path, encoding, range(1, 41))
    assert asked >= {each.method for each in DOCUMENT_FEATURES}


# ---- the client of these sessions


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)])
def test_a_client_counts_lines_and_units_as_the_protocol_does(encoding: str, character: int) -> None:
    text = Mirror("", "a\f\u2028b\rc\r\né𝄞x\n", encoding)
    assert text.lines() == ["a\f\u2028b\r", "c\r\n", "é𝄞x\n", ""]
    place = {"line": 2, "character": character}
    assert text.position(text.text.index("x") + 1) == place
    assert text.offset(place) == text.text.index("x") + 1
    assert text.whole(text.text.index("\n")) == text.text.index("\n") - 1


def test_a_client_undoes_what_it_did() -> None:
    text = Mirror("", "a\r\nb", "utf-16")
    (change,) = text.apply([Edit(3, 4, "\r\n\r\nb")])
    assert change["range"] == {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}}
    (change,) = text.undo()
    assert text.text == "a\r\nb"
    assert change["text"] == ""
    text.redo()
    assert text.text == "a\r\n\r\n\r\nb"
    assert difference("a\r\nb", "a\nb") == Edit(1, 3, "\n")
