"""Inlay hints over the pipe: which are wanted is asked of the client, or sent by it."""

from __future__ import annotations

from typing import Any

from tests.lsp.client import Client

URI = "file:///project/main.tdl"
TEXT = """\
op f(X: f32[N + 1]) -> Y: f32[N] {
    S[i] = X[i] * 2
    Y[i] = S[i] + S[i + 1]
}
schedule f { split Y.i by 8 -> io, ii }
graph g(x: f32[9]) -> y: f32[8] { y = f(x) }
"""
ALL = {": f32[N + 1]", " for i in 0..N + 1", " for i in 0..N", "io: (N + 7)//8, ii: ≤8"}
VSCODE: dict[str, Any] = {
    "workspace": {
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "inlayHint": {"refreshSupport": True},
    },
    "textDocument": {"inlayHint": {"dynamicRegistration": True}},
}


def hints(client: Client, first: int = 0, last: int = 9) -> set[str]:
    place = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
    answer = client.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": place})
    return {each["label"] for each in answer}


def test_the_settings_of_vs_code_are_asked_for_and_followed(client: Client) -> None:
    client.settings = {"hints": {"types": False, "loops": "no"}}
    client.initialise(VSCODE)
    registered = client.wait_for("client/registerCapability")
    assert [each["method"] for each in registered["registrations"]] == ["workspace/didChangeConfiguration"]
    client.open(URI, TEXT)
    client.wait_for("workspace/inlayHint/refresh")
    assert hints(client) == ALL - {": f32[N + 1]"}
    client.settings = {"hints": {"ranges": False, "loops": False}}
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    client.wait_for("workspace/inlayHint/refresh")
    assert hints(client) == {": f32[N + 1]"}


def test_the_least_client_has_all_hints_until_it_sends_settings(client: Client) -> None:
    client.initialise({})
    client.open(URI, TEXT)
    assert hints(client) == ALL
    client.notify("workspace/didChangeConfiguration", {"settings": {"tdl": {"hints": {"ranges": False}}}})
    assert hints(client) == {": f32[N + 1]", "io: (N + 7)//8, ii: ≤8"}


def test_a_client_that_has_no_settings_has_all_hints(client: Client) -> None:
    client.initialise(VSCODE)
    client.open(URI, TEXT)
    client.wait_for("workspace/configuration")
    assert hints(client) == ALL


def test_hints_of_some_lines(client: Client) -> None:
    client.initialise({})
    client.open(URI, TEXT)
    assert hints(client, 2, 3) == {" for i in 0..N"}


def test_hints_follow_an_edit(client: Client) -> None:
    client.initialise({})
    client.open(URI, TEXT)
    start = {"line": 4, "character": 26}
    client.change(URI, 2, {"range": {"start": start, "end": {"line": 4, "character": 27}}, "text": "16"})
    assert "io: (N + 15)//16, ii: ≤16" in hints(client)
