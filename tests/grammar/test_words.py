"""The word lists of the grammar, as language.md has them."""

from __future__ import annotations

from tdl.grammar import words
from tdl.grammar.tables import load_tables


def listed(kind: str) -> set[str]:
    return set(load_tables().words[kind])


def test_reserved_words() -> None:
    expected = "for in if else and or not where expect true false inf nan"
    assert listed(words.RESERVED) == set(expected.split())


def test_item_keywords() -> None:
    expected = "import from const fn reducer op graph schedule tactic intrinsic memory target test bench"
    assert listed(words.ITEMS) == set(expected.split())


def test_schedule_lines_and_their_clauses() -> None:
    verbs = """knob let require split tile fuse reorder skew unroll parallel vectorize peel inline compute store fold
        cache layout rfactor stream prefetch double_buffer tensorize bind cooperate fast_math apply"""
    clauses = "by into balanced at as layout pad pack ahead with to over"
    assert listed(words.LINES) == set(verbs.split())
    assert listed(words.CLAUSES) == set(clauses.split())


def test_other_words() -> None:
    assert listed(words.STATEMENTS) == {"let", "identity", "combine", "emit"}
    assert listed(words.MODES) == {"edge", "wrap", "mirror"}
    assert listed(words.HEADS) == {"when"}


def test_every_keyword_is_listed() -> None:
    tables = load_tables()
    assert {word for found in tables.words.values() for word in found} >= set(tables.keywords)
