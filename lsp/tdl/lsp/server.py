"""The server: which method is answered by what. Nothing is computed here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcMethodNotFound
from pygls.lsp.server import LanguageServer
from tdl.compiler.version import VERSION
from tdl.lsp.asking import meanwhile
from tdl.lsp.commands import COMMANDS
from tdl.lsp.configuration import Configuration
from tdl.lsp.features.table import DOCUMENT_FEATURES, WORKSPACE_FEATURES, Feature
from tdl.lsp.limits import why_not_checked
from tdl.lsp.protocol import CONTENT_MODIFIED, Protocol, Refused
from tdl.lsp.services import CODES_ASKED, MACHINE, PAGE, PREVIEW, SCHEME, STATUS, STUDIO, TWEAKS, Services
from tdl.lsp.session import Session
from tdl.lsp.snapshot import Snapshot
from tdl.lsp.tries import ask
from tdl.lsp.uris import path_of

log = logging.getLogger(__name__)

Handler = Callable[[Any], Coroutine[Any, Any, Any]]


class Server(LanguageServer):
    """A pygls server whose documents are a `Session`."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__("tdlc", VERSION, protocol_cls=Protocol)
        self.session = Session(self.text_document_publish_diagnostics, self._refresh, self._fail, self._checked)
        self.services = Services(self, self.session)
        self.configuration = Configuration(self, self.session.workspace)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Into the client's log: a fault of ours is no reason to interrupt somebody. What clients get wrong is none."""
        if not isinstance(error, JsonRpcMethodNotFound | JsonRpcInvalidParams):
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        data = error.data if isinstance(error, JsonRpcException) else None
        if isinstance(data, dict) and "traceback" in data:  # pygls keeps that of the feature here
            log.error("Traceback (most recent call last):\n%s%s", "".join(data["traceback"]), error)
        else:
            log.error("%s", error, exc_info=error)
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, f"{type(error).__name__}: {error}"))

    def _checked(self, snapshot: Snapshot) -> None:
        """The virtual documents about a document may have other texts now, and its previews will be asked for soon."""
        workspace = self.session.client.workspace
        if workspace is None or workspace.text_document_content is None:
            return
        for virtual, uri in self.session.watched.items():
            if path_of(uri) == snapshot.document.path:
                self.workspace_text_document_content_refresh(types.TextDocumentContentRefreshParams(virtual))

    def _refresh(self) -> None:
        """Have what follows from other files asked for again, by clients that can."""
        workspace = self.client_capabilities.workspace or types.WorkspaceClientCapabilities()
        for capability, refresh in (
            (workspace.diagnostics if self.session.pulls else None, self.workspace_diagnostic_refresh),
            (workspace.semantic_tokens, self.workspace_semantic_tokens_refresh),
            (workspace.inlay_hint, self.workspace_inlay_hint_refresh),
        ):
            if capability is not None and capability.refresh_support:
                refresh(None)


def make_server() -> Server:
    """A server with every feature registered."""
    server = Server()
    server.protocol.arrival = server.session.arrival
    _register_documents(server)
    _register_services(server)
    for feature in DOCUMENT_FEATURES:
        server.feature(feature.method, feature.options)(_of_document(server, feature))
    for feature in WORKSPACE_FEATURES:
        server.feature(feature.method, feature.options)(_of_workspace(server, feature))
    return server


def _register_documents(server: Server) -> None:
    session = server.session
    for method, handle in (
        (types.INITIALIZE, session.initialise),
        (types.INITIALIZED, lambda params: _begin(server)),
        (types.TEXT_DOCUMENT_DID_OPEN, session.open),
        (types.TEXT_DOCUMENT_DID_CHANGE, session.edit),
        (types.TEXT_DOCUMENT_DID_CLOSE, session.close),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, session.files_changed),
        (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, session.folders_changed),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, server.configuration.changed),
    ):
        server.feature(method)(_plain(handle))


def _register_services(server: Server) -> None:
    services, protocol = server.services, server.protocol
    protocol.commands, protocol.content_schemes = tuple(COMMANDS), (SCHEME,)
    server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)(_plain(services.bars.cancel))
    for method, handle in (
        (PREVIEW, services.preview),
        (STATUS, services.status),
        (TWEAKS, services.tweaks),
        (MACHINE, services.machine),
        (CODES_ASKED, services.codes),
        (PAGE, services.page),
        (STUDIO, services.studio),
        (types.WORKSPACE_TEXT_DOCUMENT_CONTENT, services.content),
        (types.WORKSPACE_EXECUTE_COMMAND, services.execute),
    ):
        server.feature(method)(_asynchronous(handle))


def _asynchronous(handle: Handler) -> Handler:
    async def handler(params: Any) -> Any:
        return await handle(params)

    return handler


def _plain(handle: Callable[[Any], None]) -> Callable[[Any], None]:
    """A function of its own: pygls writes its marks on what it registers, which methods do not take."""

    def handler(params: Any) -> None:
        handle(params)

    return handler


def _begin(server: Server) -> None:
    _watch_files(server)
    server.configuration.begin()


def _watch_files(server: Server) -> None:
    """Ask the client to tell of programs that change on disk, where it can."""
    workspace = server.client_capabilities.workspace
    watched = None if workspace is None else workspace.did_change_watched_files
    if watched is None or not watched.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*.tdl")])
    registration = types.Registration("watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    server.client_register_capability(types.RegistrationParams([registration]))


def _of_document(server: Server, feature: Feature) -> Handler:
    """Answers from the document as it was when the request came, unless it was edited since."""

    async def answer(params: Any) -> Any:
        snapshot = server.session.snapshot(params.text_document.uri)
        if snapshot is None:
            raise Refused(f"there is no {params.text_document.uri}: it is not open, and no file that can be read")
        await asyncio.sleep(0)  # what the client sent after it is seen first
        if server.session.is_stale(snapshot):
            raise Refused("the document was edited since", CONTENT_MODIFIED)
        if why_not_checked(snapshot.source) is not None and feature.method != types.TEXT_DOCUMENT_DIAGNOSTIC:
            return None
        return await meanwhile(feature.answer(snapshot, params), partial(ask, server.session, snapshot))

    return answer


def _of_workspace(server: Server, feature: Feature) -> Handler:
    async def answer(params: Any) -> Any:
        await asyncio.sleep(0)
        return feature.answer(server.session.workspace, params)

    return answer
