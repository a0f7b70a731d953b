"""An op at a stage, at sizes, after so many lines of its schedule: the text, and what each line of it came from."""

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from typing import Any, get_args

from tdl.compiler.assembly import hot_loop
from tdl.compiler.linked import LinkedLine, linked_lines
from tdl.compiler.preview import Stage
from tdl.language.binding import BindError
from tdl.language.scope import Declaration
from tdl.lsp.worker.plan import Settings, plan_of, steps_at
from tdl.lsp.worker.texts import Failed

_ALIGNED = re.compile(r" {2,}# ")


def preview(payload: dict[str, Any], progress: object) -> dict[str, Any]:
    """`{"title", "lines", "links", ...}`: links are `[line, start, end, schedule line]`, spans relative to the op."""
    plan = plan_of(payload)
    stage, step = payload["stage"], payload.get("step")
    if stage not in get_args(Stage):
        raise Failed(f"there is no stage `{stage}` (there are {', '.join(get_args(Stage))})")
    try:
        steps = plan.steps()
        lines = lines_at(plan.op, plan.schedules, plan.settings, stage, step)
        before = lines_at(plan.op, plan.schedules, plan.settings, stage, step - 1) if stage == "nest" and step else ()
    except (BindError, ValueError) as error:
        raise Failed(str(error)) from None
    text = [line.text for line in lines]
    return {
        "words": plan.settings.words,
        "lines": text,
        "links": [list(link) for link in _links(lines)],
        "changes": _changes([line.text for line in before], text) if before else None,
        "hotLoop": hot_loop_of(text) if stage == "asm" else None,
        "op": {"path": plan.op.path, "offset": plan.op.offset},
        "schedule": plan.schedule(),
        "refused": [
            {"line": number - 1, "message": each.refusal.message}
            for number, each in enumerate(steps.steps)
            if each.refusal is not None
        ],
    }


@lru_cache(maxsize=128)
def lines_at(
    op: Declaration, schedules: tuple[Declaration, ...], settings: Settings, stage: Stage, step: int | None
) -> tuple[LinkedLine, ...]:
    return linked_lines(steps_at(op, schedules, settings).nest(step), stage)


def _links(lines: tuple[LinkedLine, ...]) -> list[tuple[int, int, int, int]]:
    found = []
    for number, line in enumerate(lines):
        origin = line.origin
        if origin is not None and (origin.definition >= 0 or origin.line >= 0):
            start, end = (origin.span.start, origin.span.end) if origin.definition >= 0 else (-1, -1)
            found.append((number, start, end, origin.line))
    return found


def _changes(before: list[str], after: list[str]) -> dict[str, Any]:
    """The numbers of the lines that came, and those that went with where they stood; blanks are no change."""
    old, new = ([_ALIGNED.sub("  # ", line).strip() for line in lines] for lines in (before, after))
    added, removed = [], []
    for kind, first, last, start, end in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "equal":
            added += list(range(start, end))
            removed += [{"before": start, "text": line} for line in before[first:last]]
    return {"added": added, "removed": removed}


def hot_loop_of(lines: list[str]) -> dict[str, Any] | None:
    loop = hot_loop("\n".join(lines))
    if loop is None:
        return None
    counts = dict(loop.counts)
    return {
        "startLine": loop.first,
        "endLine": loop.last,
        "counts": counts,
        "spills": counts.get("spill", 0),
        "vectorBits": loop.width,
        "summary": loop.summary(),
    }
