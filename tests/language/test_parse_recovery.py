"""The tree and the diagnostics of what is wrong: one for each mistake, and nothing else is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tdl.language import syntax as s
from tdl.language.diagnostic import Diagnostic
from tdl.language.parse import parse_file, parse_item
from tdl.language.source import Source

TESTS = Path(__file__).parents[1]
PROGRAMS = sorted([*(TESTS / "programs").glob("*.tdl"), *(TESTS / "programs_invalid").glob("*.tdl")])
TEXTS = [path.read_text(encoding="utf-8") for path in PROGRAMS]


def check(text: str) -> tuple[s.File, list[Diagnostic]]:
    """Parse, and check what holds for every text; the diagnostics have absolute places."""
    file = parse_file(Source("f", text))
    found = [*file.diagnostics]
    for placed in file.items:
        assert text.startswith(placed.parsed.text, placed.offset)
        found += [diagnostic.shifted(placed.offset) for diagnostic in placed.parsed.diagnostics]
    for diagnostic in found:
        assert 0 <= diagnostic.primary.start <= diagnostic.primary.end <= len(text)
    return file, found


def marked(text: str) -> tuple[s.File, list[str]]:
    """Parse text in which `^` marks where each diagnostic must point; the messages."""
    places = [i for i, letter in enumerate(text) if letter == "^"]
    file, found = check(text.replace("^", ""))
    assert [diagnostic.primary.start for diagnostic in found] == [place - i for i, place in enumerate(places)]
    assert {diagnostic.code for diagnostic in found} <= {"syntax"}
    return file, [diagnostic.message for diagnostic in found]


def op(body: str) -> str:
    return f"op f(X: f32[N]) -> Y: f32[N] {{\n{body}\n}}\n"


def kinds(file: s.File) -> list[str]:
    """The statements of the first item; of broken ones, what they define."""
    body = file.items[0].item.body  # type: ignore[union-attr]
    return [
        ",".join(name.text for name in part.defines) if isinstance(part, s.Broken) else type(part).__name__
        for part in body  # type: ignore[union-attr]
    ]


STATEMENTS = [
    ("A[i] = X[i +^", "expected an expression", "A"),
    ("A[i] = X[i^", "expected `]`, `,` or `|`", "A"),
    ("A[i] = f(X[i],^", "expected an expression", "A"),
    ("A[i] = f(X[i],\n         X[i] ^$ 3,\n         X[i])", "expected `)` or `,`, found `$`", "A"),
    ("A[i] = f(X[i]^\n         X[i])", "expected `)` or `,`", "A"),
    ("A[i] =^", "expected an expression", "A"),
    ("A[i] ^X[i]", "expected `:` or `=`, found `X`", "A"),
    ("A[i] ^== X[i]", "expected `:` or `=`, found `==`", "A"),
    ("(V[i], I[i]) ^argmax(X[i])", "expected `=`, found `argmax`", "V,I"),
    ("let b ^f32[N]", "expected `:`, found `f32`", "b"),
    ("A[i] = X[i] ^5", "expected the end of the line, found `5`", "A"),
    ("A[i] = sum(X[i] for^)", "expected a name or `..`, found `)`", "A"),
    ("A[i] = sum(X[i] for k in 3^)", "expected `..`, found `)`", "A"),
    ("A[i] = X[i | ^]", "expected an expression, found `]`", "A"),
    ("A[i] = 1 if^", "expected an expression", "A"),
    ('A[i] = ^"abc', 'this string is not closed: expected `"`', "A"),
    ("A[i] = ^\u200b1", "expected an expression, found U+200B", "A"),
]


@pytest.mark.parametrize(("statement", "message", "defines"), STATEMENTS)
@pytest.mark.parametrize("before", [True, False])
def test_a_broken_statement_leaves_its_neighbours(statement: str, message: str, defines: str, before: bool) -> None:
    lines = statement.replace("\n", "\n    ")
    body = f"    B[i] = X[i]\n    {lines}\n    C[i] = X[i]" if before else f"    {lines}\n    C[i] = X[i]"
    file, messages = marked(op(body) + "op g(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }")
    assert messages == [message.replace(" or `}`", "") if before else message]
    assert kinds(file) == ["Definition"] * before + [defines, "Definition"]
    assert isinstance(file.items[1].item, s.Op)


@pytest.mark.parametrize(("statement", "defines"), [("for[i] = 3", "for"), (")", ""), ("3 = 4", "")])
def test_a_statement_broken_at_its_first_word(statement: str, defines: str) -> None:
    file, messages = marked(op(f"    ^{statement}\n    A[i] = X[i]"))
    assert messages == [f"expected a definition or `}}`, found `{statement[:1] if defines == '' else 'for'}`"]
    assert kinds(file) == [defines, "Definition"]


def test_a_string_that_is_not_closed_takes_the_rest() -> None:
    text = 'intrinsic d(a: f32) -> c: f32 {\n  c = 1\n  emit llvm ^"""a\n  b = {\n}\n\n'
    file, messages = marked(text + "const A = 1")
    assert messages == ['this string is not closed: expected `"""`']
    assert kinds(file) == ["Definition", "emit"]
    assert len(file.items) == 2


