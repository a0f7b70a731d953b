"""Navigation over the pipe: several files, some saved and some not, and clients of different means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.client import Client, ServerError

LIB = "## Twice.\nfn twice(x: f32) -> f32 = 2 * x\n"
USER = "from lib import twice\n\nop f(X: f32[N]) -> Y: f32[N] {\n    Y[i] = twice(X[i])\n}\n"
LINKS = {"textDocument": {each: {"linkSupport": True} for each in ("definition", "declaration", "typeDefinition")}}


def place(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def ask(client: Client, method: str, uri: str, line: int, character: int, **more: Any) -> Any:
    params = {"textDocument": {"uri": uri}, "position": place(line, character), **more}
    return client.request(f"textDocument/{method}", params)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "a folder"
    home.mkdir()
    (home / "lib.tdl").write_text(LIB)
    (home / "user.tdl").write_text(USER)
    return home


def test_a_simple_client_gets_locations_and_an_able_one_links(folder: Path, tmp_path: Path) -> None:
    uri = (folder / "user.tdl").as_uri()
    answers = []
    for capabilities in ({}, LINKS):
        with Client.start(tmp_path / "log") as client:
            client.initialise(capabilities, folder)
            client.open(uri, USER)
            answers.append(ask(client, "definition", uri, 3, 13))
            client.close()
    (location,), (link,) = answers
    name = {"start": place(1, 3), "end": place(1, 8)}
    assert location == {"uri": (folder / "lib.tdl").as_uri(), "range": name}
    assert link["targetUri"] == location["uri"]
    assert link["targetSelectionRange"] == name
    assert link["targetRange"] == {"start": place(1, 0), "end": place(1, 31)}
    assert link["originSelectionRange"] == {"start": place(3, 11), "end": place(3, 16)}


def test_references_see_saved_files_and_unsaved_text(folder: Path, tmp_path: Path) -> None:
    uri, user = (folder / "lib.tdl").as_uri(), (folder / "user.tdl").as_uri()
    context = {"includeDeclaration": False}
    with Client.start(tmp_path / "log") as client:
        client.initialise({}, folder)
        client.open(uri, LIB)
        saved = ask(client, "references", uri, 1, 4, context=context)
        client.open(user, USER.replace("Y[i] = twice(X[i])", "Y[i] = twice(twice(X[i]))"))
        unsaved = ask(client, "references", uri, 1, 4, context=context)
        client.close()
    assert [(each["uri"], each["range"]["start"]) for each in saved] == [(user, place(0, 16)), (user, place(3, 11))]
    assert len(unsaved) == 3


def test_the_standard_library_is_a_file(client: Client) -> None:
    uri = "file:///nowhere/f.tdl"
    client.initialise()
    client.open(uri, "import std.nn\n\ngraph g(x: f32[A, B]) -> y: f32[A, B] {\n    y = std.nn.relu(x)\n}\n")
    (location,) = ask(client, "definition", uri, 3, 17)
    text = Path(location["uri"].removeprefix("file://")).read_text(encoding="utf-8")
    assert text.split("\n")[location["range"]["start"]["line"]].startswith("op relu")
    client.open(location["uri"], text)
    found = ask(client, "references", location["uri"], **_start(location), context={"includeDeclaration": False})
    assert {each["uri"] for each in found} == {uri, location["uri"]}
    assert len({str(each) for each in found}) == len(found)


def _start(location: Any) -> dict[str, int]:
    start: dict[str, int] = location["range"]["start"]
    return start


def test_a_rename_reaches_files_that_are_not_open(folder: Path, tmp_path: Path) -> None:
    lib, user = (folder / "lib.tdl").as_uri(), (folder / "user.tdl").as_uri()
    with Client.start(tmp_path / "log") as client:
        client.initialise({"workspace": {"workspaceEdit": {"documentChanges": True}}}, folder)
        client.open(lib, LIB, version=7)
        answer = ask(client, "rename", lib, 1, 4, newName="double")
        with pytest.raises(ServerError, match="reserved word"):
            ask(client, "rename", lib, 1, 4, newName="for")
        client.close()
    edits = {each["textDocument"]["uri"]: each for each in answer["documentChanges"]}
    assert edits[lib]["textDocument"]["version"] == 7
    assert edits[user]["textDocument"]["version"] is None
    assert len(edits[user]["edits"]) == 2


def test_preparation_is_offered_only_to_clients_that_know_it(tmp_path: Path) -> None:
    offered = []
    for capabilities in ({}, {"textDocument": {"rename": {"prepareSupport": True}}}):
        with Client.start(tmp_path / "log") as client:
            client.initialise(capabilities)
            offered.append(client.capabilities["renameProvider"])
            client.close()
    assert offered == [True, {"prepareProvider": True}]


MAIN = """\
import lib

