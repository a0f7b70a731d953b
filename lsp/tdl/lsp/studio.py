"""The Schedule Studio's view of an op: what the worker found, with places as clients name them."""

from __future__ import annotations

from typing import Any

from tdl.lsp.previews import Wanted, payload, place_of
from tdl.lsp.snapshot import Snapshot


def studio_payload(snapshot: Snapshot, wanted: Wanted, assembly: bool) -> dict[str, Any]:
    """The job of the worker."""
    return {**payload(snapshot, wanted), "assembly": assembly}


def studio_answer(snapshot: Snapshot, wanted: Wanted, made: dict[str, Any]) -> dict[str, Any]:
    """What `docs/lsp.md` says of `tdl/studio`."""
    schedule = made.pop("schedule")
    texts, unchanged = made.pop("texts"), set(made.pop("unchanged"))
    refused = {each["line"]: each["message"] for each in made.pop("refused")}
    spans = [] if schedule is None else schedule["spans"]
    op = made.pop("op")
    return {
        "uri": snapshot.document.uri,
        "version": snapshot.document.version,
        "op": wanted.op,
        "sizes": made.pop("words"),
        "step": len(spans) if wanted.step is None else wanted.step,
        "schedule": None if schedule is None else place_of(snapshot, schedule, 0, schedule["length"]),
        "steps": [
            {
                "place": place_of(snapshot, schedule, *span),
                "text": " ".join(texts[number].split()),
                "changes": number not in unchanged,
                "refused": refused.get(number),
            }
            for number, span in enumerate(spans)
        ],
        "lines": [_line(snapshot, op, each) for each in made.pop("lines")],
        **made,
    }


def _line(snapshot: Snapshot, op: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    span = line.pop("span")
    return {**line, "source": None if span is None else place_of(snapshot, op, *span)}
