"""Whatever the text, checking it ends with diagnostics in it: no exception, no hang, nothing before the change."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse
from tdl.language.codes import CODES
from tdl.language.parse import parse_file
from tdl.language.source import Source

FOLDERS = [Path(__file__).parents[1] / name for name in ("programs", "programs_invalid")]
PROGRAMS = {path: path.read_text(encoding="utf-8") for folder in FOLDERS for path in sorted(folder.glob("*.tdl"))}
WORDS = sorted({word for text in PROGRAMS.values() for word in re.findall(r"\w+|[^\w\s]|\n", text)})
ODD = '\0\t\r"#()[]{}|,.;~´λ😀\ufeff\x7f\u2028'
NUMBERS = ("0", "1", "-1", "3", "7", "1000000", "9" * 20, "2.5", "1e400", "0x", "1_")
HANG_SECONDS = 60  # far beyond what any check takes, on any machine

every_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")


@contextmanager
def no_hang() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("this takes forever")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def survive(path: Path, text: str) -> Analysis:
    """Check the text as if it stood in the file's place; what is wrong is in the text."""
    with no_hang():
        analysed = analyse(Source(str(path), text))
    for diagnostic in analysed.diagnostics:
        assert diagnostic.code in CODES
        assert diagnostic.message
        assert 0 <= diagnostic.primary.start <= diagnostic.primary.end <= len(text)
    return analysed


def start_of_item(text: str, place: int) -> int:
    """Where the item starts in which a place of a whole program is."""
    items = parse_file(Source("", text)).items
    return max((item.offset for item in items if item.offset <= place), default=0)


def truncated(path: Path, ends: range) -> None:
    """A program cut short has no new errors before the item in which it was cut."""
    text = PROGRAMS[path]
    known = {diagnostic.primary.start for diagnostic in survive(path, text).diagnostics}
    for end in ends:
        start = start_of_item(text, end)
        for diagnostic in survive(path, text[:end]).diagnostics:
            assert diagnostic.primary.start >= start or diagnostic.primary.start in known, (end, diagnostic)


def mutated(text: str, chance: random.Random) -> str:
    """The text after one or a few edits such as a slip of the hand, or of a program, makes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        text = chance.choice(EDITS)(text, chance)
    return text


def _place(text: str, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(text) + 1)
    return start, min(len(text), start + chance.choice((1, 1, 2, 5, 20)))


def _delete(text: str, chance: random.Random) -> str:
    start, end = _place(text, chance)
    return text[:start] + text[end:]


def _insert(text: str, chance: random.Random) -> str:
    start, _ = _place(text, chance)
    return text[:start] + chance.choice(WORDS) + text[start:]


def _replace(text: str, chance: random.Random) -> str:
    start, end = _place(text, chance)
    return text[:start] + chance.choice(WORDS) + text[end:]


def _repeat(text: str, chance: random.Random) -> str:
    start, end = _place(text, chance)
    return text[:end] + text[start:]


def _disturb(text: str, chance: random.Random) -> str:
    start, _ = _place(text, chance)
    return text[:start] + chance.choice(ODD) + text[start:]


def _swap(text: str, chance: random.Random) -> str:
    words = list(re.finditer(r"\w+", text))
    if len(words) < 2:
        return text
    first, second = sorted(chance.sample(words, 2), key=lambda word: word.start())
    between = text[first.end() : second.start()]
    return text[: first.start()] + second.group() + between + first.group() + text[second.end() :]


def _renumber(text: str, chance: random.Random) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    number = chance.choice(numbers)
    return text[: number.start()] + chance.choice(NUMBERS) + text[number.end() :]


EDITS: tuple[Callable[[str, random.Random], str], ...] = (
    _delete, _insert, _replace, _repeat, _disturb, _swap, _renumber,
)  # fmt: skip


def mutations(count: int, seed: int) -> None:
    chance = random.Random(seed)
    paths = list(PROGRAMS)
    for _ in range(count):
        path = chance.choice(paths)
        survive(path, mutated(PROGRAMS[path], chance))


# ---- always


@every_program
def test_cut_at_every_seventh_character(path: Path) -> None:
    truncated(path, range(0, len(PROGRAMS[path]), 7))


@pytest.mark.parametrize("seed", range(4))
def test_random_mutations(seed: int) -> None:
    mutations(250, seed)


def test_texts_that_are_hardly_programs() -> None:
    here = Path("x.tdl")
    for text in (
        "",
        "\n",
        "\0",
        "op",
        "op f",
        "{" * 500,
        "op f(" * 300,
        ")" * 500,
        "#",
        "##",
        '"""',
        "test",
        "\ufeff",
        "\r",
    ):
        survive(here, text)
    for character in ODD:
        survive(here, character * 40)
        survive(here, f"op f(X: f32[N]) -> Y: f32[N] {{ Y[i] = X[{character}i] }}")


