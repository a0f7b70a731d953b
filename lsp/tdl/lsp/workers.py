"""The worker processes as the server sees them: a job is sent, its answer awaited, and the process ended at will.

There is one for making code, one for running it and one for trying changes of the text, so that none waits for the work
of another. A process that ends in the midst of a job fails that job with a message; the next job starts another.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any

from tdl.lsp.connection import Connection

Progress = Callable[[dict[str, Any]], None]


class WorkerFailed(Exception):
    """Why a job has no result, in words for the user."""


@dataclass
class Worker:
    """One process, started for its first job. Jobs run one after the other; one that is cancelled ends the process."""

    name: str
    process: subprocess.Popen[bytes] | None = None
    _connection: Connection | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _number: int = 0
    _answer: asyncio.Future[Any] | None = None
    _progress: Progress | None = None

    @property
    def identity(self) -> int | None:
        """The id of its process, while there is one."""
        return None if self.process is None else self.process.pid

    async def run(self, job: str, payload: dict[str, Any], progress: Progress | None = None) -> Any:
        """The result of a job. Raises WorkerFailed where it has none."""
        async with self._turn:
            connection = self._started()
            self._number += 1
            self._answer = asyncio.get_running_loop().create_future()
            self._progress = progress
            body = json.dumps({"id": self._number, "job": job, "payload": payload}).encode()
            connection.writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            try:
                return await self._answer
            except asyncio.CancelledError:
                self.kill()
                raise
            finally:
                self._answer = self._progress = None

    def _started(self) -> Connection:
        if self._connection is not None and self.process is not None and self.process.poll() is None:
            return self._connection
        process = subprocess.Popen(
            [sys.executable, "-m", "tdl.lsp.worker.main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        connection = Connection(process.stdout.read, partial(_write_all, process.stdin), self._receive)
        connection.ended.add_done_callback(partial(self._ended, process, connection))
        connection.start()
        self.process, self._connection = process, connection
        return connection

    def _receive(self, message: dict[str, Any]) -> None:
        if message["id"] != self._number or self._answer is None or self._answer.done():
            return
        if "progress" in message:
            if self._progress is not None:
                self._progress(message["progress"])
        elif "failure" in message:
            self._answer.set_exception(WorkerFailed(message["failure"]))
        else:
            self._answer.set_result(message["result"])

    def _ended(self, process: subprocess.Popen[bytes], connection: Connection, _: object) -> None:
        """Called when the pipe of a process closes, whether it was ended or fell."""
        if process is self.process:
            self.kill()
            if self._answer is not None and not self._answer.done():
                words = "the process that makes and runs code ended unexpectedly; the next request starts another"
                self._answer.set_exception(WorkerFailed(words))
        connection.writer.end()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        process, self.process, self._connection = self.process, None, None
        if process is not None:
            process.kill()


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[pipe.write(rest) :]


@dataclass
class Workers:
    """`code` makes code, `runs` runs and measures it, `tries` checks what the text could become."""

    code: Worker = field(default_factory=lambda: Worker("code"))
    runs: Worker = field(default_factory=lambda: Worker("runs"))
    tries: Worker = field(default_factory=lambda: Worker("tries"))

    @property
    def all(self) -> tuple[Worker, ...]:
        return self.code, self.runs, self.tries

    def kill(self) -> None:
        for worker in self.all:
            worker.kill()
