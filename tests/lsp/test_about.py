"""What the server says of the machine and of error codes."""

from __future__ import annotations

import pytest
from tdl.compiler.machine import cache_sizes, cores
from tdl.language.codes import CODES

from tests.lsp.client import Client, ServerError


def test_the_machine_that_code_is_made_for(client: Client) -> None:
    client.initialise()
    machine = client.request("tdl/machine", {})
    assert machine["cores"] == cores()
    assert machine["caches"] == list(cache_sizes())
    assert machine["vectorBits"] in (128, 256, 512)
    assert machine["cpu"]


def test_a_page_of_every_code(client: Client) -> None:
    client.initialise()
    codes = client.request("tdl/codes", {})
    assert codes == dict(CODES)
    for code in codes:
        assert client.request("tdl/page", {"code": code})["text"].startswith("#")


def test_a_code_that_is_none(client: Client) -> None:
    client.initialise()
    with pytest.raises(ServerError, match="there is no code `nonsense`"):
        client.request("tdl/page", {"code": "nonsense"})
