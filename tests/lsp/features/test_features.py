"""Runs the pages of the folders beside it; `pages.py` says how one is written. `--update-golden` writes the answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lsp.features.pages import FENCE, Page, run, written

HERE = Path(__file__).parent
PAGES = sorted(HERE.glob("*/*.md"))


@pytest.mark.parametrize("path", PAGES, ids=[f"{path.parent.name}/{path.stem}" for path in PAGES])
def test_page(path: Path, update_golden: bool) -> None:
    page = Page.read(path)
    answer = run(page)
    if update_golden:
        path.write_text(written(page, answer), encoding="utf-8")
        return
    expected = {head: page.blocks.get(head) for head in answer}
    assert answer == expected


def test_no_page_says_the_same_thing_twice() -> None:
    for path in PAGES:
        heads = [match[1].strip() for match in FENCE.finditer(path.read_text(encoding="utf-8"))]
        assert len(heads) == len(set(heads)), path
