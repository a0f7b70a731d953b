"""The formatter: examples of each rule, and properties of any text."""

from __future__ import annotations

import random
import re
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tdl.language.format import format_text
from tdl.language.formatter.layout import MAX_WIDTH
from tdl.language.formatter.tokens import read_tokens
from tdl.language.parse import parse_file
from tdl.language.parser.automaton import CONTINUING
from tdl.language.source import Source
from tdl.language.syntax import Item

TESTS = Path(__file__).parents[1]
PROGRAMS = sorted((TESTS / "programs").glob("*.tdl"))
CASES = Path(__file__).with_name("format_cases")
COMMENT = re.compile(r'"""(?:[^"]|"(?!""))*"""|"[^"\r\n]*"|(#[^\r\n]*)')


def items(text: str) -> list[Item]:
    return [placed.item for placed in parse_file(Source("f", text)).items]


def comments(text: str) -> list[str]:
    return [match[1].rstrip() for match in COMMENT.finditer(text) if match[1]]


def check(text: str) -> str:
    """Format, and check what holds for every text."""
    result = format_text(text)
    assert items(result) == items(text)
    assert comments(result) == comments(text)
    assert format_text(result) == result
    return result


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_programs_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert check(text) == text


@pytest.mark.parametrize("path", sorted(CASES.glob("*.tdl")), ids=lambda path: path.stem)
def test_cases(path: Path, update_golden: bool) -> None:
    result = check(path.read_text(encoding="utf-8"))
    expected = path.with_suffix(".expected")
    if update_golden:
        expected.write_text(result, encoding="utf-8")
    assert result == expected.read_text(encoding="utf-8")
    assert max(map(len, result.splitlines())) <= MAX_WIDTH


@pytest.mark.parametrize(
    "text", ["", "\n", "  \n\n", "# only\n", "\ufeffconst A = 1\n", "x\n", "const A = 1\r\n# c\r\n"]
)
def test_nothing_to_change(text: str) -> None:
    assert check(text) == ("" if not text.strip() else text)


def test_line_ends_stay_those_of_the_file() -> None:
    assert check("const   A = 1\r\n\r\n\r\nconst B = 2") == "const A = 1\r\n\r\nconst B = 2\r\n"
    assert check("const   A = 1\rconst B = 2") == "const A = 1\nconst B = 2\n"


def test_what_does_not_parse_stays() -> None:
    broken = "op   f(X:f32[N]) -> Y: f32[N] {\n  Y[i]=X[i\n\n\n}   # c"
    stray = "const   B=1   )\n   junk"
    text = f"const   A=1\n\n\n\n{broken}\n{stray}\nconst   C=1\n"
    assert format_text(text) == f"const A = 1\n\n{broken}\n{stray}\nconst C = 1\n"
    assert format_text("junk  junk\nconst   C=1") == "junk  junk\nconst C = 1\n"


def test_empty_bodies() -> None:
    assert check("op f() -> y: f32 {}") == "op f() -> y: f32 { }\n"
    assert check("op f() -> y: f32\n{\n\n}") == "op f() -> y: f32 { }\n"
    assert check("op f() -> y: f32 {\n# c\n}") == "op f() -> y: f32 {\n    # c\n}\n"


def test_a_bench_joins_the_tests_if_it_did() -> None:
    apart = "test a: f(N=1)\nbench bbb: f(N=1)\n"
    joined = "test a:    f(N=1)\nbench bbb: f(N=1)\n"
    assert check(apart) == apart
    assert check(joined) == joined


# ---- properties: the programs, with other blanks, line ends and comments


@lru_cache(maxsize=1)
def pieces() -> list[list[tuple[str, str, bool]]]:
    """The items of all programs and cases as tokens: kind, text, whether a statement starts there."""
    texts = [path.read_text(encoding="utf-8") for path in [*PROGRAMS, *sorted(CASES.glob("*.tdl"))]]
    parsed = [placed.parsed for text in texts for placed in parse_file(Source("f", text)).items]
    return [
        [(token.kind, token.text, token.is_first) for token in read_tokens(one.text)]
        for one in parsed
        if not one.diagnostics
    ]


LINE_ENDS = ["\n", "\n\n", "\n\n\n", "  # c\n", "\n# own\n", "\n\n  ## doc\n \n"]
BLANKS = ["", "", " ", "  ", "\t"]
WORDS = re.compile(r"\w\Z")


