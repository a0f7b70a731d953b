"""A server for the tests that talk to one over its pipe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lsp.client import Client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A client with a server that was started, and not initialised yet. Nothing may be wrong in the server's log."""
    log = tmp_path / "server.log"
    with Client.start(log) as started:
        yield started
    assert "Traceback" not in log.read_text(encoding="utf-8")
