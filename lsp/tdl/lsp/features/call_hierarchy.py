"""Who calls what: ops in graphs and tests, functions and reducers in ops, tactics in schedules.

graph mlp { h = dense(x, w) }       `mlp` calls `dense`, and so does `test t: dense(M=3)`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lsprotocol import types
from tdl.language import occurrences
from tdl.language.mentions.data import Kind
from tdl.language.occurrences import Definition, Occurrence
from tdl.language.source import Source, Span
from tdl.lsp.outline import Entry, outline
from tdl.lsp.positions import offset_at, range_at
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.uris import path_of
from tdl.lsp.uses import definitions_at, uses
from tdl.lsp.workspace import Workspace

_CALLED: frozenset[Kind] = frozenset({"fn", "reducer", "op", "graph", "tactic", "intrinsic"})
_Place = tuple[Source, Entry]


def prepare_call_hierarchy(
    snapshot: Snapshot, params: types.CallHierarchyPrepareParams
) -> list[types.CallHierarchyItem] | None:
    """What can be called at the cursor: its declaration."""
    found = [_declared(snapshot.workspace, each) for each in definitions_at(snapshot, params.position)]
    return [_item(snapshot.workspace, *each) for each in found if each is not None] or None


def incoming_calls(
    workspace: Workspace, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall]:
    """The items that call one, each with the places where it does."""
    found = uses(workspace, [each.definition for each in _named(workspace, params.item)])
    pairs = (
        (_around(each.source, each.occurrence), each.occurrence.span) for each in found if _is_call(each.occurrence)
    )
    calls = _grouped(pairs)
    return [
        types.CallHierarchyIncomingCall(_item(workspace, source, entry), _ranges(workspace, source, spans))
        for (source, entry), spans in calls.items()
        if entry.kind is not types.SymbolKind.Module and spans != [entry.name_span]  # of a schedule: what it is for
    ]


def outgoing_calls(
    workspace: Workspace, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall]:
    """What an item calls, each with the places where it does."""
    source = workspace.read(path_of(params.item.uri))
    if source is None:
        return []
    analysis = workspace.analysis(source)
    start = offset_at(source, params.item.selection_range.start, workspace.encoding)
    inside = next((each for each in reversed(analysis.module.entries) if each.placed.offset <= start), None)
    found = () if inside is None else occurrences.of_item(analysis, inside)
    pairs = (
        (_declared(workspace, each.definition), each.span)
        for each in found
        if _is_call(each) and each.span.start != start  # of a schedule: what it is for
    )
    return [
        types.CallHierarchyOutgoingCall(_item(workspace, *place), _ranges(workspace, source, spans))
        for place, spans in _grouped(pairs).items()
    ]


def _is_call(occurrence: Occurrence) -> bool:
    return occurrence.access == "read" and occurrence.definition.kind in _CALLED


def _declared(workspace: Workspace, definition: Definition) -> _Place | None:
    """The item that declares what can be called."""
    source = workspace.read(definition.path) if definition.kind in _CALLED and definition.path else None
    return None if source is None else _entry(source, definition.span, lambda entry: entry.name_span)


def _around(source: Source, occurrence: Occurrence) -> _Place | None:
    """The item that an occurrence is in."""
    return _entry(source, occurrence.span, lambda entry: entry.span)


def _entry(source: Source, span: Span, part: Callable[[Entry], Span]) -> _Place | None:
    for entry in outline(source):
        if part(entry).start <= span.start and span.end <= part(entry).end:
            return source, entry
    return None


def _named(workspace: Workspace, item: types.CallHierarchyItem) -> tuple[Occurrence, ...]:
    source = workspace.read(path_of(item.uri))
    if source is None:
        return ()
    start = offset_at(source, item.selection_range.start, workspace.encoding)
    return tuple(each for each in occurrences.at(workspace.analysis(source), start) if each.is_declaration)


def _grouped(pairs: Iterable[tuple[_Place | None, Span]]) -> dict[_Place, list[Span]]:
    found: dict[_Place, list[Span]] = {}
    for place, span in pairs:
        if place is not None:
            found.setdefault(place, []).append(span)
    return found


def _item(workspace: Workspace, source: Source, entry: Entry) -> types.CallHierarchyItem:
    place, name = (range_at(source, each, workspace.encoding) for each in (entry.span, entry.name_span))
    return types.CallHierarchyItem(
        entry.name, entry.kind, workspace.uri(source.path), place, name, detail=entry.detail or None
    )


def _ranges(workspace: Workspace, source: Source, spans: Iterable[Span]) -> list[types.Range]:
    return [range_at(source, span, workspace.encoding) for span in spans]
