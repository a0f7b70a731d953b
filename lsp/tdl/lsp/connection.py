"""The pipe to a client: a thread that reads, one that writes, and an event loop that never waits for either.

Reading goes on while an answer is made, so a cancellation overtakes the requests before it. Messages are framed by
`Content-Length` headers; the end of the stream, or a pipe that breaks, ends the server.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

Read = Callable[[int], bytes]
Write = Callable[[bytes], object]

_CHUNK = 1 << 16
_MOST = 1 << 30
"""Bytes of one message; more than that is no message."""


class BrokenStream(Exception):
    """The client sent what is not framed as a message: what follows it cannot be read either."""


def read_messages(read: Read) -> Iterator[bytes]:
    """The bodies of the messages of a stream, up to its end."""
    buffer = bytearray()
    while True:
        while (end := buffer.find(b"\r\n\r\n")) < 0:
            if len(buffer) > _CHUNK * 16:
                raise BrokenStream("a header without an end")
            chunk = read(_CHUNK)
            if not chunk:
                return
            buffer += chunk
        length = _content_length(bytes(buffer[:end]))
        start = end + 4
        while len(buffer) < start + length:
            chunk = read(_CHUNK)
            if not chunk:
                return
            buffer += chunk
        yield bytes(buffer[start : start + length])
        del buffer[: start + length]


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
            if length <= _MOST:
                return length
    raise BrokenStream("a header without a content length")


class Writer:
    """Writes in a thread of its own, in order. `on_broken` is called from there when nobody reads any more."""

    def __init__(self, write: Write, on_broken: Callable[[], None]) -> None:
        self._write = write
        self._on_broken = on_broken
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._queue.put(data)

    def end(self) -> None:
        """Let the thread end once it has written what it was given."""
        self._queue.put(None)

    def close(self) -> None:
        """Wait for that, but not for ever."""
        self.end()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                self._write(data)
        except (OSError, ValueError):
            self._on_broken()


def writing_to(descriptor: int) -> Write:
    """Writes all of some bytes to a descriptor, however many at a time it takes."""

    def write(data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    return write


class Connection:
    """Hands each message to `receive` in the event loop, until the stream ends or `stop` is called."""

    def __init__(self, read: Read, write: Write, receive: Callable[[dict[str, Any]], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._read = read
        self._receive = receive
        self.ended: asyncio.Future[int] = self._loop.create_future()
        self.writer = Writer(write, self._broken)

    def start(self) -> None:
        Thread(target=self._run, name="reader", daemon=True).start()

    def stop(self, code: int) -> None:
        """End the connection, and the server with this exit code."""
        if not self.ended.done():
            self.ended.set_result(code)

    def _run(self) -> None:
        with suppress(BrokenStream, OSError, ValueError):
            for body in read_messages(self._read):
                try:
                    message = json.loads(body)
                except (ValueError, RecursionError):
                    continue  # there is no telling what it asked
                if isinstance(message, dict):
                    self._post(self._receive, message)
        self._broken()

    def _broken(self) -> None:
        self._post(self.stop, 1)

    def _post(self, call: Callable[[Any], None], argument: object) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(call, argument)
