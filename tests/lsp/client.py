"""A client at the other end of a pipe: it starts `tdlc lsp`, asks, and waits for messages, never for time.

with Client.start() as client:
    client.initialise()
    client.open("file:///a.tdl", "op f() -> Y: f32 { Y = x }")
    client.diagnostics("file:///a.tdl")
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

Message = dict[str, Any]

PATIENCE = 60
"""Seconds after which a message that was waited for will not come."""

ROOT = Path(__file__).parents[2]


class ServerError(Exception):
    """The server refused a request."""

    def __init__(self, error: Message) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Client:
    """`seen` holds every notification and request of the server that was not waited for yet."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log
        self.seen: list[Message] = []
        self.answers: dict[int, Message] = {}
        self.capabilities: Message = {}
        self.applying: Any = {"applied": True}
        """What is answered to a server that has an edit made."""
        self.settings: Any = None  # what the client answers to `workspace/configuration`
        self._next = 0
        self._messages: Queue[Message | None] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    @staticmethod
    def launch(*arguments: str, stderr: Any) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tdl.compiler.cli.main", "lsp", *arguments]
        paths = [str(ROOT / each) for each in ("grammar", "language", "compiler", "lsp")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment)

    @classmethod
    def start(cls, log: Path, *arguments: str) -> Client:
        """Start a server; what it logs goes to a file."""
        with log.open("wb") as stream:
            return cls(cls.launch(*arguments, stderr=stream), log)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin is not None
        self.process.stdin.close()

    # ---- messages

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = int(header.partition(b":")[2])
            while stream.readline().strip():
                pass
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    def send(self, message: Message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def notify(self, method: str, params: object) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: object) -> int:
        """Send a request; its answer is waited for by the number."""
        self._next += 1
        self.send({"id": self._next, "method": method, "params": params})
        return self._next

    def answer(self, number: int) -> Any:
        while number not in self.answers:
            self._take()
        message = self.answers.pop(number)
        if "error" in message:
            raise ServerError(message["error"])
        return message.get("result")

    def request(self, method: str, params: object) -> Any:
        return self.answer(self.ask(method, params))

    def poll(self) -> None:
        """Take what has come, without waiting for more."""
        while not self._messages.empty():
            self._take()

    def wait_for(self, method: str, is_it: Callable[[Any], bool] = lambda _: True) -> Any:
        """The parameters of the first message of a method that is the one."""
        while True:
            for message in self.seen:
                if message["method"] == method and is_it(message.get("params")):
                    self.seen.remove(message)
                    return message.get("params")
            self._take()

    def _take(self) -> None:
        try:
            message = self._messages.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(f"nothing came; the log says:\n{self.log.read_text()}") from None
        if message is None:
            raise EOFError(f"the server went; the log says:\n{self.log.read_text()}")
        if "method" not in message:
            self.answers[message["id"]] = message
            return
        self.seen.append(message)
        if "id" in message:
            results = {"workspace/configuration": [self.settings], "workspace/applyEdit": self.applying}
            self.send({"id": message["id"], "result": results.get(message["method"])})

    # ---- sessions

    def initialise(
        self, capabilities: Message | None = None, folder: Path | None = None, options: Message | None = None
    ) -> Message:
        folders = None if folder is None else [{"uri": folder.as_uri(), "name": folder.name}]
        params = {
            "processId": os.getpid(),
            "rootUri": None,
            "capabilities": capabilities or {},
            "workspaceFolders": folders,
            "initializationOptions": options,
        }
        result: Message = self.request("initialize", params)
        self.capabilities = result["capabilities"]
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, version: int = 1) -> None:
        item = {"uri": uri, "languageId": "tdl", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Message) -> None:
        self.notify(
            "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes}
        )

    def diagnostics(self, uri: str, version: int | None = None) -> list[Message]:
        """What is pushed for a document, of a version or of any."""
        params = self.wait_for(
            "textDocument/publishDiagnostics",
            lambda each: each["uri"] == uri and version in (None, each.get("version")),
        )
        found: list[Message] = params["diagnostics"]
        return found

    def close(self) -> int:
        """Shut the server down as a client should; gives its exit code."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(timeout=PATIENCE)
