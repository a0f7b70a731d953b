"""Every word of the language is described, and where it says that there is more there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tdl.grammar.tables import load_tables
from tdl.language.calls import BUILTIN_NAMES
from tdl.language.dtypes import DTYPES
from tdl.language.parse import parse_file
from tdl.language.source import Source
from tdl.lsp.completion.keywords import ITEM_SNIPPETS, LINE_SNIPPETS
from tdl.lsp.glossary import builtins, describe, words

DOCS = Path(__file__).parents[2] / "docs"


def test_every_word_of_the_grammar_and_every_builtin_is_described() -> None:
    named = {word for kind in load_tables().words.values() for word in kind} | BUILTIN_NAMES | set(DTYPES)
    assert {word for word in named if describe(word) is None} == set()


@pytest.mark.parametrize("name", sorted({**words(), **builtins()}))
def test_its_section_is_there(name: str) -> None:
    word = describe(name)
    assert word is not None
    page, _, anchor = word.section.partition("#")
    headings = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert anchor in {heading.lower().replace(" ", "-") for heading in headings}


def without_marks(snippet: str) -> str:
    """A snippet as it is inserted, with something for what is left to type."""
    for _ in range(2):
        snippet = re.sub(r"\$\{\d:([^${}]*(?:\{[^}]*\})?)\}", r"\1", snippet)
    return re.sub(r"\$\{\d+\}|\$\d", "x", snippet)


@pytest.mark.parametrize("word", sorted(ITEM_SNIPPETS))
def test_a_snippet_of_an_item_is_an_item(word: str) -> None:
    text = without_marks(ITEM_SNIPPETS[word]).replace("(x)", "()")
    file = parse_file(Source("", text))
    of_line_alone = "x\n" in text  # the cursor stands where a statement is to be written
    assert [each.parsed.diagnostics for each in file.items] == [()] or of_line_alone
    assert len(file.items) == 1


@pytest.mark.parametrize("verb", sorted(LINE_SNIPPETS))
def test_a_snippet_of_a_line_is_a_line(verb: str) -> None:
    file = parse_file(Source("", f"schedule f {{\n    {without_marks(LINE_SNIPPETS[verb])}\n}}"))
    assert file.items[0].parsed.diagnostics == ()
