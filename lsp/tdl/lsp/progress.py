"""Work that the client shows as under way, and that it can cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from lsprotocol import types

Token = int | str


class Peer(Protocol):
    """What is needed of the server."""

    def notify(self, method: str, params: Any) -> None: ...
    def send_request_async(self, method: str, params: Any) -> asyncio.Future[Any]: ...


@dataclass
class ProgressBars:
    """The work that runs now, by token. A token that the client cancels ends its task."""

    peer: Peer
    _tasks: dict[Token, asyncio.Task[Any]] = field(default_factory=dict)

    async def token(self, given: Token | None, client: types.ClientCapabilities) -> Token | None:
        """The client's token, or one that it agrees to; None where it shows no progress."""
        if given is not None:
            return given
        if client.window is None or not client.window.work_done_progress:
            return None
        token = uuid4().hex
        params = types.WorkDoneProgressCreateParams(token)
        await self.peer.send_request_async(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params)
        return token

    async def run(
        self, token: Token | None, title: str, work: Callable[[Callable[[dict[str, Any]], None]], Any]
    ) -> Any:
        """Await some work that reports `{"message", "percentage"}`, shown under a token."""
        if token is None:
            return await work(lambda _: None)
        task = asyncio.current_task()
        assert task is not None
        self._tasks[token] = task
        self._send(token, types.WorkDoneProgressBegin(title, cancellable=True, percentage=0))
        ending = "cancelled"
        try:
            result = await work(lambda value: self._send(token, types.WorkDoneProgressReport(**value)))
            ending = "done"
            return result
        except Exception:
            ending = "failed"
            raise
        finally:
            del self._tasks[token]
            self._send(token, types.WorkDoneProgressEnd(message=ending))

    def cancel(self, params: types.WorkDoneProgressCancelParams) -> None:
        task = self._tasks.get(params.token)
        if task is not None:
            task.cancel()

    def _send(self, token: Token, value: Any) -> None:
        self.peer.notify(types.PROGRESS, types.ProgressParams(token, value))
