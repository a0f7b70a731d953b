"""pygls' protocol without its own idea of documents, and with the quiet refusals that editors expect.

pygls keeps a second copy of every text, with line ends and offsets that are not the language's; its handlers are taken
out, and the server's own ones answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import Any

import attrs
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

CONTENT_MODIFIED = types.LSPErrorCodes.ContentModified.value
REQUEST_FAILED = types.LSPErrorCodes.RequestFailed.value

_OURS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL,
    types.WORKSPACE_EXECUTE_COMMAND,
    types.EXIT,
)

_OWN_METHODS = "tdl/"
"""What the methods that LSP does not know begin with; their parameters stay the plain data that was sent."""


@attrs.define
class OwnRequest:
    """A request of a method of our own."""

    id: int | str
    method: str
    params: Any = None
    jsonrpc: str = "2.0"


class Refused(JsonRpcException):
    """An answer that is not given, and whose reason the client can show: no fault, so nothing is logged."""

    def __init__(self, message: str, code: int = REQUEST_FAILED) -> None:
        super().__init__(message=message, code=code)


class Protocol(LanguageServerProtocol):
    """Answers go out as features give them."""

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _OURS:
            self.fm.builtin_features.pop(method, None)

    commands: tuple[str, ...] = ()
    """What `workspace/executeCommand` takes."""
    content_schemes: tuple[str, ...] = ()
    """The schemes of virtual documents that the server has the text of."""

    arrival: Callable[[], None] = staticmethod(lambda: None)
    """Called before a message is handled, in the context that its answer is made in."""

    def __init__(self, server: Any, converter: Any) -> None:
        super().__init__(server, converter)
        converter.register_structure_hook(OwnRequest, lambda data, _: OwnRequest(**data))

    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        return OwnRequest if method.startswith(_OWN_METHODS) else super().get_message_type(method)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """What pygls finds in the registered features, and what it does not look for."""
        result = yield from super().lsp_initialize(params)
        options = result.capabilities
        options.execute_command_provider = types.ExecuteCommandOptions(list(self.commands), work_done_progress=True)
        if options.workspace is not None:
            content = types.TextDocumentContentOptions(list(self.content_schemes))
            options.workspace.text_document_content = content
        return result

    @property
    def is_shut_down(self) -> bool:
        return self._shutdown

    def receive(self, data: dict[str, Any]) -> None:
        """Handle one message; a request that makes no sense is refused, not left without an answer."""
        try:
            message = self.structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            elif "id" in data:  # an answer that makes none: what waits for it is told
                self._handle_response(data["id"], error=error.to_response_error())
            return
        if isinstance(message, dict):
            return
        refusal = self._not_now(data.get("method", ""))
        if refusal is not None and "method" in data:
            if "id" in data:
                self._send_response(data["id"], error=refusal)
            return
        self.arrival()
        self.handle_message(message)

    def _not_now(self, method: str) -> types.ResponseError | None:
        """Why a message does not come at its time: before the session, or after it."""
        if self._shutdown and method != types.EXIT:
            return types.ResponseError(types.ErrorCodes.InvalidRequest, "the server was shut down")
        if self._workspace is None and method not in (types.INITIALIZE, types.EXIT):
            return types.ResponseError(types.ErrorCodes.ServerNotInitialized, "the server was not initialised yet")
        return None

    def _send_handler_result(self, future: Future[Any] | asyncio.Future[Any], *, msg_id: str | int) -> None:
        refusal = None if future.cancelled() else future.exception()
        if isinstance(refusal, Refused):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=refusal.to_response_error())
            return
        super()._send_handler_result(future, msg_id=msg_id)  # type: ignore[arg-type]
