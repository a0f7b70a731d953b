"""Memoisation: an edit re-checks what it touches and nothing else, and what is remembered is keyed by content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tdl.language import analysis, cases, check, constants, functions, parse
from tdl.language.analysis import Analysis, analyse
from tdl.language.source import Source

MEMOS: dict[str, Any] = {
    "parse": parse._read,
    "op": check._check,
    "function": functions.check_function,
    "reducer": functions.check_reducer,
    "constant": constants.check_constant,
    "case": cases.check_case,
}

PROGRAM = """\
const EPS = 1e-5

fn half(x: f32) -> f32 = x / 2

fn other(x: f32) -> f32 = x + EPS

reducer add(a: f32, b: f32) -> f32 { identity 0
    combine a + b }

## Uses `half`.
op f(X: f32[N]) -> Y: f32[N] { Y[i] = half(X[i]) }

op g(X: f32[N]) -> y: f32 { y = add(other(X[k]) for k) }

test t: f(X=[1, 2])
test u: g(X=[1, 2])
"""


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """How often each memo had to compute inside."""
    before = {name: memo.cache_info().misses for name, memo in MEMOS.items()}
    found: dict[str, int] = {}
    yield found
    misses = {name: memo.cache_info().misses - before[name] for name, memo in MEMOS.items()}
    found.update({name: count for name, count in misses.items() if count})


def messages(text: str, path: str = "main.tdl") -> list[str]:
    return [diagnostic.message for diagnostic in analyse(Source(path, text), read={}.get).diagnostics]


def edited(old: str, new: str) -> dict[str, int]:
    """What an edit computes anew."""
    assert old in PROGRAM
    assert messages(PROGRAM) == []
    with counted() as found:
        messages(PROGRAM.replace(old, new))
    return found


def test_the_same_text_computes_nothing() -> None:
    assert edited("half", "half") == {}


def test_moving_an_item_computes_nothing() -> None:
    assert edited("const EPS = 1e-5\n", "const EPS = 1e-5\n\n\n# a comment\n\n") == {}


def test_the_same_text_in_another_file_computes_nothing() -> None:
    messages(PROGRAM)
    with counted() as found:
        messages(PROGRAM, "elsewhere/copy.tdl")
    assert found == {}


def test_an_edited_op_is_checked_with_what_calls_it_and_nothing_else() -> None:
    assert edited("half(X[i]) }", "half(X[i]) + 1 }") == {"parse": 1, "op": 1, "case": 1}


def test_an_edited_function_is_checked_with_what_uses_it_and_nothing_else() -> None:
    assert edited("x / 2", "x / 3") == {"parse": 1, "function": 1, "op": 1, "case": 1}


def test_an_edited_constant_reaches_what_uses_it_through_functions() -> None:
    found = edited("1e-5", "2e-5")
    assert found == {"parse": 1, "constant": 1, "function": 1, "op": 1, "case": 1}


def test_an_edited_test_checks_itself() -> None:
    assert edited("f(X=[1, 2])", "f(X=[1, 3])") == {"parse": 1, "case": 1}


def test_a_new_item_checks_itself() -> None:
    assert edited("test t:", "op h(X: f32) -> Y: f32 { Y = X }\ntest t:") == {"parse": 1, "op": 1}


def test_a_broken_item_is_not_checked_and_silences_its_users() -> None:
    found = edited("x / 2", "x /")
    assert "reducer" not in found
    assert found["parse"] == 1
    assert messages(PROGRAM.replace("x / 2", "x /")) == ["expected an expression"]


def test_an_edit_that_is_taken_back_computes_nothing() -> None:
    changed = PROGRAM.replace("x / 2", "x / 5")
    messages(PROGRAM)
    messages(changed)
    with counted() as found:
        messages(PROGRAM)
        messages(changed)
    assert found == {}


def test_a_name_that_appears_or_disappears_reaches_its_users() -> None:
    without = PROGRAM.replace("fn half(x: f32) -> f32 = x / 2\n", "")
    assert messages(without) == ["unknown function `half`"]
    assert messages(PROGRAM) == []
    assert messages(without) == ["unknown function `half`"]


def test_keys_are_content() -> None:
    def keys(text: str, path: str = "main.tdl") -> dict[str, str]:
        analysed = analyse(Source(path, text), read={}.get)
        return {entry.declaration.name: entry.declaration.key for entry in analysed.module.entries}

    first = keys(PROGRAM)
    assert keys("# moved\n\n" + PROGRAM, "other.tdl") == first
    edited_keys = keys(PROGRAM.replace("x / 2", "x / 3"))
    assert {name for name in first if edited_keys[name] != first[name]} == {"half", "f", "t"}


def test_an_imported_file_that_changes_reaches_its_importers() -> None:
    main = Source("main.tdl", "from lib import g\nop f(X: f32) -> Y: f32 { Y = g(X) }")
    other = Source("lib.tdl", "fn g(x: f32) -> f32 = x")

    def run(lib: Source) -> Analysis:
        return analyse(main, read={"lib.tdl": lib}.get)

    assert not run(other).has_errors
    with counted() as found:
        assert not run(Source("lib.tdl", "# a comment\nfn g(x: f32) -> f32 = x")).has_errors
    assert found == {}
    assert run(Source("lib.tdl", "fn g(x: f64) -> f64 = x")).has_errors
    assert not run(other).has_errors


def test_suggestions_are_not_remembered_with_an_item() -> None:
    op = "op f(X: f32) -> Y: f32 { Y = hlaf(X) }"
    (without,) = analyse(Source("main.tdl", op)).diagnostics
    (with_half,) = analyse(Source("main.tdl", f"fn half(x: f32) -> f32 = x\n{op}")).diagnostics
    assert without.notes == ()
    assert with_half.notes == ("did you mean `half`?",)


def test_memos_are_bounded() -> None:
    for memo in (*MEMOS.values(), analysis.standard):
        assert memo.cache_info().maxsize is not None


def test_what_is_remembered_is_what_would_be_computed() -> None:
    lines = PROGRAM.splitlines(keepends=True)
    texts = ["".join(lines[:number] + lines[number + 1 :]) for number in range(len(lines))]
    texts += [PROGRAM.replace(name, "g") for name in ("half", "other", "add", "EPS", "f32", "X")]
    warm = [analyse(Source("main.tdl", text), read={}.get).diagnostics for text in texts]
    for text, remembered in zip(texts, warm):
        for memo in MEMOS.values():
            memo.cache_clear()
        assert analyse(Source("main.tdl", text), read={}.get).diagnostics == remembered
