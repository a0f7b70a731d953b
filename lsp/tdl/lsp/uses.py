"""Names over all files of a workspace: what stands at a place, and where else the same thing stands."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from lsprotocol import types
from tdl.language import occurrences
from tdl.language.occurrences import Definition, Occurrence
from tdl.language.parse import parse_file
from tdl.language.source import Source, Span
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.uris import import_path
from tdl.lsp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Use:
    """An occurrence in a file."""

    source: Source
    occurrence: Occurrence

    @property
    def is_where_it_is_defined(self) -> bool:
        """Whether it stands where what it means is introduced."""
        definition = self.occurrence.definition
        return self.source.path == definition.path and self.occurrence.span == definition.span


def occurrences_at(snapshot: Snapshot, position: types.Position) -> tuple[Occurrence, ...]:
    """What stands at the cursor: several where a name means several things."""
    return occurrences.at(snapshot.analysis, snapshot.offset(position))


def definitions_at(snapshot: Snapshot, position: types.Position) -> tuple[Definition, ...]:
    return tuple(dict.fromkeys(each.definition for each in occurrences_at(snapshot, position)))


def uses(workspace: Workspace, definitions: Collection[Definition]) -> Iterator[Use]:
    """Every occurrence of some things in any file; unsaved texts count.

    A file of the standard library counts as what is imported, also where it is open.
    """
    definitions = [replace(each, path=import_path(each.path)) for each in definitions]
    names = {each.name for each in definitions}
    paths = dict.fromkeys([*(each.path for each in definitions if each.path), *workspace.files()])
    for path in paths:
        source = workspace.read(path) if import_path(path) == path else None
        if source is not None and any(name in source.text for name in names):
            analysis = workspace.analysis(source)
            found = {each for definition in definitions for each in occurrences.of(analysis, definition)}
            yield from (Use(source, each) for each in sorted(found, key=lambda each: each.span.start))


def written(workspace: Workspace, definition: Definition) -> list[Span]:
    """The left-hand sides that define a tensor or a graph's value; of anything else, where it is introduced."""
    source = workspace.read(definition.path) if definition.kind in ("output", "intermediate") else None
    if source is None:
        return [definition.span]
    found = occurrences.of(workspace.analysis(source), definition)
    return [each.span for each in found if each.access == "write"] or [definition.span]


def item_span(source: Source, span: Span) -> Span:
    """The whole item that a place is in, without its doc comment; the place itself where it is in none."""
    for placed in reversed(parse_file(source).items):
        if placed.offset <= span.start:
            whole = placed.item.span.shifted(placed.offset)
            return whole if whole.start <= span.start and span.end <= whole.end else span
    return span
