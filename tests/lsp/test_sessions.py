"""Whole sessions over the pipe."""

from __future__ import annotations

from tests.lsp.client import Client

URI = "file:///nowhere/a.tdl"
WRONG = "op f(X: f32[N]) -> Y: f32[N] {\n    Y[i] = Z[i]\n}\n"


def test_a_session_from_start_to_exit(client: Client) -> None:
    answer = client.initialise()
    assert answer["serverInfo"]["name"] == "tdlc"
    client.open(URI, WRONG)
    (found,) = client.diagnostics(URI, 1)
    assert found["code"] == "unknown-name"
    assert found["codeDescription"]["href"].endswith("/unknown-name.md")
    place = {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 12}}
    assert found["range"] == place
    client.change(URI, 2, {"range": place, "text": "X"})
    assert client.diagnostics(URI, 2) == []
    hover = client.request(
        "textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 3}}
    )
    assert "op f(X: f32[N]) -> Y: f32[N]" in hover["contents"]["value"]
    assert client.close() == 0


def test_what_the_language_says_comes_ahead_of_the_first_schedules(client: Client) -> None:
    client.initialise()
    op = "op f(X: f32[M, N]) -> Y: f32[M] {\n    Y[i] = sum(X[i, k] for k)\n}\n"
    scheduled = op + "schedule f for cpu {\n    parallel Y.k\n}\n"
    client.open(URI, scheduled)
    assert client.diagnostics(URI, 1) == []
    (refused,) = client.diagnostics(URI, 1)
    assert refused["range"]["start"]["line"] == 4
    assert refused["code"] == "race"
    client.change(URI, 2, {"text": scheduled.replace("parallel", "vectorize")})
    assert client.diagnostics(URI, 2) == []
