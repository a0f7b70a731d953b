"""`tdlc lsp`: the language server for editors."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Annotated, Any

import typer
from tdl.compiler.cli.fault import Fault


def lsp(
    stdio: Annotated[bool, typer.Option("--stdio", help="Talk over the standard streams: the default.")] = False,
    tcp: Annotated[
        str | None, typer.Option(metavar="[HOST:]PORT", help="Wait for one client on a port, for development.")
    ] = None,
    ws: Annotated[str | None, typer.Option(metavar="[HOST:]PORT", help="The same over a web socket.")] = None,
) -> None:
    """Serve editors: what the checker knows at the cursor, over the Language Server Protocol."""
    if sum((stdio, tcp is not None, ws is not None)) > 1:
        raise Fault("--stdio, --tcp and --ws exclude each other")
    places = {name: _address(name, value) for name, value in (("tcp", tcp), ("ws", ws)) if value is not None}
    gc.disable()  # until the server is loaded: everything that is made until then stays
    main = _server()
    if "tcp" in places:
        code = main.serve_tcp(*places["tcp"])
    elif "ws" in places:
        code = main.serve_websocket(*places["ws"])
    else:
        code = main.serve_stdio()
    raise typer.Exit(code)


def _server() -> Any:
    """The server stands above the compiler, which cannot import it; this command is the one door to it."""
    try:
        return import_module("tdl.lsp.main")
    except ModuleNotFoundError as error:
        if error.name in ("pygls", "lsprotocol", "attrs", "cattrs"):
            raise Fault("the language server needs pygls and lsprotocol", "pip install 'tdlang[lsp]'") from None
        raise


def _address(option: str, value: str) -> tuple[str, int]:
    host, _, port = value.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise Fault(f"--{option} takes a port, or a host and a port with a colon between, not `{value}`")
    return host or "127.0.0.1", int(port)
