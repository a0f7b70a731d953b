"""Signatures over the pipe, as VS Code asks and as a client that can do next to nothing does; the forms of lines."""

from __future__ import annotations

from typing import Any

import pytest
from tdl.language.schedules.lines import LINES
from tdl.lsp.calls.lines import FORMS

from tests.lsp.client import Client

URI = "file:///project/main.tdl"
TEXT = """\
fn mix(a: f32, b: f32, t: f32) -> f32 = a + (b - a) * t
op f(X: f32[N]) -> Y: f32[N] {
    Y[i] = mix(X[i], 1,
}
schedule f { split Y.i
"""
VSCODE: dict[str, Any] = {
    "textDocument": {
        "signatureHelp": {
            "contextSupport": True,
            "signatureInformation": {
                "documentationFormat": ["markdown", "plaintext"],
                "parameterInformation": {"labelOffsetSupport": True},
                "activeParameterSupport": True,
            },
        }
    }
}


def ask(client: Client, line: int, character: int) -> Any:
    position = {"line": line, "character": character}
    return client.request("textDocument/signatureHelp", {"textDocument": {"uri": URI}, "position": position})


def test_vs_code_has_the_places_of_parameters(client: Client) -> None:
    client.initialise(VSCODE)
    assert client.capabilities["signatureHelpProvider"]["triggerCharacters"] == ["(", "[", ",", " "]
    client.open(URI, TEXT)
    answer = ask(client, 2, 23)
    (signature,) = answer["signatures"]
    start, end = signature["parameters"][answer["activeParameter"]]["label"]
    assert signature["label"][start:end] == "t: f32"


def test_the_least_client_has_their_texts(client: Client) -> None:
    client.initialise({})
    client.open(URI, TEXT)
    answer = ask(client, 2, 15)
    (signature,) = answer["signatures"]
    assert [each["label"] for each in signature["parameters"]] == ["a: f32", "b: f32", "t: f32"]
    assert answer["activeParameter"] == 0


def test_a_line_is_followed_as_it_is_typed(client: Client) -> None:
    client.initialise(VSCODE)
    client.open(URI, TEXT)
    active = []
    for version, typed in enumerate((" ", "into ", "4 ", "-> "), 2):
        end = {"line": 4, "character": 200}
        client.change(URI, version, {"range": {"start": end, "end": end}, "text": typed})
        answer = ask(client, 4, 200)
        active.append((answer["signatures"][answer["activeSignature"]]["label"].split()[2], answer["activeParameter"]))
    assert active == [("by", 0), ("into", 1), ("into", 1), ("into", 2)]


@pytest.mark.parametrize("verb", sorted(LINES))
def test_the_forms_of_a_line_have_all_its_clauses(verb: str) -> None:
    words = {word for form in FORMS[verb] for word in form.split()}
    assert all(form.split()[0] == verb for form in FORMS[verb])
    assert {clause.keyword for clause in LINES[verb].clauses} - {"layout"} <= words


def test_no_form_is_of_no_line() -> None:
    assert FORMS.keys() == LINES.keys()
