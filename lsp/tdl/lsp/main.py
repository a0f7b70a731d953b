"""`tdlc lsp`: a server on the standard streams, or for development on a socket."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import socket
import sys
from functools import partial

from tdl.lsp.connection import Connection, Read, Write, writing_to
from tdl.lsp.server import make_server


def serve_stdio() -> int:
    """Serve the client at the other end of the standard streams; gives the exit code.

    The real standard output is kept for messages alone: whatever else is printed goes to the log.
    """
    _log(logging.WARNING)
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return asyncio.run(_serve(partial(os.read, 0), writing_to(descriptor)))


def serve_tcp(host: str, port: int) -> int:
    """Serve one client that connects to a port."""
    _log(logging.INFO)
    with socket.create_server((host, port)) as listener:
        logging.getLogger(__name__).info("listening on %s:%d", *listener.getsockname()[:2])
        client, _ = listener.accept()
    with client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return asyncio.run(_serve(client.recv, client.sendall))


def serve_websocket(host: str, port: int) -> int:
    """Serve one client over a web socket; needs the `websockets` package."""
    _log(logging.INFO)
    return asyncio.run(_serve_websocket(host, port))


def _log(level: int) -> None:
    """Our own log, on standard error; what pygls says of a client's mistakes is told to the client."""
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s: %(message)s")
    logging.getLogger("pygls").setLevel(logging.CRITICAL)


async def _serve_websocket(host: str, port: int) -> int:
    from pygls.io_ import WebSocketWriter
    from websockets.asyncio.server import ServerConnection, serve

    server = make_server()
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def talk(client: ServerConnection) -> None:
        server.protocol.set_writer(WebSocketWriter(client), include_headers=False)
        async for body in client:
            server.protocol.receive(json.loads(body))
        ended.set_result(0)

    async with serve(talk, host, port, max_size=None) as listener:
        for each in listener.sockets:
            logging.getLogger(__name__).info("listening on %s:%d", *each.getsockname()[:2])
        try:
            return await ended
        finally:
            server.session.workers.kill()


async def _serve(read: Read, write: Write) -> int:
    server = make_server()
    gc.freeze()  # what stays for good is not looked through again
    gc.set_threshold(50_000, 20, 100)
    gc.enable()
    connection = Connection(read, write, server.protocol.receive)
    server.feature("exit")(lambda *_: connection.stop(0 if server.protocol.is_shut_down else 1))
    server.protocol.set_writer(connection.writer)
    connection.start()
    try:
        return await connection.ended
    finally:
        server.session.workers.kill()
        connection.writer.close()
