"""Changes of the text over the pipe: what is offered, tried in a process beside the server, and `tdl/tweaks`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.client import Client, ServerError

URI = "file:///nowhere/f.tdl"
CAN = {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}}
WITH_VERSIONS = {"textDocument": CAN, "workspace": {"workspaceEdit": {"documentChanges": True}}}
TEXT = """\
op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
schedule mm for cpu {
    split C.i by 8 -> io, ii
    unroll ii
}
test small: mm(M=24, K=3, N=5)
"""


def spot(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def actions(client: Client, line: int, character: int, **context: Any) -> Any:
    place = {"start": spot(line, character), "end": spot(line, character)}
    context = {"diagnostics": [], **context}
    return client.request("textDocument/codeAction", {"textDocument": {"uri": URI}, "range": place, "context": context})


def tweaks(client: Client, line: int, character: int, **more: Any) -> Any:
    return client.request("tdl/tweaks", {"textDocument": {"uri": URI}, "position": spot(line, character), **more})


def text_after(text: str, edit: Any) -> str:
    """A text after edits of single lines, in an encoding where a character is a unit."""
    (change,) = edit["documentChanges"]
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    for each in sorted(change["edits"], key=lambda each: str(each["range"]["start"]), reverse=True):
        start, end = (starts[each["range"][end]["line"]] + each["range"][end]["character"] for end in ("start", "end"))
        text = text[:start] + each["newText"] + text[end:]
    return text


def test_an_edit_is_for_the_version_that_it_was_made_of(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, TEXT, 3)
    found = actions(client, 2, 17, only=["refactor.rewrite"])
    larger = next(each for each in found if each["title"] == "change 8 to 12, which divides 24")
    (change,) = larger["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": URI, "version": 3}
    assert "by 12 ->" in text_after(TEXT, larger["edit"])


def test_kinds_that_are_not_asked_for_are_not_tried(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, TEXT)
    assert actions(client, 2, 17, only=["quickfix"]) == []
    assert {each["kind"] for each in actions(client, 3, 6, only=["refactor.move"])} <= {"refactor.move"}
    assert actions(client, 2, 17, only=["source"]) == []


def test_a_fix_names_the_error_that_it_mends(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, TEXT.replace("unroll ii", "unroll iii"))
    (fix,) = (each for each in actions(client, 3, 12) if each.get("isPreferred"))
    assert fix["title"] == "change to `ii`"
    assert [each["code"] for each in fix["diagnostics"]] == ["unknown-loop"]


def test_tweaks_say_what_may_be_done_and_why_not(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, TEXT, 5)
    found = tweaks(client, 5, 8)
    assert (found["op"], found["version"], found["schedule"]["head"]) == ("mm", 5, "schedule mm for cpu")
    assert [line["text"] for line in found["lines"]] == ["split C.i by 8 -> io, ii", "unroll ii"]
    assert [(loop["name"], loop["depth"], loop["kind"]) for loop in found["loops"]] == [
        ("io", 0, "serial"),
        ("ii", 1, "unrolled"),
        ("C.j", 2, "serial"),
        ("C.k", 3, "serial"),
    ]
    moves = {(loop["name"], move["id"]): move for loop in found["loops"] for move in loop["moves"]}
    assert moves["C.k", "parallel"]["edit"] is None
    assert "two of its iterations" in moves["C.k", "parallel"]["why"]
    assert text_after(TEXT, moves["io", "parallel"]["edit"]) == TEXT.replace("ii\n}", "ii\n    parallel io\n}")
    (factor,) = found["factors"]
    assert factor["value"] == 8
    assert {each["value"] for each in factor["legal"] if each["divides"]} >= {4, 6, 12}
    (orders,) = (each for each in found["reorders"] if each["loop"] == "C.j")
    assert [each["index"] for each in orders["targets"]] == [0, 1, 3]


def test_tweaks_of_no_op_and_of_a_broken_one(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, "const N = 4\n" + TEXT.replace("A[i, k]", "A[i]"))
    assert tweaks(client, 0, 3) is None
    found = tweaks(client, 3, 8)
    assert [line["moves"] for line in found["lines"]] == [[], []]
    assert found["loops"] == found["factors"] == found["reorders"] == []
    with pytest.raises(ServerError, match="a position is"):
        client.request("tdl/tweaks", {"textDocument": {"uri": URI}})


def test_an_answer_is_never_of_another_text_than_it_says(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, TEXT)
    for version in range(2, 8):
        number = client.ask("tdl/tweaks", {"textDocument": {"uri": URI}, "position": spot(2, 8)})
        client.change(URI, version, {"text": TEXT.replace("by 8", f"by {version}")})
        with suppress(ServerError):  # the document was edited on the way
            found = client.answer(number)
            tile = 8 if found["version"] == 1 else found["version"]
            assert found["lines"][0]["text"] == f"split C.i by {tile} -> io, ii"


def test_a_cancelled_answer_leaves_the_process_to_the_next(client: Client, tmp_path: Path) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, TEXT)
    actions(client, 2, 17)
    process = client.request("tdl/status", None)["workers"]["tries"]
    number = client.ask("tdl/tweaks", {"textDocument": {"uri": URI}, "position": spot(2, 8)})
    client.notify("$/cancelRequest", {"id": number})
    assert actions(client, 3, 6) != []
    assert client.request("tdl/status", None)["workers"]["tries"] == process


def test_tweaks_write_a_schedule_where_there_is_none(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    text = TEXT.split("schedule")[0]
    client.open(URI, text)
    found = tweaks(client, 0, 5)
    assert found["schedule"] is None
    assert found["lines"] == found["loops"] == []
    first = found["write"][0]
    assert "apply matrix_product(C, i, j, k, B)" in text_after(text, first["edit"])


def test_a_client_that_knows_commands_alone_has_them_made_by_the_server(client: Client) -> None:
    client.initialise({"workspace": {"applyEdit": True}})
    client.open(URI, TEXT)
    larger = next(each for each in actions(client, 2, 17) if each["title"] == "change 8 to 12, which divides 24")
    assert (larger["command"], larger["arguments"][0]["name"]) == ("tdl.applyEdit", larger["title"])
    client.request("workspace/executeCommand", {"command": larger["command"], "arguments": larger["arguments"]})
    asked = client.wait_for("workspace/applyEdit")
    assert asked["label"] == larger["title"]
    ((edit,),) = asked["edit"]["changes"].values()
    assert edit["newText"] == "12"


def test_a_lens_writes_a_schedule(client: Client) -> None:
    client.initialise({"workspace": {"applyEdit": True}})
    client.open(URI, TEXT.split("schedule")[0])
    lenses = client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
    write = next(each["command"] for each in lenses if each["command"]["title"] == "write a schedule")
    client.request("workspace/executeCommand", {"command": write["command"], "arguments": write["arguments"]})
    (edits,) = client.wait_for("workspace/applyEdit")["edit"]["changes"].values()
    assert any("apply matrix_product(C, i, j, k, B)" in each["newText"] for each in edits)
    client.open(URI, TEXT)
    with pytest.raises(ServerError, match="has a schedule already"):
        client.request("workspace/executeCommand", {"command": write["command"], "arguments": write["arguments"]})


def test_an_edit_is_not_given_to_a_client_that_takes_none(client: Client) -> None:
    client.initialise()
    client.open(URI, TEXT.split("schedule")[0])
    assert actions(client, 0, 4) is None
    lenses = client.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
    assert [each["command"]["title"] for each in lenses] == ["loops", "assembly"]
    command = {"command": "tdl.writeSchedule", "arguments": [{"uri": URI, "name": "mm"}]}
    with pytest.raises(ServerError, match="takes no edits"):
        client.request("workspace/executeCommand", command)


def test_tweaks_in_parts(client: Client) -> None:
    client.initialise(WITH_VERSIONS)
    client.open(URI, TEXT)
    whole = tweaks(client, 2, 8)
    assert tweaks(client, 2, 8, parts=["lines", "factors"]) == {**whole, "loops": [], "reorders": []}
    of_one = tweaks(client, 2, 8, parts=["loops", "reorders"], loop="C.j")
    assert of_one["lines"] == []
    assert [each["moves"] for each in of_one["loops"]] == [
        each["moves"] if each["name"] == "C.j" else [] for each in whole["loops"]
    ]
    assert of_one["reorders"] == [each for each in whole["reorders"] if each["loop"] == "C.j"]


def test_a_client_that_answers_nonsense_to_an_edit(client: Client) -> None:
    client.initialise({"workspace": {"applyEdit": True}})
    client.open(URI, TEXT.split("schedule")[0])
    client.applying = None
    with pytest.raises(ServerError, match="did not make the edit"):
        client.request(
            "workspace/executeCommand", {"command": "tdl.writeSchedule", "arguments": [{"uri": URI, "name": "mm"}]}
        )
