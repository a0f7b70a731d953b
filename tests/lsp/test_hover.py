"""Hovers over the pipe, as VS Code asks and as a client that can do next to nothing does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.client import Client

URI = "file:///project/main.tdl"
TEXT = """\
## Twice as much.
op double(X: f32[N]) -> Y: f32[N] {
    Y[i] = X[i] * 2
}
schedule double for cpu {
    split Y.i by 8 -> io, ii
    parallel io
}
bench large: double(N=1024)
"""
VSCODE: dict[str, Any] = {"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}}
PLAIN: dict[str, Any] = {"textDocument": {"hover": {"contentFormat": ["plaintext"]}}}

PLACES = {
    (1, 4): "Twice as much.",
    (2, 12): "input X: f32[N]",
    (5, 6): "Legal for all sizes: every iteration still runs once, in the same order.",
    (5, 17): "1024 = 128 × 8.",
    (6, 13): "128 in",
}


@pytest.mark.parametrize("capabilities", [VSCODE, PLAIN, {}], ids=["VS Code", "plain", "least"])
def test_hovers(client: Client, capabilities: dict[str, Any]) -> None:
    client.initialise(capabilities)
    client.open(URI, TEXT)
    for (line, character), said in PLACES.items():
        position = {"line": line, "character": character}
        answer = client.request("textDocument/hover", {"textDocument": {"uri": URI}, "position": position})
        contents = answer["contents"]
        assert said in contents["value"]
        assert (contents["kind"] == "plaintext") == (capabilities is PLAIN)
        assert ("`" in contents["value"]) == (capabilities is not PLAIN)
        assert answer["range"]["start"]["line"] == line


def test_a_hover_in_what_is_being_typed(client: Client) -> None:
    client.initialise(VSCODE)
    client.open(URI, TEXT)
    end = {"line": 2, "character": 19}
    client.change(URI, 2, {"range": {"start": end, "end": end}, "text": " + "})
    position = {"line": 5, "character": 10}
    answer = client.request("textDocument/hover", {"textDocument": {"uri": URI}, "position": position})
    assert "output Y" in answer["contents"]["value"]
