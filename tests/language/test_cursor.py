"""What fits at a place of a text that is being typed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tdl.language.parser.cursor import cursor_at

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.tdl"))
HEAD = "op f(X: f32[N]) -> Y: f32[N] {\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schedule f {\n    split C.i ", {"by", "into"}),
        ("schedule f {\n    split C.i by 8 ", {"balanced", "and", "if", "or"}),
        (HEAD + "    Y[i] = X[i] ", {"and", "for", "if", "or"}),
        (HEAD + "    Y[i] = X[i | ", {"edge", "wrap", "mirror", "true", "false", "inf", "nan", "not"}),
        (HEAD + "    ", {"let"}),
        ("reducer r(a: f32, b: f32) -> f32 { ", {"identity", "combine"}),
        ("schedule f ", {"for", "when"}),
    ],
)
def test_the_words_that_fit(text: str, words: set[str]) -> None:
    assert cursor_at(text).words == words


@pytest.mark.parametrize(
    ("text", "statement", "before", "takes_value"),
    [
        ("schedule f {\n    split C.i by ", "schedule_line", ("split", "C", ".", "i", "by"), True),
        ("schedule f {\n    split C.i by\n    unroll ", "schedule_line", ("unroll",), True),
        ("schedule f {\n    split C.i by 8 -> ", "schedule_line", ("split", "C", ".", "i", "by", "8", "->"), False),
        (HEAD + "    A[i] = X[i +\n    Y[i] = ", "op_statement", ("Y", "[", "i", "]", "="), True),
        ("test t: f(N=", "test_body", ("f", "(", "N", "="), True),
        ("op f(X: ", None, ("op", "f", "(", "X", ":"), True),
        ("fn f(x: f32) -> f32 = ", "fn_body", (), True),
    ],
)
def test_what_stands_before(text: str, statement: str | None, before: tuple[str, ...], takes_value: bool) -> None:
    cursor = cursor_at(text)
    assert (cursor.statement, cursor.texts, cursor.takes_value) == (statement, before, takes_value)


@pytest.mark.parametrize(
    "text", [HEAD + "    Y[i] = X[i]  # not ", HEAD + '    emit llvm "no', "op f() -> Y: f32 { Y = 3 3 "]
)
def test_nothing_fits_in_comments_and_strings_and_behind_what_is_wrong(text: str) -> None:
    assert cursor_at(text).kinds == frozenset()


def test_an_item_that_has_ended() -> None:
    assert cursor_at(HEAD + "    Y[i] = X[i]\n}\n").has_ended
    assert cursor_at("const K = 1\n").has_ended
    assert not cursor_at("const K = 1 +\n").has_ended
    assert not cursor_at(HEAD).has_ended


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_every_place_of_a_program_has_an_answer(path: Path) -> None:
    text, rng = path.read_text(encoding="utf-8"), random.Random(0)
    for _ in range(20):
        end = rng.randrange(len(text))
        cursor = cursor_at(text[:end])
        assert all(0 <= token.start < end for token in cursor.tokens)
