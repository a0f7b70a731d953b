"""What the text leaves to be inferred, shown in it: ranges, types, lengths of loops, names of arguments.

Which of these are shown is set under `tdl.hints`. An item's hints are remembered with it.
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.module import Entry
from tdl.lsp.documentation import code, markup
from tdl.lsp.hints.calls import hints_of_calls
from tdl.lsp.hints.hint import Hint
from tdl.lsp.hints.ops import hints_of_graph, hints_of_op
from tdl.lsp.snapshot import Snapshot

_LONG = 40
"""Some clients cut off what is longer."""

_KINDS = {
    "ranges": types.InlayHintKind.Type,
    "types": types.InlayHintKind.Type,
    "loops": types.InlayHintKind.Type,
    "parameters": types.InlayHintKind.Parameter,
}


def inlay_hint(snapshot: Snapshot, params: types.InlayHintParams) -> list[types.InlayHint]:
    """The hints of a range that are wanted."""
    wanted = snapshot.workspace.settings.hints
    place = snapshot.span(params.range)
    found: list[types.InlayHint] = []
    for entry in snapshot.analysis.module.entries:
        offset = entry.placed.offset
        if offset <= place.end and place.start <= offset + len(entry.placed.parsed.text):
            found.extend(
                _converted(snapshot, offset, hint)
                for hint in _hints(snapshot.analysis, entry)
                if getattr(wanted, hint.topic) and place.start <= offset + hint.offset <= place.end
            )
    return found


def _hints(analysis: Analysis, entry: Entry) -> Iterator[Hint]:
    declaration = entry.declaration
    match declaration.item:
        case syntax.Op() | syntax.Intrinsic():
            yield from hints_of_op(declaration)
        case syntax.Graph():
            yield from hints_of_graph(declaration)
        case syntax.Schedule() as item:
            from tdl.compiler.schedule.check import cases_of  # half of what a server would load at start
            from tdl.lsp.hints.schedules import hints_of_schedule

            op = declaration.environment.find("callable", item.op.text)
            yield from () if op is None else hints_of_schedule(declaration, cases_of(analysis, op))
    yield from hints_of_calls(declaration)


def _converted(snapshot: Snapshot, offset: int, hint: Hint) -> types.InlayHint:
    is_behind = hint.topic == "loops"
    tooltip = hint.tooltip or (code(hint.label.strip(" ,:")) if len(hint.label) > _LONG else "")
    return types.InlayHint(
        snapshot.position(offset + hint.offset),
        hint.label,
        kind=_KINDS[hint.topic],
        tooltip=markup(tooltip, is_markdown=snapshot.has_markdown) if tooltip else None,
        padding_left=is_behind or None,
    )
