"""`tdlc lsp`: a server on the standard streams, or for development on a socket."""

from __future__ import annotations

import asyncio
import gc
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
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    descriptor = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return asyncio.run(_serve(partial(os.read, 0), writing_to(descriptor)))


def serve_tcp(host: str, port: int) -> int:
    """Serve one client that connects to a port."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    with socket.create_server((host, port)) as listener:
        logging.getLogger(__name__).info("listening on %s:%d", *listener.getsockname()[:2])
        client, _ = listener.accept()
    with client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return asyncio.run(_serve(client.recv, client.sendall))


def serve_websocket(host: str, port: int) -> int:
    """Serve one client over a web socket; needs the `websockets` package."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    make_server().start_ws(host, port)
    return 0


async def _serve(read: Read, write: Write) -> int:
    server = make_server()
    gc.collect()
    gc.freeze()  # what stays for good is not looked through again
    connection = Connection(read, write, server.protocol.receive)
    server.feature("exit")(lambda *_: connection.stop(0 if server.protocol.is_shut_down else 1))
    server.protocol.set_writer(connection.writer)
    connection.start()
    try:
        return await connection.ended
    finally:
        server.session.workers.kill()
        connection.writer.close()