def relayed(tokens: list[tuple[str, str, bool]], chance: random.Random, wildness: float) -> str:
    """The tokens with other blanks, and with other line ends where the language lets them be."""
    text, depth, previous = "", 0, ""
    for i, (kind, word, is_first) in enumerate(tokens):
        may_break = i > 0 and (
            depth > 0 or previous in CONTINUING or kind in ("_FOR", "_IF", "_ELSE", "ARROW", "LBRACE")
        )
        must_break = is_first and i > 0 and previous != "LBRACE"
        blank = chance.choice(BLANKS) if i else ""
        if must_break or (may_break and chance.random() < wildness) or (kind == "RBRACE" and chance.random() < 0.5):
            text += chance.choice(LINE_ENDS) + " " + blank
        else:
            merges = (WORDS.search(text) and re.match(r"\w", word)) or (text[-1:] + word[:1]) in MERGING
            text += blank or (" " if merges else "")
        depth = 0 if kind == "RBRACE" else depth + (kind in ("LPAR", "LSQB")) - (kind in ("RPAR", "RSQB"))
        text += word
        previous = kind
    return text


MERGING = {"->", "..", "**", "//", "==", "<=", ">=", "!=", '""', "-=", "*=", ">-", "<-"}
TEXTS = st.builds(
    lambda picks, seed, wildness, ends: "".join(
        relayed(pieces()[pick % len(pieces())], random.Random(seed + i), wildness) + end
        for i, (pick, end) in enumerate(zip(picks, ends))
    ),
    st.lists(st.integers(0, 10_000), min_size=1, max_size=4),
    st.integers(0, 10**9),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.lists(st.sampled_from(["\n", "  # c\n", "\n\n\n", "\n# a\n\n\n  # b\n"]), min_size=4, max_size=4),
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS)
def test_any_layout_of_a_program(text: str) -> None:
    assert not any(placed.parsed.diagnostics for placed in parse_file(Source("f", text)).items), text
    check(text)


# ---- properties: expressions of all forms

NAMES = st.sampled_from(["x", "layout", "k", "emit", "edge", "Xy_1"])
ATOMS = st.one_of(NAMES, st.sampled_from(["1", "2.5", "1e-5", "0xff", "true", "inf", '"s"', "[]"]))


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(inner, inner)
    operators = st.sampled_from(["+", "-", "*", "/", "//", "%", " + ", " * ", "**", " == ", " < ", " and ", " or "])
    return st.one_of(
        st.builds(lambda p, op: f"{p[0]}{op}{p[1]}", pair, operators),
        st.builds(lambda e, op: f"{op}{e}", inner, st.sampled_from(["-", "+", "not "])),
        st.builds(lambda e: f"({e})", inner),
        st.builds(lambda p: f"({p[0]}, {p[1]})", pair),
        st.builds(lambda p: f"[{p[0]} ,{p[1]}]", pair),
        st.builds(lambda p, c: f"({p[0]} if {p[1]} else {c})", pair, inner),
        st.builds(lambda n, p: f"{n}[{p[0]}, {p[1]} | edge]", NAMES, pair),
        st.builds(lambda n, p: f"{n}[..i, ({p[0]})|({p[1]})]", NAMES, pair),
        st.builds(lambda n, p: f"{n}[T = {p[0]}]({p[1]}, k= 2)", NAMES, pair),
        st.builds(lambda n, p: f"{n}({p[0]} for i in 0..N, ..j if ({p[1]}))", NAMES, pair),
    )


EXPRESSIONS = st.recursive(ATOMS, larger, max_leaves=40)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EXPRESSIONS, min_size=1, max_size=4))
@example(["x" + "+x" * 100])
@example(["f(" + "x, " * 100 + "x)"])
@example(["(" * 40 + "xxxxx" + ")" * 40 + " + " + "y" * 120])
def test_any_expression(expressions: list[str]) -> None:
    lines = [f"  {'v' * (i + 1)}[i]={text}" for i, text in enumerate(expressions)]
    check("op f(X: f32[N]) -> Y: f32[N] {\n" + "\n".join(lines) + "\n}\n")


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(PROGRAMS), st.integers(0, 10_000), st.integers(0, 30), st.text('()[]{}=,:#"\n\r x1.-é', max_size=3)
)
def test_any_text(path: Path, at: int, removed: int, added: str) -> None:
    text = path.read_text(encoding="utf-8")
    at %= len(text)
    text = text[:at] + added + text[at + removed :]
    result = format_text(text)
    assert "".join(result.split()) == "".join(text.split())
    assert format_text(result) == result
