"""The pictures of the documentation show what the commands print now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pictures():
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["check", "show", "diff"])
def test_a_picture_is_what_is_printed(pictures, name):
    kept = (DOCS / "images" / f"{name}.svg").read_text(encoding="utf-8")
    drawn = pictures.picture(pictures.printed(pictures.PICTURES[name]))
    assert drawn == kept, f"draw it again: python docs/pictures.py {name}"