def test_braces_in_a_broken_statement_are_matched() -> None:
    file, messages = marked(op("    A[i] = ^{ B[i] = { 1 } }\n    C[i] = 1"))
    assert messages == ["expected an expression, found `{`"]
    assert kinds(file) == ["A", "Definition"]


def test_text_that_starts_no_item() -> None:
    parsed = parse_item("banana x")
    assert parsed.item == s.BrokenItem("", None)
    assert [d.message for d in parsed.diagnostics] == [
        "expected an item (`op`, `fn`, `schedule`, `test`, ...), found `banana`"
    ]


def test_long_words_are_shown_short() -> None:
    _, (found,) = check("const A = 1 " + "x" * 100)
    assert found.message == f"expected the end of the line, found `{'x' * 20}...`"


def test_several_broken_statements() -> None:
    file, messages = marked(op("  A[i] = X[^]\n  B[i] = 1\n  C[i] = ^)\n  D[i] = 2\n  E[i] =^"))
    assert kinds(file) == ["A", "Definition", "C", "Definition", "E"]
    assert len(messages) == 3


def test_a_broken_statement_in_one_line() -> None:
    file, messages = marked("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i ^} # c\nconst A = 1")
    assert messages == ["expected `]`, `,` or `|`, found `}`"]
    assert kinds(file) == ["Y"]
    assert len(file.items) == 2


LINES = [
    ("^splitt Y.i by 8 -> io, ii", "expected a schedule line, found `splitt`", "io,ii"),
    ("split Y.i by 8^", "expected `->` or `balanced`", ""),
    ("split Y.i ^8 -> a, b", "expected `by` or `into`, found `8`", "a,b"),
    ("cache W ^in register as Wr", "expected `at`, found `in`", "Wr"),
    ("knob x = 3^", "expected `in`", "x"),
    ("let ^= 3", "expected a name, found `=`", ""),
    ("parallel io ^by 8", "expected the end of the line, found `by`", ""),
    ("reorder io, jo,^", "expected a name", ""),
    ("unroll^", "expected a name", ""),
]


@pytest.mark.parametrize(("line", "message", "defines"), LINES)
def test_a_broken_schedule_line(line: str, message: str, defines: str) -> None:
    file, messages = marked(f"schedule f for cpu {{\n    unroll a\n    {line}\n    parallel b\n}}")
    assert messages == [message]
    assert kinds(file) == ["Line", defines, "Line"]


def test_a_likely_spelling_is_offered() -> None:
    _, (verb,) = check("schedule f {\n    vectorise ii\n}")
    assert verb.notes == ("did you mean `vectorize`?",)
    assert verb.fixes[0].text == "vectorize"
    _, (item,) = check("opp f(X: f32[N]) -> Y: f32[N] { }")
    assert item.notes == ("did you mean `op`?",)
    _, (reserved,) = check(op("for[i] = 1"))
    assert reserved.notes == ("`for` is a reserved word, so it cannot be a name",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph g(x: f32) -> y: f32 {\n  h =^\n  y = f(h)\n}", "expected an expression"),
        ("memory m {\n  capacity 3 ^4\n}", "expected the end of the line, found `4`"),
        (
            "reducer r(a: f32, b: f32) -> f32 {\n  ^combin a\n  identity 0\n}",
            "expected `identity`, `combine` or `}`, found `combin`",
        ),
        ('intrinsic d(a: f32) -> c: f32 {\n  c = ^)\n  emit llvm """x"""\n}', "expected an expression, found `)`"),
    ],
)
def test_other_bodies(text: str, message: str) -> None:
    file, messages = marked(text)
    assert messages == [message]
    assert not isinstance(file.items[0].item, s.BrokenItem)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("op f(X: f32[N] ^-> Y: f32[N] {\n  Y[i] = X[i]\n}", "expected `)` or `,`, found `->`"),
        ("op f(X: f32[N^) -> Y: f32[N] { }", "expected `]` or `,`, found `)`"),
        ("op f(X: f32[N]) ^Y: f32[N] { }", "expected `->`, found `Y`"),
        ("op f(X: f32[N]) -> Y: f32[N]^\n  Y[i] = X[i]\n}", "expected `{` or `where`"),
        ("op f[T^](X: f32[N]) -> Y: f32[N] { }", "expected `:`, found `]`"),
        ("const f ^3", "expected `:` or `=`, found `3`"),
        ("const f =^", "expected an expression"),
        ("bench f ^g(N=3)", "expected `:`, found `g`"),
    ],
)
def test_a_broken_head_keeps_its_name(text: str, message: str) -> None:
    file, messages = marked("## Doc.\n" + text + "\n\nconst B = 1")
    assert messages == [message]
    broken = file.items[0].item
    assert broken == s.BrokenItem(text.split()[0], s.Name("f"), doc="Doc.")
    assert isinstance(file.items[1].item, s.Const)


