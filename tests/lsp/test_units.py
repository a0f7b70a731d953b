"""Amounts as people read them."""

from __future__ import annotations

import pytest
from tdl.lsp.units import bytes_text, operations_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (1 << 20, "1 MiB"),
        (1_048_000, "1023 KiB"),
    ],
)
def test_bytes(count: int, text: str) -> None:
    assert bytes_text(count) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 operation"), (999, "999 operations"), (1000, "1 k operations"), (2 << 30, "2.15 G operations")],
)
def test_operations(count: int, text: str) -> None:
    assert operations_text(count) == text