## Doubled.
op f(X: f32[N]) -> Y: f32[N] {
    Y[i] = lib.twice(X[i])
}
schedule f {
    split Y.i by 8 -> io, ii
}
graph g(x: f32[N]) -> y: f32[N] {
    y = f(x)
}
"""
VSCODE = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "symbol": {}},
    "textDocument": {
        **LINKS["textDocument"],
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "rename": {"prepareSupport": True},
        "foldingRange": {"lineFoldingOnly": True},
        "semanticTokens": {
            "requests": {"range": True, "full": {"delta": True}},
            "tokenTypes": ["function", "keyword"],
            "tokenModifiers": [],
            "formats": ["relative"],
        },
    },
}
OPTIONS = {"tabSize": 4, "insertSpaces": True}
WHOLE = {"start": place(0, 0), "end": place(12, 0)}
METHODS: dict[str, dict[str, Any]] = {
    "definition": {"position": place(4, 18)},
    "declaration": {"position": place(4, 5)},
    "references": {"position": place(3, 3), "context": {"includeDeclaration": True}},
    "documentHighlight": {"position": place(3, 5)},
    "prepareRename": {"position": place(3, 3)},
    "rename": {"position": place(3, 3), "newName": "doubled"},
    "documentSymbol": {},
    "semanticTokens/full": {},
    "semanticTokens/range": {"range": WHOLE},
    "semanticTokens/full/delta": {"previousResultId": "none"},
    "foldingRange": {},
    "selectionRange": {"positions": [place(4, 18), place(7, 8)]},
    "documentLink": {},
    "prepareCallHierarchy": {"position": place(3, 3)},
    "formatting": {"options": OPTIONS},
    "rangeFormatting": {"options": OPTIONS, "range": WHOLE},
    "onTypeFormatting": {"options": OPTIONS, "position": place(8, 1), "ch": "}"},
}


@pytest.mark.parametrize("capabilities", [{}, VSCODE], ids=["least", "vscode"])
def test_every_method_answers_over_the_pipe(capabilities: dict[str, Any], folder: Path, client: Client) -> None:
    client.initialise(capabilities, folder)
    uri = (folder / "main.tdl").as_uri()
    client.open(uri, MAIN.replace("    y = f(x)", "  y=f(x)"))
    for method, params in METHODS.items():
        answer = client.request(f"textDocument/{method}", {"textDocument": {"uri": uri}, **params})
        assert answer is not None, method
        assert answer or "ormatting" in method, method
    (item,) = client.request(
        "textDocument/prepareCallHierarchy", {"textDocument": {"uri": uri}, "position": place(3, 3)}
    )
    (incoming,) = client.request("callHierarchy/incomingCalls", {"item": item})
    (outgoing,) = client.request("callHierarchy/outgoingCalls", {"item": item})
    assert (incoming["from"]["name"], outgoing["to"]["name"]) == ("g", "twice")
    (symbol,) = client.request("workspace/symbol", {"query": "twice"})
    assert symbol["location"]["uri"] == (folder / "lib.tdl").as_uri()
    client.close()


def test_an_empty_document_has_answers(client: Client) -> None:
    client.initialise(VSCODE)
    client.open("file:///empty.tdl", "")
    for method in ("documentSymbol", "foldingRange", "documentLink"):
        assert client.request(f"textDocument/{method}", {"textDocument": {"uri": "file:///empty.tdl"}}) == []
    position = {"textDocument": {"uri": "file:///empty.tdl"}, "position": place(0, 0)}
    assert client.request("textDocument/definition", position) is None
    assert client.request("textDocument/documentHighlight", position) is None


def test_colours_that_follow_from_another_file_are_asked_for_again(folder: Path, client: Client) -> None:
    client.initialise({"workspace": {"semanticTokens": {"refreshSupport": True}}}, folder)
    lib, user = (folder / "lib.tdl").as_uri(), (folder / "user.tdl").as_uri()
    client.open(lib, LIB)
    client.open(user, USER)
    client.diagnostics(user, 1)
    client.change(lib, 2, {"text": "const twice = 2\n"})
    client.wait_for("workspace/semanticTokens/refresh")
    client.close()
