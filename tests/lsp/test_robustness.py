"""What goes wrong around a server: processes that end, files that go, pipes that close, messages that are none."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from benchmarks.generate import generate
from tests.lsp.client import PATIENCE, Client, ServerError
from tests.lsp.processes import Watched, linux

URI = "file:///nowhere/a.tdl"
TEXT = "op double(X: f32[N]) -> Y: f32[N] {\n    Y[i] = 2 * X[i]\n}\nbench long: double(N=1000)\n"
LONG_URI = "file:///nowhere/long.tdl"
WRONG = TEXT.replace("X[i]", "Z[i]")
LONG = {"command": "tdl.runBench", "arguments": [{"uri": URI, "name": "long", "seconds": 10_000}]}
HOVER = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 4}}


def start_bench(client: Client) -> tuple[int, int]:
    """A bench under way: the number of the request, and the process of the worker."""
    client.initialise({"window": {"workDoneProgress": True}})
    client.open(URI, TEXT)
    number = client.ask("workspace/executeCommand", LONG)
    client.wait_for("$/progress", lambda each: "measuring long" in each["value"].get("message", ""))
    return number, client.request("tdl/status", None)["workers"]["runs"]


# ---- the worker


def test_a_worker_that_is_killed_is_a_message_and_another_one_starts(client: Client) -> None:
    number, worker = start_bench(client)
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(ServerError, match="ended unexpectedly"):
        client.answer(number)
    assert "double" in str(client.request("textDocument/hover", HOVER))
    short = {"command": "tdl.runBench", "arguments": [{"uri": URI, "name": "long", "seconds": 0}]}
    assert client.request("workspace/executeCommand", short)["flops"] > 0


@linux
def test_a_worker_that_is_killed_while_it_waits_is_replaced(client: Client) -> None:
    client.initialise()
    client.open(URI, TEXT)
    first = client.request("tdl/preview", {**HOVER, "stage": "nest"})
    worker = client.request("tdl/status", None)["workers"]["code"]
    watched = Watched(worker)
    os.kill(worker, signal.SIGKILL)
    assert watched.ends()
    assert client.request("tdl/preview", {**HOVER, "stage": "nest"}) == first
    assert client.request("tdl/status", None)["workers"]["code"] != worker


def test_a_worker_that_is_killed_in_a_preview_is_a_message(client: Client) -> None:
    client.initialise()
    client.open(URI, TEXT)
    client.request("tdl/preview", {**HOVER, "stage": "nest"})
    worker = client.request("tdl/status", None)["workers"]["code"]
    os.kill(worker, signal.SIGSTOP)
    number = client.ask("tdl/preview", {**HOVER, "stage": "asm"})
    assert "double" in str(client.request("textDocument/hover", HOVER))
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(ServerError, match="ended unexpectedly; the next request starts another"):
        client.answer(number)
    assert "double.kernel" in client.request("tdl/preview", {**HOVER, "stage": "asm"})["text"]


@linux
def test_no_worker_stays_when_the_client_closes_its_pipe(client: Client) -> None:
    _, worker = start_bench(client)
    watched = Watched(worker)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(timeout=PATIENCE) == 1
    assert watched.ends()


@linux
def test_no_worker_stays_when_the_server_is_killed(client: Client) -> None:
    _, worker = start_bench(client)
    watched = Watched(worker)
    client.process.kill()
    assert watched.ends()


@linux
def test_no_worker_stays_after_an_orderly_exit(client: Client) -> None:
    client.initialise()
    client.open(URI, TEXT)
    client.request("tdl/preview", {**HOVER, "stage": "nest"})
    watched = Watched(client.request("tdl/status", None)["workers"]["code"])
    assert client.close() == 0
    assert watched.ends()


def test_a_preview_that_is_cancelled_makes_way_for_the_next(client: Client) -> None:
    client.initialise()
    client.open(URI, TEXT)
    number = client.ask("tdl/preview", {**HOVER, "stage": "asm"})
    client.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ServerError) as refused:
        client.answer(number)
    assert refused.value.code == -32800
    assert "for i in" in client.request("tdl/preview", {**HOVER, "stage": "nest"})["text"]


# ---- messages


def test_messages_that_are_none_are_passed_over(client: Client) -> None:
    client.initialise()
    for body in (b"{", b"[]", b"7", b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "id": 900, "result": 1}'):
        client.send_bytes(b"Content-Type: text/plain\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
    client.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": 3}, "contentChanges": []})
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    client.notify("$/unheardOf", {})
    client.notify("$/cancelRequest", {"id": 77})
    client.open(URI, TEXT)
    assert "double" in str(client.request("textDocument/hover", HOVER))


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("textDocument/hover", {"textDocument": {"uri": URI}}, -32602),
        ("textDocument/hover", {"textDocument": {"uri": 7}, "position": []}, -32602),
        ("textDocument/hover", {**HOVER, "textDocument": {"uri": "file:///gone.tdl"}}, -32803),
        ("tdl/preview", None, -32803),
        ("tdl/preview", {"textDocument": 7}, -32803),
        ("tdl/unheardOf", {}, -32601),
        ("textDocument/unheardOf", {}, -32601),
    ],
)
def test_requests_that_make_no_sense_are_refused(client: Client, method: str, params: object, code: int) -> None:
    client.initialise()
    client.open(URI, TEXT)
    with pytest.raises(ServerError) as refused:
        client.request(method, params)
    assert refused.value.code == code


@pytest.mark.parametrize(("method", "params"), [("textDocument/hover", HOVER), ("shutdown", None)])
def test_nothing_is_answered_after_a_shutdown(client: Client, method: str, params: object) -> None:
    client.initialise()
    client.request("shutdown", None)
    with pytest.raises(ServerError, match="shut down"):
        client.request(method, params)
    client.notify("exit", None)
    assert client.process.wait(timeout=PATIENCE) == 0


def test_an_exit_without_a_shutdown_is_a_fault_of_the_client(client: Client) -> None:
    client.initialise()
    client.notify("exit", None)
    assert client.process.wait(timeout=PATIENCE) == 1


# ---- requests that are overtaken


def busy(client: Client) -> int:
    """A request that keeps the server busy while what is sent after it arrives."""
    client.initialise()
    client.open(URI, TEXT)
    client.diagnostics(URI, 1)
    client.open(LONG_URI, generate(300))
    return client.ask("textDocument/foldingRange", {"textDocument": {"uri": LONG_URI}})


def test_a_request_that_waits_can_be_cancelled(client: Client) -> None:
    before = busy(client)
    number = client.ask("textDocument/hover", HOVER)
    client.notify("$/cancelRequest", {"id": number})
    with pytest.raises(ServerError) as refused:
        client.answer(number)
    assert refused.value.code == -32800
    assert client.answer(before)
    client.notify("$/cancelRequest", {"id": number})
    assert "double" in str(client.request("textDocument/hover", HOVER))


def test_an_answer_about_a_text_that_is_gone_is_not_given(client: Client) -> None:
    before = busy(client)
    number = client.ask("textDocument/hover", HOVER)
    client.change(URI, 2, {"text": WRONG})
    with pytest.raises(ServerError, match="was edited since") as refused:
        client.answer(number)
    assert refused.value.code == -32801
    assert client.answer(before)
    assert "double" in str(client.request("textDocument/hover", HOVER))


def test_a_preview_of_a_text_that_is_gone_is_not_given(client: Client) -> None:
    client.initialise()
    client.open(URI, TEXT)
    client.request("tdl/preview", {**HOVER, "stage": "nest"})
    worker = client.request("tdl/status", None)["workers"]["code"]
    os.kill(worker, signal.SIGSTOP)
    number = client.ask("tdl/preview", {**HOVER, "stage": "asm"})
    assert "double" in str(client.request("textDocument/hover", HOVER))
    client.change(URI, 2, {"text": TEXT.replace("2 *", "3 *")})
    client.diagnostics(URI, 2)
    os.kill(worker, signal.SIGCONT)
    with pytest.raises(ServerError, match="was edited since") as refused:
        client.answer(number)
    assert refused.value.code == -32801


# ---- files


def test_a_file_outside_of_the_workspace(client: Client, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "other.tdl").write_text(f"const {folder.name.upper()}: f32 = 1\n", encoding="utf-8")
    main = outside / "main.tdl"
    client.initialise(folder=inside)
    client.open(main.as_uri(), "from other import OUTSIDE\nop f(X: f32[N]) -> Y: f32[N] { Y[i] = OUTSIDE * X[i] }\n")
    assert client.diagnostics(main.as_uri()) == []
    place = {"textDocument": {"uri": main.as_uri()}, "position": {"line": 0, "character": 20}}
    (found,) = client.request("textDocument/definition", place)
    assert found["uri"] == (outside / "other.tdl").as_uri()
    names = {each["name"] for each in client.request("workspace/symbol", {"query": ""})}
    assert names == {"f", "INSIDE"}


def test_a_file_that_is_too_long_to_check_says_so_and_holds_nothing_up(client: Client, tmp_path: Path) -> None:
    long = tmp_path / "long.tdl"
    text = f"# {'-' * 98}\n{TEXT}" * (5_000_000 // 200)
    long.write_text(text, encoding="utf-8")
    client.initialise(folder=tmp_path)
    client.open(long.as_uri(), text)
    (found,) = client.diagnostics(long.as_uri(), 1)
    assert "the server checks at most 500,000" in found["message"]
    assert found["severity"] == 3
    client.change(long.as_uri(), 2, {"range": found["range"], "text": "# 1\n"})
    client.diagnostics(long.as_uri(), 2)
    (document,) = client.request("tdl/status", None)["documents"]
    assert document["text"] == f"# 1\n{text}"
    place = {"textDocument": {"uri": long.as_uri()}, "position": {"line": 2, "character": 4}}
    for method in ("hover", "formatting", "semanticTokens/full", "documentSymbol"):
        options = {"tabSize": 4, "insertSpaces": True}
        assert client.request(f"textDocument/{method}", {**place, "options": options}) is None
    with pytest.raises(ServerError, match="Split it into modules"):
        client.request("tdl/preview", {**place, "stage": "nest"})
    assert client.request("workspace/symbol", {"query": "double"}) == []
    client.open((tmp_path / "main.tdl").as_uri(), "import long\n")
    (found,) = client.diagnostics((tmp_path / "main.tdl").as_uri())
    assert "`long` cannot be read: this text is not checked" in found["message"]


def test_a_file_that_is_no_text(client: Client, tmp_path: Path) -> None:
    data = bytes(range(256)) * 40
    (tmp_path / "picture.tdl").write_bytes(data)
    main = tmp_path / "main.tdl"
    client.initialise({"textDocument": {"diagnostic": {}}}, folder=tmp_path)
    client.open(main.as_uri(), "import picture\n")
    (found,) = client.request("textDocument/diagnostic", {"textDocument": {"uri": main.as_uri()}})["items"]
    assert "`picture` cannot be read: the file is not UTF-8: byte 0x80 at offset 128" in found["message"]
    report = client.request("workspace/diagnostic", {"previousResultIds": []})
    assert [each["uri"] for each in report["items"]] == [main.as_uri()]
    picture = {"textDocument": {"uri": (tmp_path / "picture.tdl").as_uri()}}
    client.open(picture["textDocument"]["uri"], data.decode("utf-8", "replace"))
    assert client.request("textDocument/diagnostic", picture)["items"] != []
    assert "data" in client.request("textDocument/semanticTokens/full", picture)


def test_unsaved_imports_count_and_a_deleted_one_is_missed(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "größe"
    folder.mkdir(parents=True)
    other, main = folder / "other.tdl", folder / "main.tdl"
    other.write_text("fn twice(x: f32) -> f32 = 2 * x\n", encoding="utf-8")
    main.write_text(
        "from other import twice, thrice\nop f(X: f32[N]) -> Y: f32[N] {\n    Y[i] = twice(X[i])\n}\n", encoding="utf-8"
    )
    client.initialise(folder=folder)
    client.open(main.as_uri(), main.read_text(encoding="utf-8"))
    (found,) = client.diagnostics(main.as_uri())
    assert "declares no `thrice`" in found["message"]
    more = other.read_text(encoding="utf-8") + "fn thrice(x: f32) -> f32 = 3 * x\n"
    client.open(other.as_uri(), more)
    assert client.diagnostics(main.as_uri()) == []
    client.notify("textDocument/didClose", {"textDocument": {"uri": other.as_uri()}})
    assert len(client.diagnostics(main.as_uri())) == 1
    other.unlink()
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": other.as_uri(), "type": 3}]})
    (found,) = client.diagnostics(main.as_uri())
    assert "there is no `other`" in found["message"]


def test_a_document_whose_file_was_deleted_is_still_answered(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "gone.tdl"
    path.write_text(TEXT, encoding="utf-8")
    client.initialise()
    client.open(path.as_uri(), TEXT)
    path.unlink()
    place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 0, "character": 4}}
    assert "double" in str(client.request("textDocument/hover", place))
    client.notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    with pytest.raises(ServerError, match="there is no file"):
        client.request("textDocument/hover", place)


def test_documents_that_are_not_files(client: Client) -> None:
    client.initialise()
    client.open("untitled:Untitled-1", f"import other\n{WRONG}")
    messages = [each["message"] for each in client.diagnostics("untitled:Untitled-1")]
    assert any("unknown tensor `Z`" in each for each in messages)
    assert any("there is no `other`" in each for each in messages)


def test_lines_that_end_as_on_windows(client: Client) -> None:
    client.initialise()
    client.open(URI, WRONG.replace("\n", "\r\n"))
    (found,) = client.diagnostics(URI, 1)
    assert found["range"]["start"] == {"line": 1, "character": 15}
    client.change(URI, 2, {"range": found["range"], "text": "X"})
    assert client.diagnostics(URI, 2) == []
    (document,) = client.request("tdl/status", None)["documents"]
    assert document["text"] == TEXT.replace("\n", "\r\n")


def test_two_clients_on_one_folder(tmp_path: Path) -> None:
    shared = (tmp_path / "shared.tdl").as_uri()
    with Client.start(tmp_path / "1.log") as one, Client.start(tmp_path / "2.log") as two:
        for client, text in ((one, TEXT), (two, WRONG)):
            client.initialise(folder=tmp_path)
            client.open(shared, text)
        assert one.diagnostics(shared) == []
        assert len(two.diagnostics(shared)) == 1
        assert one.close() == 0
        place = {"textDocument": {"uri": shared}, "position": {"line": 0, "character": 4}}
        assert "double" in str(two.request("textDocument/hover", place))


# ---- clients


@pytest.mark.parametrize(
    ("offered", "chosen", "column"),
    [(None, "utf-16", 19), (["utf-8", "utf-16"], "utf-8", 22), (["utf-32"], "utf-32", 18), (["utf-7"], "utf-16", 19)],
)
def test_the_encoding_of_places_is_negotiated(
    client: Client, offered: list[str] | None, chosen: str, column: int
) -> None:
    answer = client.initialise({} if offered is None else {"general": {"positionEncodings": offered}})
    assert answer["capabilities"]["positionEncoding"] == chosen
    client.open(URI, "op f(X: f32[N]) -> Y: f32[N] {  # 𝄞\n    Y[i] = X[i] + (nan  # 𝄞\n        + Z[i])\n}\n")
    client.diagnostics(URI, 1)
    end = {"line": 1, "character": column + 9}
    client.change(URI, 2, {"range": {"start": end, "end": end}, "text": "!"})
    (document,) = client.request("tdl/status", None)["documents"]
    assert "𝄞!\n        +" in document["text"]


def test_a_client_that_pulls_is_not_pushed_to(client: Client) -> None:
    client.initialise({"textDocument": {"diagnostic": {}}})
    client.open(URI, WRONG)
    report = client.request("textDocument/diagnostic", {"textDocument": {"uri": URI}})
    assert [each["code"] for each in report["items"]] == ["unknown-name"]
    again = {"textDocument": {"uri": URI}, "previousResultId": report["resultId"]}
    assert client.request("textDocument/diagnostic", again)["kind"] == "unchanged"
    assert client.close() == 0
    assert not [each for each in client.seen if each["method"] == "textDocument/publishDiagnostics"]


def test_the_whole_workspace_is_diagnosed(client: Client, tmp_path: Path) -> None:
    (tmp_path / "good.tdl").write_text(TEXT, encoding="utf-8")
    (tmp_path / "bad.tdl").write_text(WRONG, encoding="utf-8")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "bad.tdl").write_text(WRONG, encoding="utf-8")
    client.initialise({"textDocument": {"diagnostic": {}}}, folder=tmp_path)
    report = client.request("workspace/diagnostic", {"previousResultIds": []})
    found = {each["uri"].rpartition("/")[2]: len(each["items"]) for each in report["items"]}
    assert found == {"bad.tdl": 1, "good.tdl": 0}
    previous = [{"uri": each["uri"], "value": each["resultId"]} for each in report["items"]]
    again = client.request("workspace/diagnostic", {"previousResultIds": previous})
    assert {each["kind"] for each in again["items"]} == {"unchanged"}


def test_nothing_is_answered_before_a_session(client: Client) -> None:
    with pytest.raises(ServerError, match="not initialised"):
        client.request("textDocument/hover", HOVER)
    client.open(URI, TEXT)
    client.initialise()
    with pytest.raises(ServerError, match="it is not open"):
        client.request("textDocument/hover", HOVER)


# ---- ports for development


def listening(*arguments: str) -> tuple[subprocess.Popen[bytes], int]:
    """A server that waits for a client, and the port that it took."""
    process = Client.launch(*arguments, stderr=subprocess.PIPE)
    assert process.stderr is not None
    for line in process.stderr:
        if b"listening on" in line:
            return process, int(line.rpartition(b":")[2])
    raise AssertionError("the server went before it listened")


def test_a_port(tmp_path: Path) -> None:
    process, port = listening("--tcp", "0")
    with process, socket.create_connection(("127.0.0.1", port)) as peer:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}).encode()
        peer.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        assert peer.recv(16).startswith(b"Content-Length")
        peer.close()
        assert process.wait(timeout=PATIENCE) == 1


def test_a_web_socket() -> None:
    from websockets.sync.client import connect

    process, port = listening("--ws", "127.0.0.1:0")
    with process, connect(f"ws://127.0.0.1:{port}") as peer:
        peer.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}))
        assert json.loads(peer.recv(timeout=PATIENCE))["result"]["serverInfo"]["name"] == "tdlc"
        peer.close()
        assert process.wait(timeout=PATIENCE) == 0