def test_heads_stay_where_only_the_body_is_broken() -> None:
    file, _ = marked("fn f(x: f32) -> f32 = x +^\ntest t: f(N=3^\nbench b: g ^3")
    fn, test, bench = (placed.item for placed in file.items)
    assert isinstance(fn, s.Fn)
    assert (fn.body, len(fn.args)) == (None, 1)
    assert isinstance(test, s.Test)
    assert test.call is None
    assert isinstance(bench, s.Bench)
    assert bench.call is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "^opp f(X: f32) {\n  Y = 1\n\n  Z = 1\n}\nconst A = 1",
            "expected an item (`op`, `fn`, `schedule`, `test`, ...), found `opp`",
        ),
        (
            "const A = 1\n^} }\n\n# c\n }\nconst B = 2",
            "expected an item (`op`, `fn`, `schedule`, `test`, ...), found `}`",
        ),
        ("op^\nconst A = 1", "expected a name after `op`"),
        ("  ^op f() -> y: f32 { y = 1 }", "`op` starts an item: expected it in column 1"),
        (
            "op f() -> y: f32 { y = 1 } ^op g() -> y: f32 { y = 1 }",
            "`op` starts an item: expected it on a line of its own",
        ),
    ],
)
def test_text_outside_items(text: str, message: str) -> None:
    file, messages = marked(text)
    assert messages == [message]
    assert len(file.diagnostics) == 1


def test_a_new_item_ends_an_open_one() -> None:
    file, messages = marked("op f(X: f32[N]) -> Y: f32[N] {\n  Y[i] = f(X[i]^\nconst A = 1\n")
    assert messages == ["expected `)` or `,`"]
    assert [type(placed.item) for placed in file.items] == [s.Op, s.Const]
    file, messages = marked("op f(X: f32[N]) -> Y: f32[N] {\n  Y[i] = X[i]^ # c\n\n# d\nconst A = 1\n")
    assert messages == ["expected the end of the line"]
    assert kinds(file) == ["Definition"]


def test_deep_nesting_is_refused() -> None:
    for deep in ("(" * 10_000, "(" * 10_000 + "1" + ")" * 10_000, "-" * 10_000 + "1", "f(" * 5000 + "1", "[" * 5000):
        file, found = check(op(f"    A[i] = {deep}\n    B[i] = 1"))
        assert len(found) == 1
        assert kinds(file)[-1] == "Definition" or "(" * 5000 in deep or "[" in deep
    _, found = check("const A = " + "1 + " * 10_000 + "1")
    assert "nests too deeply" in found[0].message


def test_long_lists_are_not_deep() -> None:
    items = ", ".join(["1"] * 5000)
    file, found = check(f"test t: f(X=[{items}])\n" + op("    A[i] = 1\n" * 2000))
    assert found == []
    assert len(file.items[1].item.body) == 2000  # type: ignore[union-attr]


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=[path.stem for path in PROGRAMS])
def test_any_cut_gives_at_most_one_more_diagnostic(number: int) -> None:
    text = TEXTS[number]
    whole = len(check(text)[1])
    for end in range(len(text)):
        assert len(check(text[:end])[1]) <= whole + 1, text[:end]


@pytest.mark.parametrize("number", range(len(TEXTS)), ids=[path.stem for path in PROGRAMS])
def test_any_missing_line_leaves_the_other_items(number: int) -> None:
    lines = TEXTS[number].splitlines(keepends=True)
    whole = {placed.parsed.text for placed in check("".join(lines))[0].items}
    for i in range(len(lines)):
        file, found = check("".join(lines[:i] + lines[i + 1 :]))
        lost = whole - {placed.parsed.text for placed in file.items}
        assert len(lost) <= 2
        assert len(found) <= 2


JUNK = [
    *'()[]{}"#\\$@!?.,:=->|+*/%<>\n\r\t\0é\u200b',
    '"""',
    "for ",
    "if ",
    "\nop x",
    "..",
    "->",
    "\n\n",
    "0x",
    "1e",
    "##",
]


def mutations(count: int) -> Iterator[str]:
    """Programs with a few characters put in, taken out, copied or moved."""
    chance = random.Random(7)
    for _ in range(count):
        text = chance.choice(TEXTS)
        for _ in range(chance.randint(1, 4)):
            at, to = sorted(chance.choices(range(len(text) + 1), k=2))
            to = min(to, at + 40)
            match chance.randrange(4):
                case 0:
                    text = text[:at] + chance.choice(JUNK) + text[at:]
                case 1:
                    text = text[:at] + text[at + chance.randint(1, 8) :]
                case 2:
                    text = text[:at] + text[at:to] + text[at:]
                case _:
                    text = text[:at] + text[to:] + text[at:to]
        yield text


def test_mutations_never_raise() -> None:
    for text in mutations(2000):
        check(text)
