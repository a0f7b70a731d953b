"""How long an editor waits for `tdlc lsp`, against the bars that the server is held to.

    python benchmarks/editor.py [--edits 200] [--lines 1000] [--json]

A session over the pipe on a generated module: characters are typed and taken back at random places of its ops and
schedules, and each keystroke waits for its diagnostics; requests are asked of the text as it then stands. Times are
those of the client, from the message it sends to the answer it has.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.generate import generate
from tests.lsp.client import Client, ServerError

BARS = {
    "first diagnostics": ("max", 1000),
    "keystroke to diagnostics": ("p95", 50),
    "hover": ("p95", 30),
    "completion": ("p95", 30),
    "signatures": ("p95", 30),
    "inlay hints": ("p95", 30),
    "semantic tokens": ("p95", 30),
    "semantic tokens, changes": ("p95", 30),
    "definition": ("p95", 30),
    "references": ("p95", 30),
    "highlights": ("p95", 30),
    "outline": ("p95", 30),
    "folding": ("p95", 30),
    "selections": ("p95", 30),
    "formatting": ("p95", 30),
    "rename": ("p95", 30),
    "nest preview": ("p95", 100),
    "assembly preview, cold": ("max", 1500),
    "assembly preview, warm": ("p95", 100),
    "hover during a preview": ("max", 50),
    "hover during a bench": ("max", 50),
}
"""Milliseconds, and of which figure."""

USES = {"context": {"includeDeclaration": True}}
LAYOUT = {"tabSize": 4, "insertSpaces": True}
URI = "file:///bench/long.tdl"
PRODUCT_URI = "file:///bench/product.tdl"
PRODUCT = """\
op matmul(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] {
    C[i, j] = sum(A[i, k] * B[k, j] for k)
}
schedule matmul for cpu {
    split C.j by [128, 64] -> jp, jr, ji
    split C.k by 1024 -> ko, ki
    split C.i by 6 balanced -> ir, ii
    reorder jp, ko, ir, jr, ki, ii, ji
    cache B at ko as Bp layout [jr, ki, ji]
    cache C at jr in register as Cr
    vectorize ji by 16
    unroll ii
    parallel jp
}
bench square: matmul(M=1024, K=1024, N=1024)
"""


class Session:
    """One client; every time it waits is kept under a name, in milliseconds."""

    def __init__(self, client: Client, text: str, seed: int) -> None:
        self.client = client
        self.text = text.split("\n")
        self.version = 1
        self.random = random.Random(seed)
        self.times: dict[str, list[float]] = {}

    def timed(self, name: str, wait: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = wait()
        self.times.setdefault(name, []).append((time.perf_counter() - start) * 1e3)
        return result

    def ask(self, name: str, method: str, **params: Any) -> Any:
        full = {"textDocument": {"uri": URI}, **params}
        return self.timed(name, lambda: self.client.request(method, full))

    def replace(self, line: int, start: int, end: int, text: str) -> None:
        old = self.text[line]
        self.text[line] = old[:start] + text + old[end:]
        self.version += 1
        place = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
        self.client.change(URI, self.version, {"range": place, "text": text})

    def type(self, line: int, character: int, key: str) -> None:
        """A key, its diagnostics, and the same for taking it back."""

        def press(start: int, end: int, text: str) -> None:
            self.replace(line, start, end, text)
            self.client.diagnostics(URI, self.version)

        self.timed("keystroke to diagnostics", lambda: press(character, character, key))
        self.requests(line, character + 1)
        self.timed("keystroke to diagnostics", lambda: press(character, character + 1, ""))
        self.names(line, character)

    def requests(self, line: int, character: int) -> None:
        """What an editor asks after a keystroke."""
        position = {"line": line, "character": character}
        first, last = max(0, line - 25), min(len(self.text), line + 25)
        window = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
        self.ask("hover", "textDocument/hover", position=position)
        for name, provider, method, params in (
            ("completion", "completionProvider", "textDocument/completion", {"position": position}),
            ("signatures", "signatureHelpProvider", "textDocument/signatureHelp", {"position": position}),
            ("inlay hints", "inlayHintProvider", "textDocument/inlayHint", {"range": window}),
            ("semantic tokens", "semanticTokensProvider", "textDocument/semanticTokens/full", {}),
            ("definition", "definitionProvider", "textDocument/definition", {"position": position}),
            ("references", "referencesProvider", "textDocument/references", {"position": position, **USES}),
            ("highlights", "documentHighlightProvider", "textDocument/documentHighlight", {"position": position}),
            ("outline", "documentSymbolProvider", "textDocument/documentSymbol", {}),
            ("folding", "foldingRangeProvider", "textDocument/foldingRange", {}),
            ("selections", "selectionRangeProvider", "textDocument/selectionRange", {"positions": [position]}),
            ("formatting", "documentFormattingProvider", "textDocument/formatting", {"options": LAYOUT}),
        ):
            if provider in self.client.capabilities:
                self.ask(name, method, **params)

    def names(self, line: int, character: int) -> None:
        """What an editor asks of a name, in a text without mistakes."""
        position = {"line": line, "character": character}
        with suppress(ServerError):  # there is not a name everywhere
            self.ask("rename", "textDocument/rename", position=position, newName="renamed")
        whole = self.ask("semantic tokens", "textDocument/semanticTokens/full")
        delta = "textDocument/semanticTokens/full/delta"
        self.ask("semantic tokens, changes", delta, previousResultId=whole["resultId"])


def places(text: str) -> Iterator[tuple[int, int]]:
    """Where people type: inside the bodies of ops and schedules."""
    for number, line in enumerate(text.split("\n")):
        if line.startswith("    ") and len(line) > 8:
            yield number, len(line)


def run(edits: int, lines: int, seed: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        text = generate(lines)
        times = _first(Path(folder), "first diagnostics", text)
        with Client.start(Path(folder) / "log") as client:
            client.initialise()
            session = Session(client, text, seed)
            client.open(URI, text)
            client.diagnostics(URI, 1)
            where = list(places(text))
            for _ in range(edits):
                line, length = session.random.choice(where)
                session.type(line, session.random.randrange(4, length), session.random.choice("abij01 +*(,"))
            _previews(session)
            _bench(session)
            client.close()
    return {**times, **session.times}


def _first(folder: Path, name: str, text: str) -> dict[str, list[float]]:
    """From the start of the process to the diagnostics of the document it opens."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        with Client.start(folder / "log") as client:
            client.initialise()
            client.open(PRODUCT_URI, text)
            client.diagnostics(PRODUCT_URI)
            times.append((time.perf_counter() - start) * 1e3)
    return {name: times}


