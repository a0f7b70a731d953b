"""Completion over the pipe, as VS Code asks and as a client that can do next to nothing does."""

from __future__ import annotations

from typing import Any

from tests.lsp.client import Client

URI = "file:///project/main.tdl"
TEXT = """\
## Twice as much.
op double(X: f32[N]) -> Y: f32[N] {
    Y[i] = X[i] * 2
}
schedule double for cpu {
    split Y.i by 8 -> io, ii
    p
}
"""
VSCODE: dict[str, Any] = {
    "textDocument": {
        "completion": {
            "contextSupport": True,
            "completionItem": {
                "snippetSupport": True,
                "documentationFormat": ["markdown", "plaintext"],
                "resolveSupport": {"properties": ["documentation", "detail", "additionalTextEdits"]},
            },
        }
    }
}


def ask(client: Client, line: int, character: int, **more: Any) -> dict[str, dict[str, Any]]:
    """The offers at a place, by label."""
    position = {"line": line, "character": character}
    answer = client.request("textDocument/completion", {"textDocument": {"uri": URI}, "position": position, **more})
    return {each["label"]: each for each in answer["items"]}


def test_offers_of_vs_code_have_snippets_and_markdown(client: Client) -> None:
    client.initialise(VSCODE)
    assert client.capabilities["completionProvider"]["resolveProvider"]
    client.open(URI, TEXT)
    offer = ask(client, 6, 5)["parallel"]
    assert offer["insertTextFormat"] == 2
    assert offer["textEdit"] == {
        "range": {"start": {"line": 6, "character": 4}, "end": {"line": 6, "character": 5}},
        "newText": "parallel $0",
    }
    resolved = client.request("completionItem/resolve", offer)
    assert resolved["documentation"]["kind"] == "markdown"
    assert "iterations on several threads" in resolved["documentation"]["value"]
    op = ask(client, 4, 9)["double"]
    assert client.request("completionItem/resolve", op)["documentation"]["value"].endswith("Twice as much.")


def test_offers_of_the_least_client_are_plain(client: Client) -> None:
    client.initialise({})
    client.open(URI, TEXT)
    offer = ask(client, 6, 5)["parallel"]
    assert offer["textEdit"]["newText"] == "parallel"
    assert "insertTextFormat" not in offer
    documentation = client.request("completionItem/resolve", offer)["documentation"]
    assert documentation["kind"] == "plaintext"
    assert "`" not in documentation["value"]


def test_what_is_typed_goes_on_from_the_last_edit(client: Client) -> None:
    client.initialise(VSCODE)
    client.open(URI, TEXT)
    end = {"line": 6, "character": 5}
    client.change(URI, 2, {"range": {"start": end, "end": end}, "text": "arallel "})
    typed = {"context": {"triggerKind": 2, "triggerCharacter": " "}}
    assert list(ask(client, 6, 13, **typed)) == ["io", "ii"]


def test_a_space_behind_what_is_whole_offers_nothing(client: Client) -> None:
    client.initialise(VSCODE)
    client.open(URI, TEXT)
    end = {"line": 2, "character": 19}
    client.change(URI, 2, {"range": {"start": end, "end": end}, "text": " "})
    assert ask(client, 2, 20, context={"triggerKind": 2, "triggerCharacter": " "}) == {}
    assert {"for", "if", "and", "or"} <= ask(client, 2, 20).keys()
