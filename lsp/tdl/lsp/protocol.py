"""pygls' protocol without its own idea of documents, and with the quiet refusals that editors expect.

pygls keeps a second copy of every text, with line ends and offsets that are not the language's; its handlers are taken
out, and the server's own ones answer.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol

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
    types.EXIT,
)


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
            return
        if isinstance(message, dict):
            return
        if self._shutdown and "id" in data and "method" in data:
            late = types.ResponseError(types.ErrorCodes.InvalidRequest, "the server was shut down")
            self._send_response(data["id"], error=late)
            return
        self.handle_message(message)

    def _send_handler_result(self, future: Future[Any] | asyncio.Future[Any], *, msg_id: str | int) -> None:
        refusal = None if future.cancelled() else future.exception()
        if isinstance(refusal, Refused):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=refusal.to_response_error())
            return
        super()._send_handler_result(future, msg_id=msg_id)  # type: ignore[arg-type]
