"""Generated code beside its source: what is asked for, the virtual document that shows it, and the places it links.

tdl-preview:/matmul.s?stage=asm&op=matmul&sizes=bench&uri=file%3A%2F%2F%2Ff.tdl
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from lsprotocol import converters, types
from tdl.language import syntax
from tdl.language.module import Entry
from tdl.language.source import Span
from tdl.lsp.protocol import Refused
from tdl.lsp.snapshot import Snapshot

SCHEME = "tdl-preview"

LANGUAGES = {
    "nest": ("tdl-nest", "nest"),
    "kernel": ("tdl-nest", "kernel"),
    "c": ("c", "c"),
    "llvm-made": ("llvm", "ll"),
    "llvm": ("llvm", "ll"),
    "asm": ("asm", "s"),
}
"""The language of each stage, and how the name of its document ends."""

TITLES = {
    "nest": "loops",
    "kernel": "kernel",
    "c": "C",
    "llvm-made": "LLVM before its passes",
    "llvm": "LLVM",
    "asm": "assembly",
}

Sizes = str | dict[str, Any]


@dataclass(frozen=True, slots=True)
class Wanted:
    """`sizes` are `bench`, `test`, `open`, the name of a case, or sizes by name; `step` counts schedule lines."""

    uri: str
    op: str
    stage: str = "nest"
    sizes: Sizes = "bench"
    step: int | None = None

    @property
    def document(self) -> str:
        """The URI of the virtual document that shows it."""
        sizes = self.sizes if isinstance(self.sizes, str) else _written(self.sizes)
        query = {"stage": self.stage, "op": self.op, "sizes": sizes}
        if self.step is not None:
            query["step"] = str(self.step)
        _, ending = LANGUAGES[self.stage]
        return f"{SCHEME}:/{quote(self.op)}.{ending}?{urlencode({**query, 'uri': self.uri}, quote_via=quote)}"


def wanted_by(uri: str) -> Wanted:
    """What a virtual document shows."""
    parts = urlsplit(uri)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if parts.scheme != SCHEME or not {"uri", "op", "stage"} <= query.keys():
        raise Refused(f"{uri} is no preview")
    sizes = query.get("sizes", "bench")
    step = query.get("step")
    return _checked(
        Wanted(
            query["uri"],
            query["op"],
            query["stage"],
            _read(sizes) if "=" in sizes else sizes,
            int(step) if step is not None and step.isdigit() else None,
        )
    )


def wanted_at(snapshot: Snapshot, params: dict[str, Any]) -> Wanted:
    """What a request asks for: an op by its name, or the one at a position."""
    stage, sizes, step = params.get("stage", "nest"), params.get("sizes", "bench"), params.get("step")
    op = params.get("op")
    offset = None if params.get("position") is None else snapshot.offset(position_of(params["position"]))
    entry = None if offset is None else snapshot.entry_at(offset)
    if op is None:
        op = None if entry is None else op_of(entry)
    if not isinstance(op, str):
        raise Refused("there is no op here to show")
    if isinstance(entry, Entry) and isinstance(entry.placed.item, syntax.Test | syntax.Bench) and "sizes" not in params:
        sizes = entry.placed.item.name.text
    if step == "cursor":
        step = None if entry is None or offset is None else _lines_before(entry, offset)
    return _checked(Wanted(snapshot.document.uri, op, stage, sizes, step))


def op_of(entry: Entry) -> str | None:
    """The name of the op that an item is or is about."""
    match entry.placed.item:
        case syntax.Op(name=name):
            return name.text
        case syntax.Schedule(op=op):
            return op.text
        case syntax.Test(call=syntax.Call(callee=callee)) | syntax.Bench(call=syntax.Call(callee=callee)):
            return callee.text
    return None


def payload(snapshot: Snapshot, wanted: Wanted) -> dict[str, Any]:
    """The job of the worker."""
    return {**texts_of(snapshot), "op": wanted.op, "stage": wanted.stage, "sizes": wanted.sizes, "step": wanted.step}


def texts_of(snapshot: Snapshot) -> dict[str, Any]:
    """A program as it stands in the editor, with every other one that is open."""
    return {"path": snapshot.source.path, "texts": snapshot.workspace.texts(snapshot.source)}


def answer(snapshot: Snapshot, wanted: Wanted, made: dict[str, Any]) -> dict[str, Any]:
    """What the worker made, with places of files as clients name them."""
    language, _ = LANGUAGES[wanted.stage]
    schedule = made["schedule"]
    after = "" if wanted.step is None else f" after {wanted.step} line{'s' * (wanted.step != 1)}"
    op = made["op"]
    return {
        "uri": replace(wanted, step=wanted.step).document,
        "title": f"{wanted.op}, {TITLES[wanted.stage]}{after} at {made['words']}",
        "op": wanted.op,
        "stage": wanted.stage,
        "step": wanted.step,
        "languageId": language,
        "version": snapshot.document.version,
        "text": "".join(f"{line}\n" for line in made["lines"]),
        "links": [each for each in (_link(snapshot, op, schedule, link) for link in made["links"]) if len(each) > 1],
        "steps": [] if schedule is None else [place_of(snapshot, schedule, *span) for span in schedule["spans"]],
        "changes": made["changes"],
        "hotLoop": made["hotLoop"],
        "refused": made["refused"],
    }


def _link(snapshot: Snapshot, op: dict[str, Any], schedule: dict[str, Any] | None, link: list[int]) -> dict[str, Any]:
    line, start, end, number = link
    found: dict[str, Any] = {"line": line}
    if end > start >= 0 and (source := place_of(snapshot, op, start, end)) is not None:
        found["source"] = source
    if schedule is not None and 0 <= number < len(schedule["spans"]):
        found["schedule"] = place_of(snapshot, schedule, *schedule["spans"][number])
        found["step"] = number + 1
    return found


def place_of(snapshot: Snapshot, item: dict[str, Any], start: int, end: int) -> Any:
    location = snapshot.location(item["path"], Span(start, end).shifted(item["offset"]))
    return None if location is None else _converter().unstructure(location)


@cache
def _converter() -> Any:
    return converters.get_converter()


def position_of(plain: Any) -> types.Position:
    """A position in a request of our own; refused where it is none."""
    try:
        return types.Position(int(plain["line"]), int(plain["character"]))
    except (KeyError, TypeError, ValueError):
        raise Refused("a position is {line, character}, both from 0") from None


def _lines_before(entry: Entry, offset: int) -> int | None:
    """How many lines of a schedule begin before an offset, that of the cursor included."""
    item = entry.placed.item
    if not isinstance(item, syntax.Schedule):
        return None
    return sum(line.span.start + entry.placed.offset <= offset for line in item.body)


def _checked(wanted: Wanted) -> Wanted:
    if wanted.stage not in LANGUAGES:
        raise Refused(f"there is no stage `{wanted.stage}` (there are {', '.join(LANGUAGES)})")
    if not isinstance(wanted.sizes, str | dict):
        raise Refused("sizes are `bench`, `test`, `open`, the name of a test or bench, or numbers by name")
    if wanted.step is not None and not isinstance(wanted.step, int):
        raise Refused("a step is a number of lines of the schedule, or `cursor`")
    return wanted


def _written(sizes: dict[str, Any]) -> str:
    """`M=64,S=3:50`."""
    texts = {name: ":".join(map(str, size)) if isinstance(size, list) else size for name, size in sizes.items()}
    return ",".join(f"{name}={text}" for name, text in texts.items())


def _read(text: str) -> dict[str, Any]:
    pairs = (part.partition("=") for part in text.split(","))
    try:
        return {name: [int(each) for each in size.split(":")] if ":" in size else int(size) for name, _, size in pairs}
    except ValueError:
        raise Refused(f"`{text}` are no sizes") from None
