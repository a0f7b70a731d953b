"""What the VS Code extension takes from the language: words of its grammars, programs of its templates, its version."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tdl.compiler.schedule.check import diagnose
from tdl.compiler.version import VERSION
from tdl.grammar.tables import load_tables
from tdl.language.analysis import analyse
from tdl.language.format import format_text
from tdl.language.source import Source

from editors.vscode.generate_grammars import grammars

EXTENSION = Path(__file__).parents[3] / "editors" / "vscode"
TEMPLATES = sorted((EXTENSION / "templates").glob("*.tdl"))


@pytest.mark.parametrize("name", sorted(grammars()))
def test_grammars_are_those_of_the_language(name: str) -> None:
    text = (EXTENSION / "syntaxes" / name).read_text(encoding="utf-8")
    assert text == grammars()[name], "run `python editors/vscode/generate_grammars.py`"


def test_every_word_of_the_language_is_coloured() -> None:
    text = grammars()["tdl.tmLanguage.json"]
    coloured = set(re.findall(r"\w+", text))
    assert {word for words in load_tables().words.values() for word in words} <= coloured


@pytest.mark.parametrize("path", TEMPLATES, ids=[each.stem for each in TEMPLATES])
def test_templates_have_nothing_wrong_and_are_formatted(path: Path) -> None:
    source = Source(str(path), path.read_text(encoding="utf-8"))
    assert [*diagnose(analyse(source))] == []
    assert source.text == format_text(source.text)


def test_snippets_are_for_the_words_that_start_items() -> None:
    snippets = json.loads((EXTENSION / "snippets" / "tdl.json").read_text(encoding="utf-8"))
    first = {
        each["body"].split()[0] if isinstance(each["body"], str) else each["body"][0].split()[0]
        for each in snippets.values()
    }
    assert first <= set(load_tables().words["items"])


def test_version_is_that_of_the_compiler() -> None:
    assert json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))["version"] == VERSION
