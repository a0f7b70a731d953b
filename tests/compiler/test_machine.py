"""The machine: plausible, kept, and measured again where what was kept is damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from tdl.compiler import machine
from tdl.compiler.machine import cache_sizes, cores, measure


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDL_CACHE_DIR", str(tmp_path))


def test_what_is_measured_is_kept(tmp_path: Path) -> None:
    found = measure()
    assert found.peak_f32 > found.peak_f64 > 0
    assert found.bandwidth > 0
    assert found.cores == cores() >= 1
    assert found.vector_bits in (128, 256, 512)
    assert list(cache_sizes()) == sorted(cache_sizes())
    assert machine.machine() == found
    (kept,) = tmp_path.glob("machine-*.json")
    kept.write_text("{")
    assert machine.machine().cpu == found.cpu


def test_halves_are_computed_in_f32() -> None:
    found = measure()
    assert found.peak("f16", 2) == 2 * found.peak_f32
    assert found.peak("f64") == found.peak_f64