def test_deep_nesting_is_a_diagnostic() -> None:
    here = Path("x.tdl")
    value = {
        "(": "(" * 5000 + "X[i]" + ")" * 5000,
        "-": "-" * 5000 + "X[i]",
        "+": " + ".join(["X[i]"] * 5000),
        "if": "X[i] if X[i] > 0 else " * 5000 + "X[i]",
        "not": f"0 if {'not ' * 5000}true else X[i]",
        "and": f"0 if {' and '.join(['true'] * 5000)} else X[i]",
        "[": "[" * 5000,
        "sum": "sum(" * 2000 + "X[i]" + "".join(f" for k{n} in 0..2)" for n in range(2000)),
        "exp": "exp(" * 5000 + "X[i]" + ")" * 5000,
        "X[": "X[" * 2000 + "i" + "]" * 2000,
        "**": "**".join(["X[i]"] * 5000),
        "<": " < ".join(["X[i]"] * 5000),
    }
    for name, text in value.items():
        analysed = survive(
            here, f"op f(X: f32[N]) -> Y: f32[N] {{ Y[i] = {text} }}\nop g(X: f32) -> Y: f32 {{ Y = b }}"
        )
        messages = [diagnostic.message for diagnostic in analysed.diagnostics]
        assert messages[-1] == "unknown name `b`", name
        assert 2 <= len(messages) <= 3, (name, messages)


def test_what_is_long_is_checked() -> None:
    here = Path("x.tdl")
    name = "n" * 50_000
    assert not survive(here, f"op {name}(X: f32[N]) -> Y: f32[N] {{ Y[i] = X[i] }}\ntest t: {name}(N=3)").diagnostics
    (error,) = survive(here, f"op f(X: f32[N]) -> Y: f32[N] {{ Y[i] = {name}[i] }}").diagnostics
    assert error.code == "unknown-name"
    many = "\n".join(f"    t{n}[i] = X[i] + t{n - 1}[i]" if n else "    t0[i] = X[i]" for n in range(100))
    assert not survive(here, f"op f(X: f32[N]) -> Y: f32[N] {{\n{many}\n    Y[i] = t99[i]\n}}").diagnostics
    inputs = ", ".join(f"x{n}: f32[N{n}]" for n in range(300))
    assert not survive(here, f"op f({inputs}) -> Y: f32 {{ Y = sum(x7[k] for k) }}").diagnostics
    sizes = "+".join(f"N{n}" for n in range(100))
    dims = ", ".join(f"x{n}: f32[N{n}]" for n in range(100))
    assert not survive(here, f"op f({dims}) -> Y: f32[{sizes}] {{ Y[i] = 0 }}").diagnostics


def test_an_unfinished_item_does_not_disturb_the_next() -> None:
    for head in (
        "op f(X: f32[N]",
        "op f(X: f32[N]) -> Y: f32[N] {",
        "fn g(x: f32) ->",
        "reducer r(",
        "const C =",
        "from a import",
    ):
        analysed = survive(Path("x.tdl"), f"{head}\nop h(X: f32[N]) -> Y: f32[N] {{ Y[i] = X[i] }}\ntest t: h(N=3)")
        items = [entry.declaration.item for entry in analysed.module.entries]
        assert isinstance(items[-1], syntax.Test)
        assert {analysed.source.position(each.primary.start).line for each in analysed.diagnostics} == {1}, head


# ---- nightly


@pytest.mark.nightly
@every_program
def test_cut_at_every_character(path: Path) -> None:
    truncated(path, range(len(PROGRAMS[path])))


@pytest.mark.nightly
@every_program
def test_without_any_one_line(path: Path) -> None:
    lines = PROGRAMS[path].splitlines(keepends=True)
    for number in range(len(lines)):
        survive(path, "".join(lines[:number] + lines[number + 1 :]))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_mutations(seed: int) -> None:
    mutations(250, seed)
