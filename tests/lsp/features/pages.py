"""Pages of feature tests: a document with marks, what is asked of it, and the answer that is expected.

A page is `tests/lsp/features/FEATURE/CASE.md`, where FEATURE is the name of the function in `tdl.lsp.features.table`.

    ```tdl                  the document; `‸` is the cursor, two of them enclose a range
    ```tdl other.tdl        a file beside it, which it can import
    ```json capabilities    what the client can do, if it is more than the least
    ```json keep            the labels of the items of a long list that stand in the answer, without their order
    ```json settings        what the user has set
    ```json params          more parameters of the request, merged over those that the marks give
    ```json                 the expected answer, or {"refused": ...}; ranges stand as "line:character-line:character",
                            from 0, and text of several lines as a list of them
    ```tdl result           the document after the edits of the answer, where it is made of edits
    ```diff                 instead, where the answer is code actions: the kind and title of each, and what it changes
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import ndiff
from pathlib import Path
from typing import Any

import attrs
from lsprotocol import converters, types
from tdl.language.source import Source
from tdl.lsp.actions.candidate import Choice
from tdl.lsp.actions.trial import Change, Trial
from tdl.lsp.asking import Objections, at_once
from tdl.lsp.features.table import DOCUMENT_FEATURES, WORKSPACE_FEATURES, Feature
from tdl.lsp.positions import Encoding, position_at, span_at
from tdl.lsp.protocol import Refused
from tdl.lsp.settings import settings_of
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.workspace import Workspace

FENCE = re.compile(r"^```([^\n`]+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
CURSOR = "‸"
FOLDER = "/project"
NAME = "main.tdl"

_CONVERTER = converters.get_converter()
FEATURES = {each.answer.__name__: each for each in (*DOCUMENT_FEATURES, *WORKSPACE_FEATURES)}


@dataclass(frozen=True)
class Page:
    """`blocks` are the page's code blocks by the words behind their fence."""

    path: Path
    blocks: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> Page:
        return cls(path, {match[1].strip(): match[2] for match in FENCE.finditer(path.read_text(encoding="utf-8"))})

    @property
    def feature(self) -> str:
        return self.path.parent.name


@dataclass(frozen=True)
class Question:
    """What a page asks of a feature."""

    feature: Feature
    snapshot: Snapshot
    params: Any

    def answer(self) -> Any:
        """The feature's own, in this process."""
        subject = self.snapshot if self.feature in DOCUMENT_FEATURES else self.snapshot.workspace
        return at_once(self.feature.answer(subject, self.params), asked_of(self.snapshot))


def question_of(page: Page, client: types.ClientCapabilities) -> Question:
    """The question of a page, if it is a client of these capabilities that asks."""
    feature = FEATURES[page.feature]
    text, marks = _marked(page.blocks["tdl"])
    settings = settings_of(json.loads(page.blocks.get("json settings", "{}")))
    workspace = Workspace(folders=[FOLDER], settings=settings)
    for head, body in page.blocks.items():
        if head.startswith("tdl ") and head.endswith(".tdl"):
            workspace.open(_uri(head[4:]), 1, body)
    snapshot = Snapshot(workspace.open(_uri(NAME), 1, text), workspace, client)
    given = json.loads(page.blocks.get("json params", "{}"))
    return Question(feature, snapshot, params_of(feature.method, snapshot, marks, given))


def run(page: Page) -> dict[str, str]:
    """The answer to a page, as the blocks that should stand in it."""
    client = _CONVERTER.structure(json.loads(page.blocks.get("json capabilities", "{}")), types.ClientCapabilities)
    question = question_of(page, client)
    document = question.snapshot.document
    try:
        answer = question.answer()
    except Refused as refusal:
        return {"json": _printed({"refused": str(refusal)}) + "\n"}
    plain = _CONVERTER.unstructure(answer)
    if isinstance(answer, list) and answer and all(isinstance(each, types.CodeAction) for each in answer):
        return {"diff": "".join(_action(document.source, each) for each in plain)}
    if "json keep" in page.blocks:
        kept = json.loads(page.blocks["json keep"])
        items = [each for each in plain["items"] if each["label"] in kept]
        plain["items"] = [{key: part for key, part in each.items() if key != "sortText"} for each in items]
    blocks = {"json": _printed(_readable(plain)) + "\n"}
    edits = _edits_of(plain)
    return {**blocks, "tdl result": _edited(document.source, edits)} if edits else blocks


