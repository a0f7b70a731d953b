"""The worker's own process: takes jobs from its pipe, one after the other, and ends when the pipe does.

    -> {"id": 1, "job": "bench", "payload": {...}}
    <- {"id": 1, "progress": {"message": "measuring", "percentage": 40}}
    <- {"id": 1, "result": {...}}      or {"id": 1, "failure": "why there is none"}

The pipe is read in a thread of its own, so that a worker whose server is gone goes too, whatever it is doing.
"""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

from tdl.lsp.connection import Write, read_messages, writing_to

Message = dict[str, Any]


def main() -> None:
    """Serve the process at the other end of the standard streams until it goes."""
    descriptor = os.dup(1)
    os.dup2(2, 1)  # what a library prints is not a message
    jobs: SimpleQueue[Message] = SimpleQueue()
    Thread(target=_read, args=(jobs,), daemon=True).start()
    gc.set_threshold(100_000, 20, 100)
    write = writing_to(descriptor)
    while True:
        _do(jobs.get(), write)


def _read(jobs: SimpleQueue[Message]) -> None:
    try:
        for body in read_messages(partial(os.read, 0)):
            jobs.put(json.loads(body))
    finally:
        os._exit(0)


def _do(message: Message, write: Write) -> None:
    from tdl.lsp.worker.jobs import JOBS, Failed

    number = message["id"]
    progress: Callable[[Message], None] = lambda value: _send(write, {"id": number, "progress": value})  # noqa: E731
    try:
        answer: Message = {"id": number, "result": JOBS[message["job"]](message["payload"], progress)}
    except Failed as error:
        answer = {"id": number, "failure": str(error)}
    except Exception as error:
        import traceback

        traceback.print_exc()
        answer = {"id": number, "failure": f"{type(error).__name__}: {error}"}
    _send(write, answer)


def _send(write: Write, message: Message) -> None:
    body = json.dumps(message).encode()
    try:
        write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    except OSError:
        os._exit(0)


if __name__ == "__main__":
    main()
