"""What a feature sees: one document at one version, and what it means. Nothing in it changes while an answer is made.

    def hover(snapshot: Snapshot, params: HoverParams) -> Hover | None: ...

The analysis is made when it is first asked for, and shared by all that ask about the same version.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from lsprotocol import types
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.diagnostic import Diagnostic
from tdl.language.module import Entry
from tdl.language.scope import Declaration
from tdl.language.source import Source, Span
from tdl.lsp.positions import Encoding, offset_at, position_at, range_at, span_at
from tdl.lsp.workspace import Document, Workspace


@dataclass(frozen=True)
class Snapshot:
    """A document with the workspace that it is part of."""

    document: Document
    workspace: Workspace
    client: types.ClientCapabilities = field(default_factory=types.ClientCapabilities)

    @property
    def source(self) -> Source:
        return self.document.source

    @property
    def encoding(self) -> Encoding:
        return self.workspace.encoding

    @cached_property
    def analysis(self) -> Analysis:
        return self.workspace.analysis(self.source)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything wrong with the document: what the language says, and which schedule lines are refused."""
        refused = (each for of_one in self._refused() for each in of_one)
        found = (*self.analysis.diagnostics, *refused)
        return tuple(sorted(found, key=lambda each: (each.primary.start, each.primary.end)))

    def warm(self) -> Iterator[None]:
        """Work `diagnostics` out in slices, after each of which the caller may do other things or stop."""
        yield
        for _ in self._refused():
            yield

    @property
    def has_schedules(self) -> bool:
        return any(isinstance(entry.placed.item, syntax.Schedule) for entry in self.analysis.module.entries)

    def _refused(self) -> Iterator[tuple[Diagnostic, ...]]:
        """What is wrong with one schedule after the other."""
        if self.has_schedules:
            from tdl.compiler.schedule.check import schedule_by_schedule  # half of what a server would load at start

            yield from schedule_by_schedule(self.analysis)

    # ---- places of this document

    def offset(self, position: types.Position) -> int:
        return offset_at(self.source, position, self.encoding)

    def position(self, offset: int) -> types.Position:
        return position_at(self.source, offset, self.encoding)

    def span(self, place: types.Range) -> Span:
        return span_at(self.source, place, self.encoding)

    def range(self, span: Span) -> types.Range:
        """The range of an absolute span."""
        return range_at(self.source, span, self.encoding)

    def entry_at(self, offset: int) -> Entry | None:
        """The item whose text, doc comment included, holds an offset; its end counts as in it."""
        for entry in reversed(self.analysis.module.entries):
            if entry.placed.offset <= offset:
                return entry
        return None

    # ---- places of other files

    def location(self, path: str, span: Span) -> types.Location | None:
        """The location of an absolute span of any file; None where its text is not to be had."""
        source = self.source if path == self.source.path else self.workspace.read(path)
        if source is None:
            return None
        return types.Location(self.workspace.uri(path), range_at(source, span, self.encoding))

    def location_of(self, declaration: Declaration) -> types.Location | None:
        """Where a declaration's name stands."""
        return self.location(declaration.path, declaration.span.shifted(declaration.offset))

    # ---- what the client can show

    @property
    def has_markdown(self) -> bool:
        """Whether hovers may be Markdown."""
        document = self.client.text_document
        hover = None if document is None else document.hover
        formats = None if hover is None else hover.content_format
        return formats is None or types.MarkupKind.Markdown in formats


def name_of(item: syntax.Item) -> syntax.Name | None:
    """The name that an item declares, if it declares one."""
    name = getattr(item, "name", None)
    return name if isinstance(name, syntax.Name) else None


def snapshot_of(workspace: Workspace, path: str) -> Snapshot | None:
    """A file as a feature sees it, open or not; None where it cannot be read."""
    source = workspace.read(path)
    document = workspace.documents.get(path)
    if source is None:
        return None
    return Snapshot(document or Document(workspace.uri(path), -1, source), workspace)
