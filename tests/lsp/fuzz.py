"""A client that edits at random, asks everything, and knows at every moment what the server must have.

    python -m tests.lsp.fuzz --encoding utf-16 --first 7 --last 7

A session is a row of rounds. Each starts from programs as they are in `tests/programs`, and what happens in it follows
from its number, so that a round that failed can be run again without those before it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lsprotocol import types
from tdl.lsp.features.diagnostics import diagnostics
from tdl.lsp.features.table import DOCUMENT_FEATURES, WORKSPACE_FEATURES
from tdl.lsp.positions import Encoding
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace

from tests.lsp.client import Client, ServerError
from tests.lsp.mirror import WIDTHS, Edit, Mirror

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.tdl"))
EDITS = 50
"""Edits in a round."""

ASKED = 5
"""Features asked after each of them."""

PIECES = (
    " ", "\n", "\r\n", "\r", "\t", "\f", "\u2028", "\x85", "\0", "é", "∑", "𝄞", "e\u0301", "\ud800", "\ufeff", "op f",
    "(", ")", "[", "]", "{", "}", ",", "..", "->", "=", "+=", ":", "i", "X", "8", "0.5", "# ", "## ", '"', "for i",
    "if", "sum(", "split", "by", "reorder", "vectorize", "parallel", "apply", "cache", "at", "as", "import", "from",
    "op g(X: f32[N]) -> Y: f32[N] {\n    Y[i] = X[i]\n}\n", "schedule g for cpu {\n    split Y.i by 8\n}\n",
)  # fmt: skip
"""What is typed and pasted."""

REQUEST_FAILED = -32803


class Round:
    """One round of a session."""

    def __init__(self, client: Client, folder: Path, encoding: str, number: int) -> None:
        self.client = client
        self.folder = folder
        self.encoding = encoding
        self.random = random.Random(f"{encoding} {number}")
        self.asked: set[str] = set()
        self.open: dict[str, Mirror] = {}
        self.tokens: dict[str, tuple[str, list[int]]] = {}
        line_end = self.random.choice(("\n", "\n", "\r\n", "\r"))
        for path in PROGRAMS:
            text = path.read_text(encoding="utf-8").replace("\n", line_end)
            (folder / path.name).write_bytes(text.encode())
        changes = [{"uri": (folder / path.name).as_uri(), "type": 2} for path in PROGRAMS]
        client.notify("workspace/didChangeWatchedFiles", {"changes": changes})

    def run(self, edits: int = EDITS) -> None:
        self.document((self.folder / self.random.choice(PROGRAMS).name).as_uri())
        for _ in range(edits):
            mirror = self.random.choice(list(self.open.values()))
            self.edit(mirror)
            self.compare()
            for _ in range(ASKED):
                self.ask_something(mirror)
            self.forget_messages()
        self.compare_diagnostics()
        for mirror in self.open.values():
            self.client.notify("textDocument/didClose", {"textDocument": {"uri": mirror.uri}})

    # ---- edits

    def document(self, uri: str) -> Mirror:
        """An open document; one that is not is opened as it is on disk."""
        if uri not in self.open:
            path = self.folder / uri.rpartition("/")[2]
            mirror = Mirror(uri, path.read_bytes().decode(), self.encoding)
            self.open[uri] = mirror
            self.client.open(uri, mirror.text)
        return self.open[uri]

    def edit(self, mirror: Mirror) -> None:
        kinds: list[tuple[int, Callable[[Mirror], None]]] = [
            (8, self.type), (4, self.cursors), (3, self.undo), (2, self.rename), (1, self.format), (1, self.act),
            (1, self.replace_all), (1, self.reopen), (1, self.visit),
        ]  # fmt: skip
        (chosen,) = self.random.choices([each for _, each in kinds], [weight for weight, _ in kinds])
        chosen(mirror)

    def change(self, mirror: Mirror, edits: list[Edit]) -> None:
        self.send(mirror, mirror.apply(edits))

    def send(self, mirror: Mirror, changes: list[dict[str, Any]]) -> None:
        self.client.change(mirror.uri, mirror.version, *changes)

    def some_edit(self, length: int) -> Edit:
        start = self.random.randrange(length + 1)
        end = min(length, start + self.random.choice((0, 0, 0, 1, 2, 5, 40)))
        return Edit(start, end, self.random.choice(("", *PIECES)))

    def type(self, mirror: Mirror) -> None:
        """One edit; one that reaches the end of its line may say so by a place far beyond it."""
        edit = self.some_edit(len(mirror.text))
        is_at_end = mirror.text[mirror.whole(edit.end) : edit.end + 1].strip("\r\n") == ""
        (change,) = mirror.apply([edit])
        if is_at_end and self.random.random() < 0.3:
            change["range"]["end"]["character"] += 1000
        self.send(mirror, [change])

    def cursors(self, mirror: Mirror) -> None:
        """Several edits in one notification: bottom up as editors send them, or in any order."""
        if self.random.random() < 0.5:
            count = min(4, len(mirror.text) + 1)
            places = sorted(self.random.sample(range(len(mirror.text) + 1), count), reverse=True)
            piece = self.random.choice(PIECES)
            self.change(mirror, [Edit(place, place, piece) for place in places])
            return
        length, edits = len(mirror.text), []
        for _ in range(self.random.randrange(2, 6)):
            edits.append(self.some_edit(length))
            length += len(edits[-1].text) - (edits[-1].end - edits[-1].start) - 1
            length = max(length, 0)
        self.change(mirror, edits)

    def undo(self, mirror: Mirror) -> None:
        for _ in range(self.random.randrange(1, 4)):
            if mirror.done:
                self.send(mirror, mirror.undo())
        if mirror.undone and self.random.random() < 0.3:
            self.send(mirror, mirror.redo())

    def rename(self, mirror: Mirror) -> None:
        """What the server answers is done in every file, as an editor does."""
        params = {**self.params(mirror), "newName": self.random.choice(("fresh", "renamed", "X", "i", "op", ""))}
        edit = self.asks("textDocument/rename", params)
        if edit is not None:
            self.take(edit)

    def format(self, mirror: Mirror) -> None:
        method = self.random.choice(("formatting", "rangeFormatting", "onTypeFormatting"))
        edits = self.asks(f"textDocument/{method}", self.params(mirror))
        if edits:
            self.change(mirror, mirror.edits(edits))

    def act(self, mirror: Mirror) -> None:
        """One of the code actions offered somewhere, where the server has any."""
        if "codeActionProvider" not in self.client.capabilities:
            return
        actions = self.asks("textDocument/codeAction", self.params(mirror)) or []
        if actions:
            action = self.random.choice(actions)
            if "edit" not in action and "data" in action:
                action = self.asks("codeAction/resolve", action) or {}
            if "edit" in action:
                self.take(action["edit"])

    def replace_all(self, mirror: Mirror) -> None:
        mirror.done.append(mirror.text)
        mirror.text = self.random.choice((mirror.text.replace("\r\n", "\n"), mirror.text.replace("\n", "\r\n")))
        mirror.version += 1
        self.send(mirror, [{"text": mirror.text}])

    def reopen(self, mirror: Mirror) -> None:
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": mirror.uri}})
        mirror.version = 1
        self.client.open(mirror.uri, mirror.text)

    def visit(self, mirror: Mirror) -> None:
        self.document((self.folder / self.random.choice(PROGRAMS).name).as_uri())

    def take(self, edit: dict[str, Any]) -> None:
        """Do a workspace edit, in files that are open and files that are not."""
        changes = dict(edit.get("changes", {}))
        for each in edit.get("documentChanges", ()):
            changes.setdefault(each["textDocument"]["uri"], []).extend(each["edits"])
        for uri, edits in changes.items():
            mirror = self.document(uri)
            self.change(mirror, mirror.edits(edits))

    # ---- questions

    def params(self, mirror: Mirror) -> dict[str, Any]:
        """Parameters for any method, at random places; a server passes over those that it does not know."""
        places = [self.place(mirror) for _ in range(2)]
        start, end = sorted(places, key=lambda each: (each["line"], each["character"]))
        known, _ = self.tokens.get(mirror.uri, ("none", []))
        return {
            "textDocument": {"uri": mirror.uri},
            "position": places[0],
            "positions": places,
            "range": {"start": start, "end": end},
            "context": {"includeDeclaration": True, "diagnostics": [], "triggerKind": 1, "isRetrigger": False},
            "options": {"tabSize": 4, "insertSpaces": True},
            "ch": self.random.choice(("\n", "}")),
            "query": self.random.choice(("", "mat", "f")),
            "newName": "fresh",
            "previousResultId": known,
            "previousResultIds": [],
        }

    def place(self, mirror: Mirror) -> dict[str, int]:
        """A place in the text, or now and then beyond a line or the text."""
        place = mirror.position(mirror.whole(self.random.randrange(len(mirror.text) + 1)))
        if self.random.random() < 0.1:
            place[self.random.choice(("line", "character"))] += 1000
        return place

    def ask_something(self, mirror: Mirror) -> None:
        methods = [each.method for each in (*DOCUMENT_FEATURES, *WORKSPACE_FEATURES)]
        method = self.random.choice((*methods, "tdl/preview", "tdl/preview"))
        if method == "tdl/preview":
            stage = self.random.choice(("nest", "nest", "nest", "kernel", "gpu"))
            sizes = self.random.choice(("open", "bench", "test", {"N": 8}))
            self.asks(method, {**self.params(mirror), "stage": stage, "sizes": sizes, "step": "cursor"})
        elif not method.endswith("/resolve") and not method.startswith("callHierarchy/"):
            answer = self.asks(method, self.params(mirror))
            if method.startswith("textDocument/"):
                self.look(mirror, answer)
            self.follow(mirror, method, answer)

    def asks(self, method: str, params: Any) -> Any:
        """The answer; None where the server has none, which it must say in a way that clients can show."""
        self.asked.add(method)
        try:
            return self.client.request(method, params)
        except ServerError as error:
            if error.code != REQUEST_FAILED:
                raise
            return None

    def follow(self, mirror: Mirror, method: str, answer: Any) -> None:
        """What clients ask about an answer."""
        if method == "textDocument/completion" and answer:
            items = answer if isinstance(answer, list) else answer["items"]
            if items:
                self.asks("completionItem/resolve", self.random.choice(items))
        elif method == "textDocument/prepareCallHierarchy" and answer:
            for way in ("incomingCalls", "outgoingCalls"):
                self.asks(f"callHierarchy/{way}", {"item": answer[0]})
        elif method.startswith("textDocument/semanticTokens/full") and answer:
            self.colour(mirror, answer)

    def colour(self, mirror: Mirror, answer: dict[str, Any]) -> None:
        """The tokens that a client has after an answer of what changed are those of the whole document."""
        _, data = self.tokens.get(mirror.uri, ("", []))
        for edit in answer.get("edits", ()):
            data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit.get("data", [])
        self.tokens[mirror.uri] = answer["resultId"], answer.get("data", data)
        if "edits" in answer:
            whole = self.client.request("textDocument/semanticTokens/full", {"textDocument": {"uri": mirror.uri}})
            assert whole["data"] == data
            self.tokens[mirror.uri] = whole["resultId"], whole["data"]

    def look(self, mirror: Mirror, answer: Any) -> None:
        """Every range of an answer lies in the text that it is about."""
        for place in _ranges(answer, mirror.uri):
            start, end = mirror.offset(place["start"]), mirror.offset(place["end"])
            assert start <= end, place

    # ---- what must hold

    def compare(self) -> None:
        status = self.client.request("tdl/status", None)
        found = {each["uri"]: (each["version"], each["text"]) for each in status["documents"]}
        assert found == {uri: (mirror.version, mirror.text) for uri, mirror in self.open.items()}

    def compare_diagnostics(self) -> None:
        """What the server says of each text after all its edits is what one says that never saw another."""
        workspace = Workspace(Encoding(self.encoding))
        for mirror in self.open.values():
            workspace.open(mirror.uri, mirror.version, mirror.text)
        for document in workspace.documents.values():
            report = self.client.request("textDocument/diagnostic", {"textDocument": {"uri": document.uri}})
            wanted = diagnostics(Snapshot(document, workspace, _PULLS))
            found = [(_place(each["range"]), each.get("code"), each["message"]) for each in report["items"]]
            places = [((_line(each.range.start), _line(each.range.end)), each.code, each.message) for each in wanted]
            assert found == places, document.uri

    def forget_messages(self) -> None:
        """Messages that nobody waits for; none of them may speak of a fault."""
        self.client.poll()
        faults = [each for each in self.client.seen if each["method"] == "window/logMessage"]
        assert faults == []
        self.client.seen.clear()


_PULLS = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(diagnostic=types.DiagnosticClientCapabilities())
)


def _line(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def _place(found: dict[str, Any]) -> tuple[tuple[int, int], tuple[int, int]]:
    start, end = found["start"], found["end"]
    return (start["line"], start["character"]), (end["line"], end["character"])


def _ranges(answer: Any, uri: str) -> Iterator[dict[str, Any]]:
    """The ranges in an answer that are places of a document."""
    if isinstance(answer, list):
        for each in answer:
            yield from _ranges(each, uri)
    elif isinstance(answer, dict):
        if {"start", "end"} <= answer.keys() and isinstance(answer["start"], dict):
            yield answer
        elif answer.get("uri", uri) == uri and "targetUri" not in answer and "changes" not in answer:
            for name, each in answer.items():
                if name not in ("documentChanges", "data", "arguments"):
                    yield from _ranges(each, uri)


def session(client: Client, folder: Path, encoding: str, rounds: range, edits: int = EDITS) -> set[str]:
    """Rounds of edits in one server; gives the methods that were asked. A failure names its round."""
    capabilities = {
        "general": {"positionEncodings": [encoding]},
        "textDocument": {"diagnostic": {}},
        "workspace": {"workspaceEdit": {"documentChanges": True}},
    }
    client.initialise(capabilities, folder=folder)
    asked: set[str] = set()
    for number in rounds:
        this = Round(client, folder, encoding, number)
        try:
            this.run(edits)
        except Exception as error:
            where = f"python -m tests.lsp.fuzz --encoding {encoding} --first {number} --last {number}"
            raise AssertionError(f"round {number} fails, again with: {where}") from error
        asked |= this.asked
    return asked


def main() -> None:
    parser = argparse.ArgumentParser(description="Edit at random and compare what the server has.")
    parser.add_argument("--encoding", choices=sorted(WIDTHS), default="utf-16")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Client.start(Path(name) / "server.log") as client:
        folder = Path(name) / "project"
        folder.mkdir()
        try:
            session(client, folder, options.encoding, range(options.first, options.last + 1))
            client.close()
        finally:
            sys.stderr.write(client.log.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
