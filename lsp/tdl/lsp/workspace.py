"""The texts that a client has open, what they mean, and the files beside them.

An open document hides the file on disk, so imports see what is not saved yet. What a document means is remembered until
its own text or that of a module it takes from changes; items that did not change are remembered by the language itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from lsprotocol import types
from tdl.language.analysis import Analysis, analyse, read_import, standard
from tdl.language.decode import decode
from tdl.language.source import Source
from tdl.lsp.kept_tokens import KeptTokens
from tdl.lsp.limits import why_not_checked
from tdl.lsp.outcomes import Outcomes
from tdl.lsp.positions import Encoding, span_at
from tdl.lsp.settings import Settings
from tdl.lsp.uris import path_of, uri_of

_Stamp = tuple[int, int]  # when a file was written, in nanoseconds, and how long it is


@dataclass(frozen=True, slots=True)
class Document:
    """An open text at one version. `uri` is spelt as the client spells it."""

    uri: str
    version: int
    source: Source

    @property
    def path(self) -> str:
        return self.source.path


@dataclass(frozen=True, slots=True)
class _Known:
    """An analysis with the texts it was made of; None for a file that is not there."""

    analysis: Analysis
    read: Mapping[str, Source | None]


@dataclass
class Workspace:
    """All that the server knows of a client's files."""

    encoding: Encoding = Encoding.Utf16
    folders: list[str] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    """The open ones by path."""
    settings: Settings = field(default_factory=Settings)
    outcomes: Outcomes = field(default_factory=Outcomes)
    tokens: KeptTokens = field(default_factory=KeptTokens)
    _known: dict[str, _Known] = field(default_factory=dict)
    _disk: dict[str, tuple[_Stamp, Source]] = field(default_factory=dict)

    # ---- edits

    def open(self, uri: str, version: int, text: str) -> Document:
        document = Document(uri, version, Source(path_of(uri), text))
        self.documents[document.path] = document
        return document

    def edit(self, uri: str, version: int, changes: Iterable[types.TextDocumentContentChangeEvent]) -> Document | None:
        """The document after some changes, each made to what the one before left; None where it is not open."""
        document = self.find(uri)
        if document is None:
            return None
        source = document.source
        for change in changes:
            source = Source(source.path, self._changed(source, change))
        changed = Document(document.uri, version, source)
        self.documents[changed.path] = changed
        return changed

    def _changed(self, source: Source, change: types.TextDocumentContentChangeEvent) -> str:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            return change.text
        span = span_at(source, change.range, self.encoding)
        return source.text[: span.start] + change.text + source.text[span.end :]

    def with_texts(self, texts: Mapping[str, str]) -> Workspace:
        """The workspace as it would be with other texts of some files. It does not change."""
        edited = {path: Document(self.uri(path), -1, Source(path, text)) for path, text in texts.items()}
        return Workspace(self.encoding, self.folders, {**self.documents, **edited})

    def close(self, uri: str) -> None:
        path = path_of(uri)
        self.documents.pop(path, None)
        self._known.pop(path, None)

    # ---- reading

    def find(self, uri: str) -> Document | None:
        return self.documents.get(path_of(uri))

    def uri(self, path: str) -> str:
        """The URI of a file, as the client spells it if it has it open."""
        document = self.documents.get(path)
        return uri_of(path) if document is None else document.uri

    def read(self, path: str) -> Source | None:
        """The text of a file: the open one, else that on disk; the same object until it changes."""
        if path.startswith("<std"):
            return standard(path[1:-1])
        document = self.documents.get(path)
        return self._read_disk(path) if document is None else document.source

    def _read_disk(self, path: str) -> Source | None:
        try:
            stat = os.stat(path)
            stamp = stat.st_mtime_ns, stat.st_size
            kept = self._disk.get(path)
            if kept is not None and kept[0] == stamp:
                return kept[1]
            with open(path, "rb") as file:
                source, fault = decode(path, file.read())
        except (OSError, ValueError):
            self._disk.pop(path, None)
            return None
        if fault is not None:
            return None
        self._disk[path] = stamp, source
        return source

    # ---- meaning

    def analysis(self, source: Source) -> Analysis:
        """What a text means, with the modules it takes from as they are now."""
        known = self._known.get(source.path)
        if known is not None and known.analysis.source is source and self._is_current(known):
            return known.analysis
        read: dict[str, Source | None] = {}

        def reading(path: str) -> Source | str | None:
            read[path] = found = self.read(path)
            return read_import(path) if found is None else why_not_checked(found) or found

        is_checked = why_not_checked(source) is None
        analysis = analyse(source, reading) if is_checked else replace(analyse(Source(source.path, "")), source=source)
        self._known[source.path] = _Known(analysis, read)
        return analysis

    def texts(self, source: Source) -> dict[str, str]:
        """A text and every other one that is open, by path: what it takes from, or may after a change."""
        others = (each.source for each in self.documents.values() if why_not_checked(each.source) is None)
        return {**{each.path: each.text for each in others}, source.path: source.text}

    def takes_from(self, document: Document, path: str) -> bool:
        """Whether a document's last analysis read a file."""
        known = self._known.get(document.path)
        return known is not None and path in known.read

    def _is_current(self, known: _Known) -> bool:
        return all(self.read(path) is source for path, source in known.read.items())

    # ---- files

    def files(self) -> Iterator[str]:
        """Every program of the workspace: those open, then those in its folders."""
        yield from self.documents
        seen = set(self.documents)
        for folder in self.folders:
            for path in _programs(folder):
                if path not in seen:
                    seen.add(path)
                    yield path

    def forget(self, path: str) -> None:
        """Drop what is remembered of a file that changed on disk."""
        self._disk.pop(path, None)
        if path not in self.documents:
            self._known.pop(path, None)


def _programs(folder: str) -> Iterator[str]:
    """All `*.tdl` below a folder, except below hidden ones."""
    for place, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "node_modules")
        yield from (os.path.join(place, file) for file in sorted(files) if file.endswith(".tdl"))
