"""One client's session: its workspace, what it can show, and when its documents are checked.

An edit asks for a check; the check runs once the client pauses, in slices, and gives up when the text changes under it.
A document that takes from the one that was edited is checked again too.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from lsprotocol import types
from tdl.lsp.features.diagnostics import diagnostics, language_diagnostics
from tdl.lsp.positions import ENCODINGS, Encoding
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.uris import path_of
from tdl.lsp.workers import Workers
from tdl.lsp.workspace import Document, Workspace

PAUSE = 0.004
"""Seconds without an edit before a document is checked: what a client sends in one go is then all here."""

MOST_WATCHED = 16

_ARRIVED: ContextVar[dict[str, Document]] = ContextVar("arrived")
"""The documents as they were when the message came that is being handled."""

Publish = Callable[[types.PublishDiagnosticsParams], None]


@dataclass
class Session:
    """`publish` sends diagnostics to the client, `refresh` tells it to ask again for what follows from other files,
    `fail` speaks of a fault of ours, and `checked` is told of each document that was checked."""

    publish: Publish
    refresh: Callable[[], None]
    fail: Callable[[Exception], None]
    checked: Callable[[Snapshot], None] = lambda _: None
    workspace: Workspace = field(default_factory=Workspace)
    client: types.ClientCapabilities = field(default_factory=types.ClientCapabilities)
    workers: Workers = field(default_factory=Workers)
    pulls: bool = False
    """Whether the client asks for diagnostics itself, so that they are not pushed as well."""
    can_run: bool = True
    """Whether programs may be run; not where the client's `initializationOptions` say `{"canRun": false}`."""
    watched: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """The virtual documents that a client has the text of, each with the document that it is about."""
    _has_checked: bool = False
    """Whether what checks schedules is loaded. Until then what the language says is sent ahead of what it will say."""
    _unchecked: set[str] = field(default_factory=set)
    _checks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def initialise(self, params: types.InitializeParams) -> None:
        self.client = params.capabilities
        self.workspace.encoding = encoding_of(params.capabilities)
        text_document = params.capabilities.text_document
        self.pulls = text_document is not None and text_document.diagnostic is not None
        options = params.initialization_options
        self.can_run = not (isinstance(options, dict) and options.get("canRun") is False)
        roots = [each.uri for each in params.workspace_folders or ()] or [params.root_uri or ""]
        self.workspace.folders = [path_of(uri) for uri in roots if uri]

    # ---- documents

    def open(self, params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        self._changed(self.workspace.open(item.uri, item.version, item.text))

    def edit(self, params: types.DidChangeTextDocumentParams) -> None:
        identity = params.text_document
        document = self.workspace.edit(identity.uri, identity.version, params.content_changes)
        if document is not None:
            self._changed(document)

    def close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = path_of(uri)
        self._unchecked.discard(path)
        if path in self._checks:
            self._checks[path].cancel()
        self.workspace.close(uri)
        if not self.pulls:
            self.publish(types.PublishDiagnosticsParams(uri, []))
        self.check_users_of(path)

    def files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            path = path_of(change.uri)
            self.workspace.forget(path)
            self.check_users_of(path)

    def folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {path_of(each.uri) for each in params.event.removed}
        kept = [folder for folder in self.workspace.folders if folder not in gone]
        self.workspace.folders = [*kept, *(path_of(each.uri) for each in params.event.added)]

    def arrival(self) -> None:
        """A message came: it is about the documents as they are now, whatever comes before it is handled."""
        _ARRIVED.set(dict(self.workspace.documents))

    def snapshot(self, uri: str) -> Snapshot | None:
        """An open document as it was when the message came, or a file as it is on disk."""
        document = _ARRIVED.get(self.workspace.documents).get(path_of(uri))
        if document is None:
            source = self.workspace.read(path_of(uri))
            if source is None:
                return None
            document = Document(uri, -1, source)
        return Snapshot(document, self.workspace, self.client)

    def is_stale(self, snapshot: Snapshot) -> bool:
        """Whether the document of a snapshot has been edited since."""
        return self.workspace.read(snapshot.document.path) is not snapshot.source

    def watch(self, uri: str, virtual: str) -> None:
        """Note that a client shows a virtual document; the ones it asked for longest ago are let go."""
        self.watched[virtual] = uri
        self.watched.move_to_end(virtual)
        while len(self.watched) > MOST_WATCHED:
            self.watched.popitem(last=False)

    # ---- checking

    def _changed(self, document: Document) -> None:
        self._check_soon(document)
        self.check_users_of(document.path)

    def check_users_of(self, path: str) -> None:
        """Check every open document that takes from a file again."""
        users = [each for each in self.workspace.documents.values() if self.workspace.takes_from(each, path)]
        if users:
            self.refresh()
        for document in users:
            self._check_soon(document)

    def _check_soon(self, document: Document) -> None:
        self._unchecked.add(document.path)
        if document.path not in self._checks:
            self._checks[document.path] = asyncio.create_task(self._check(document.path))

    async def _check(self, path: str) -> None:
        """Check a document until a check of it has gone through without an edit on the way."""
        try:
            while path in self._unchecked:
                await asyncio.sleep(PAUSE)
                self._unchecked.discard(path)
                await self._check_once(Snapshot(self.workspace.documents[path], self.workspace, self.client))
        except Exception as error:
            self.fail(error)  # the next edit is checked as if this had not been
        finally:
            self._checks.pop(path, None)

    async def _check_once(self, snapshot: Snapshot) -> None:
        document = snapshot.document
        if not self._has_checked and snapshot.has_schedules:
            self._publish(snapshot, language_diagnostics(snapshot))
        self._has_checked = True
        for _ in snapshot.warm():
            await asyncio.sleep(0)
            if document.path in self._unchecked:
                return
        self._publish(snapshot, diagnostics(snapshot))
        self.checked(snapshot)

    def _publish(self, snapshot: Snapshot, found: list[types.Diagnostic]) -> None:
        if not self.pulls:
            document = snapshot.document
            self.publish(types.PublishDiagnosticsParams(document.uri, found, document.version))


def encoding_of(client: types.ClientCapabilities) -> Encoding:
    """The first encoding that the client offers and we know; UTF-16 where it offers none."""
    offered = () if client.general is None else client.general.position_encodings or ()
    return next((Encoding(each) for each in offered if each in ENCODINGS), Encoding.Utf16)
