"""What a client sends for settings, and what becomes of it."""

from __future__ import annotations

import pytest
from tdl.lsp.settings import Hints, Settings, settings_of


@pytest.mark.parametrize(
    ("sent", "hints"),
    [
        (None, Hints()),
        ({}, Hints()),
        ([], Hints()),
        ({"hints": None}, Hints()),
        ({"hints": {"ranges": False, "types": "no", "colours": True}}, Hints(ranges=False)),
        ({"hints": {"loops": False, "parameters": False}, "more": 1}, Hints(loops=False, parameters=False)),
    ],
)
def test_what_makes_no_sense_is_left_as_it_is(sent: object, hints: Hints) -> None:
    assert settings_of(sent) == Settings(hints)