def written(page: Page, answer: dict[str, str]) -> str:
    """The text of a page with the answer put in: over the blocks that it has, else at its end."""
    text = page.path.read_text(encoding="utf-8")
    for head, body in answer.items():
        block = f"```{head}\n{body}```\n"
        found = next((each for each in FENCE.finditer(text) if each[1].strip() == head), None)
        text = f"{text.rstrip()}\n\n{block}" if found is None else text[: found.start()] + block + text[found.end() :]
    return text


def _uri(name: str) -> str:
    return f"file://{FOLDER}/{name}"


def _marked(text: str) -> tuple[str, list[int]]:
    parts = text.split(CURSOR)
    marks = [sum(map(len, parts[: number + 1])) for number in range(len(parts) - 1)]
    return "".join(parts), marks


def asked_of(snapshot: Snapshot) -> Callable[[Choice], Objections]:
    """Tries changes of a document in this process."""
    trial = Trial(snapshot)
    return lambda choice: trial.objections(map(Change.of, choice))


def params_of(method: str, snapshot: Snapshot, marks: list[int], given: dict[str, Any]) -> Any:
    """Everything that some request asks for; each takes what it knows."""
    start, end = (marks[0], marks[-1]) if marks else (0, len(snapshot.source.text))
    position = _CONVERTER.unstructure(position_at(snapshot.source, start, Encoding.Utf16))
    place = {"start": position, "end": _CONVERTER.unstructure(position_at(snapshot.source, end, Encoding.Utf16))}
    everything = {
        "textDocument": {"uri": snapshot.document.uri, "version": snapshot.document.version},
        "position": position,
        "positions": [_CONVERTER.unstructure(snapshot.position(mark)) for mark in marks],
        "range": place,
        "context": {"includeDeclaration": True, "diagnostics": [], "triggerKind": 1, "isRetrigger": False},
        "options": {"tabSize": 4, "insertSpaces": True},
        "ch": "\n",
        "label": "",
        "query": "",
        "previousResultId": "none",
        "previousResultIds": [],
        **given,
    }
    request, *_ = types.METHOD_TO_TYPES[method]
    kind = attrs.fields_dict(attrs.resolve_types(request))["params"].type
    known = {attribute.name.replace("_", "") for attribute in attrs.fields(kind)}
    return _CONVERTER.structure({key: each for key, each in everything.items() if key.lower() in known}, kind)


def _readable(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"start", "end"} and isinstance(value["start"], dict):
            return "-".join(f"{end['line']}:{end['character']}" for end in (value["start"], value["end"]))
        return {key: _readable(each) for key, each in value.items() if key != "resultId"}
    if isinstance(value, list | tuple):
        return [_readable(each) for each in value]
    if not isinstance(value, str):
        return value
    if value.startswith("file://"):
        return value.rpartition("/")[2]
    value = re.sub(r"file://[^)\s]*/(?=docs/)", "", value)  # a link in a text, of wherever this is checked out
    return value.split("\n") if "\n" in value else value


def _printed(value: Any, indent: str = "") -> str:
    """JSON with what fits into a line in a line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + len(indent) <= 110 or not isinstance(value, dict | list):
        return flat
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {_printed(each, inner)}" for key, each in value.items()]
    else:
        parts = [f"{inner}{_printed(each, inner)}" for each in value]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return opened + "\n" + ",\n".join(parts) + "\n" + indent + closed


def _edits_of(answer: Any) -> list[dict[str, Any]]:
    """The edits of the document itself in an answer that is nothing but edits."""
    if isinstance(answer, dict) and "changes" in answer:
        edits: list[dict[str, Any]] = answer["changes"].get(_uri(NAME), [])
        return edits
    is_edits = isinstance(answer, list) and all(isinstance(each, dict) and "newText" in each for each in answer)
    return answer if is_edits else []


def _edited(source: Source, edits: list[dict[str, Any]]) -> str:
    text = source.text
    placed = [
        (span_at(source, _CONVERTER.structure(each["range"], types.Range), Encoding.Utf16), each) for each in edits
    ]
    for span, each in sorted(placed, key=lambda pair: pair[0].start, reverse=True):
        text = text[: span.start] + each["newText"] + text[span.end :]
    return text


def _action(source: Source, action: dict[str, Any]) -> str:
    """A code action, and the lines that it changes."""
    edits = action["edit"]["changes"][_uri(NAME)]
    old, new = source.text.splitlines(), _edited(source, edits).splitlines()
    changed = [each.rstrip() for each in ndiff(old, new) if each[:2] in ("- ", "+ ")]
    mark = "*" if action.get("isPreferred") else ""
    return "\n".join((f"{action['kind']}{mark}: {action['title']}", *changed, ""))
