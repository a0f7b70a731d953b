"""The parse tables: the grammar has no conflicts, and no state of the cache can harm a run."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest
from tdl.grammar import cache, tables
from tdl.grammar.tables import GRAMMAR, Tables, lark_parser, load_tables


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "_path", lambda key: tmp_path / "cache" / f"{key}.json")
    return tmp_path / "cache"


def fresh_tables() -> Tables:
    return load_tables.__wrapped__()


def is_same(a: Tables, b: Tables) -> bool:
    """Whether two tables are of one grammar: Lark numbers the states anew each time."""
    return (a.rules, a.scanner, a.keywords, len(a.actions)) == (b.rules, b.scanner, b.keywords, len(b.actions))


def test_grammar_has_no_conflicts() -> None:
    from lark import Lark, logger

    complaints: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: complaints.append(record.getMessage())  # type: ignore[method-assign]
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", debug=True, maybe_placeholders=True)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert [text for text in complaints if "onflict" in text or "ollision" in text or "nused rule" in text] == []


def test_second_load_comes_from_the_cache(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = fresh_tables()
    assert len(list(cache_folder.iterdir())) == 1
    monkeypatch.setattr(tables, "_build", lambda grammar: pytest.fail("the cache was not used"))
    assert fresh_tables() == first


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"rows": 3}', '{"rows": [], "actions": [7]}', "[" * 5000, "\0"]
)
def test_corrupt_cache_is_replaced(cache_folder: Path, content: str) -> None:
    first = fresh_tables()
    (file,) = cache_folder.iterdir()
    file.write_text(content)
    assert is_same(fresh_tables(), first)
    assert isinstance(json.loads(file.read_text()), dict)


def test_cut_cache_is_replaced(cache_folder: Path) -> None:
    first = fresh_tables()
    (file,) = cache_folder.iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    assert is_same(fresh_tables(), first)


def test_unwritable_cache_is_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")
    monkeypatch.setattr(cache, "_path", lambda key: tmp_path / "file" / f"{key}.json")
    assert fresh_tables().rules
    assert os.listdir(tmp_path) == ["file"]


def test_failed_write_leaves_nothing_behind(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, target: Path) -> Path:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "replace", fail)
    assert fresh_tables().rules
    assert list(cache_folder.iterdir()) == []


def test_key_depends_on_the_text() -> None:
    assert cache.key_of("a") != cache.key_of("b")
    assert cache.key_of("a") == cache.key_of("a")


def test_every_rule_has_a_plan_within_its_size() -> None:
    for rule in load_tables().rules:
        assert all(part < rule.size and -2 - part < rule.size for part in rule.plan)


def test_lark_parser_reads_one_item() -> None:
    assert lark_parser().parse("const A = 1").data == "const"
