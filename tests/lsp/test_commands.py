"""Tests and benches run from the editor, with progress that can be cancelled."""

from __future__ import annotations

import pytest

from tests.lsp.client import Client, ServerError

URI = "file:///nowhere/sums.tdl"
TEXT = """\
op double(X: f32[N]) -> Y: f32[N] {
    Y[i] = 2 * X[i]
}
test right: double(X=[1, 2]) expect Y = [2, 4]
test wrong: double(X=[1, 2]) expect Y = [2, 5]
bench small: double(N=100)
bench long: double(N=1000)
"""
PROGRESS = {"window": {"workDoneProgress": True}}
CANCELLED = -32800


@pytest.fixture
def opened(client: Client) -> Client:
    client.initialise(PROGRESS)
    client.open(URI, TEXT)
    return client


def command(name: str, case: str, **more: object) -> dict:
    return {"command": f"tdl.{name}", "arguments": [{"uri": URI, "name": case, **more}]}


def test_commands_are_advertised(client: Client) -> None:
    provider = client.initialise()["capabilities"]["executeCommandProvider"]
    assert {"tdl.runTest", "tdl.runBench", "tdl.showPlan"} <= set(provider["commands"])


def test_a_test_that_passes(opened: Client) -> None:
    found = opened.request("workspace/executeCommand", command("runTest", "right"))
    assert found["passed"] is True
    assert opened.wait_for("window/showMessage") == {"type": 3, "message": "test right passed"}


def test_a_test_that_fails_names_the_element_and_both_values(opened: Client) -> None:
    found = opened.request("workspace/executeCommand", command("runTest", "wrong"))
    assert found["passed"] is False
    difference = found["difference"]
    assert (difference["element"], difference["found"], difference["expected"]) == ("Y[1]", "4", "5")
    assert opened.wait_for("window/showMessage")["type"] == 1


def test_a_bench_shows_progress_figures_and_the_change_since(opened: Client) -> None:
    first = opened.request("workspace/executeCommand", command("runBench", "small", seconds=0.01))
    assert first["flops"] > 0
    assert first["change"] is None
    token = opened.wait_for("window/workDoneProgress/create")["token"]
    kinds = [opened.wait_for("$/progress", lambda each: each["token"] == token)["value"]["kind"] for _ in range(3)]
    assert kinds == ["begin", "report", "report"]
    opened.wait_for("$/progress", lambda each: each["token"] == token and each["value"]["kind"] == "end")
    second = opened.request("workspace/executeCommand", command("runBench", "small", seconds=0.01))
    assert second["change"] > 0
    assert "since the last run" in second["message"]


def test_the_lens_shows_what_the_last_run_gave_until_the_program_changes(opened: Client) -> None:
    def titles() -> list[str]:
        lenses = opened.request("textDocument/codeLens", {"textDocument": {"uri": URI}})
        return [each["command"]["title"] for each in lenses if each["command"]["command"] == "tdl.runTest"]

    assert titles() == ["run test", "run test"]
    opened.request("workspace/executeCommand", command("runTest", "right"))
    assert titles() == ["run test · passed", "run test"]
    place = {"start": {"line": 1, "character": 11}, "end": {"line": 1, "character": 12}}
    opened.change(URI, 2, {"range": place, "text": "3"})
    assert titles() == ["run test", "run test"]


def test_a_bench_can_be_cancelled_by_its_progress_and_others_run_after_it(opened: Client) -> None:
    number = opened.ask("workspace/executeCommand", command("runBench", "long", seconds=10_000))
    token = opened.wait_for("window/workDoneProgress/create")["token"]
    opened.wait_for("$/progress", lambda each: "measuring long" in each["value"].get("message", ""))
    opened.notify("window/workDoneProgress/cancel", {"token": token})
    with pytest.raises(ServerError) as refused:
        opened.answer(number)
    assert refused.value.code == CANCELLED
    assert opened.request("workspace/executeCommand", command("runTest", "right"))["passed"] is True


def test_a_bench_can_be_cancelled_as_a_request(opened: Client) -> None:
    number = opened.ask("workspace/executeCommand", command("runBench", "long", seconds=10_000))
    opened.wait_for("$/progress", lambda each: "measuring long" in each["value"].get("message", ""))
    opened.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ServerError) as refused:
        opened.answer(number)
    assert refused.value.code == CANCELLED


def test_hover_answers_while_a_bench_runs(opened: Client) -> None:
    number = opened.ask("workspace/executeCommand", command("runBench", "long", seconds=10_000))
    opened.wait_for("$/progress", lambda each: "measuring long" in each["value"].get("message", ""))
    place = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 4}}
    assert "double" in str(opened.request("textDocument/hover", place))
    assert number not in opened.answers


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (command("runTest", "absent"), "there is no test `absent`"),
        (command("fly", "right"), r"there is no command `tdl\.fly`"),
        ({"command": "tdl.runTest", "arguments": []}, "takes one argument"),
        ({"command": "tdl.runTest", "arguments": [{"uri": URI}]}, "the name of a test"),
        (
            {"command": "tdl.runTest", "arguments": [{"uri": "file:///nowhere/gone.tdl", "name": "x"}]},
            "there is no file",
        ),
    ],
)
def test_commands_that_make_no_sense_are_refused(opened: Client, params: dict, words: str) -> None:
    with pytest.raises(ServerError, match=words):
        opened.request("workspace/executeCommand", params)


def test_a_program_with_errors_is_not_run(client: Client) -> None:
    client.initialise()
    client.open(URI, TEXT.replace("X[i]", "Z[i]"))
    with pytest.raises(ServerError, match="line 2 has an error: unknown tensor `Z`"):
        client.request("workspace/executeCommand", command("runTest", "right"))


def test_the_plan_opens_where_the_client_can_show_it(client: Client) -> None:
    client.initialise({"window": {"showDocument": {"support": True}}, "workspace": {"textDocumentContent": {}}})
    client.open(URI, TEXT)
    shown = client.request("workspace/executeCommand", command("showPlan", "double"))
    assert "for i in" in shown["text"]
    assert client.wait_for("window/showDocument")["uri"] == shown["uri"]


def test_a_quiet_bench_only_answers(opened: Client) -> None:
    found = opened.request("workspace/executeCommand", command("runBench", "small", seconds=0.01, quiet=True))
    assert found["flops"] > 0
    opened.request("workspace/executeCommand", command("runTest", "right"))
    assert opened.wait_for("window/showMessage")["message"] == "test right passed"


@pytest.mark.parametrize(("name", "case"), [("runTest", "right"), ("runBench", "small")])
def test_nothing_runs_where_the_editor_trusts_nothing(client: Client, name: str, case: str) -> None:
    client.initialise(options={"canRun": False})
    client.open(URI, TEXT)
    with pytest.raises(ServerError, match="does not trust this workspace"):
        client.request("workspace/executeCommand", command(name, case))
    status = client.request("tdl/status", {})
    assert status["workers"]["runs"] is None
    assert client.request("workspace/executeCommand", command("showPlan", "double"))["stage"] == "nest"