def _previews(session: Session) -> None:
    client = session.client
    client.open(PRODUCT_URI, PRODUCT)
    client.diagnostics(PRODUCT_URI)
    op = {"textDocument": {"uri": PRODUCT_URI}, "position": {"line": 0, "character": 4}}
    cold = client.ask("tdl/preview", {**op, "stage": "asm"})
    start = time.perf_counter()
    while cold not in client.answers:
        session.ask("hover during a preview", "textDocument/hover", position=op["position"])
        client.poll()
    client.answer(cold)
    session.times["assembly preview, cold"] = [(time.perf_counter() - start) * 1e3]
    for number in range(30):
        step = {"stage": "nest", "step": number % 10}
        session.timed("nest preview", lambda step=step: client.request("tdl/preview", {**op, **step}))
        session.timed("assembly preview, warm", lambda: client.request("tdl/preview", {**op, "stage": "asm"}))


def _bench(session: Session) -> None:
    client = session.client
    bench = {"command": "tdl.runBench", "arguments": [{"uri": PRODUCT_URI, "name": "square", "seconds": 2}]}
    number = client.ask("workspace/executeCommand", bench)
    while number not in client.answers:
        session.ask("hover during a bench", "textDocument/hover", position={"line": 0, "character": 4})
        client.poll()
    client.answer(number)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def report(times: dict[str, list[float]]) -> Iterator[str]:
    yield f"{'':26} {'n':>5} {'p50':>8} {'p95':>8} {'max':>8}   bar"
    for name, values in times.items():
        figures = {"p50": statistics.median(values), "p95": percentile(values, 0.95), "max": max(values)}
        which, bar = BARS[name]
        verdict = "" if figures[which] <= bar else "  MISSED"
        shown = " ".join(f"{each:8.1f}" for each in figures.values())
        yield f"{name:26} {len(values):5} {shown}   {which} < {bar} ms{verdict}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long an editor waits for the language server.")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print every time in milliseconds")
    options = parser.parse_args()
    times = run(options.edits, options.lines, options.seed)
    print(json.dumps(times) if options.json else "\n".join(report(times)))


if __name__ == "__main__":
    main()
