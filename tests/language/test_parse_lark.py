"""Our automaton takes exactly the tokens that Lark's contextual lexer and LALR parser take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Token
from tdl.grammar.tables import GRAMMAR
from tdl.language.parser.automaton import BRACKETS, CONTINUING, NEWLINE, START, Automaton
from tdl.language.parser.items import split_items

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.tdl"))
OTHERS = [
    "op layout(split: f32[by], op: f32[by]) -> pad: f32[by] { pad[i] = split[i] + op[i]\n let emit: f32 }",
    'intrinsic d(emit: u8[4]) -> c: i32[4] for x86 with at, as { emit[i] = 1\n emit llvm """a\nb"""\n c[n] = emit[n] }',
    "schedule a.b { tile to.by, S.0.j by 8, 32 -> io, jo, ii, ji # c\n\n # d\n fast_math\n cache at at at as as }",
    "tactic t(Y, i: int, mr = 8) { layout W(k, j)\n [k//16, j] pack pad 0\n apply t(Y, mr=3) }",
    "test t: f[a, T=f32](\n# c\nN=3\n\n) \n expect\n Y = [[1, -inf], [nan, 0x1f]], Z = true",
    "fn f(x: f32) -> f32 =\n x\n + 2 ** - 3\n if\n x < 3 <= 4 and not x or y\n else\n x if y",
    "memory m {\n capacity 48KiB\n flag\n\n ports 1, 2 }",
    "graph g(x: f32[..S]) -> (a: f32, b: f32)\n where S > 1,\n T >= 2\n {\n a, b = f(x)\n (c, d) = g(x) }",
]


class LookBack:
    """Lark's side of the newline rules: drops the newlines that do not end a statement."""

    always_accept = (NEWLINE,)

    def __init__(self) -> None:
        self.taken: list[tuple[str, int]] = []

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        opened, last = 0, START
        for token in stream:
            if token.type == NEWLINE and (opened or last in CONTINUING):
                continue
            opened = 0 if token.type == "RBRACE" else opened + BRACKETS.get(token.type, 0)
            last = token.type
            self.taken.append((token.type, token.start_pos or 0))
            yield token


class Recorder(Automaton):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.taken: list[tuple[str, int]] = []

    def shift(self, kind: str, value: Any, start: int, end: int) -> None:
        self.taken.append((kind, start))
        super().shift(kind, value, start, end)


@lru_cache(maxsize=1)
def lark_and_look_back() -> tuple[Lark, LookBack]:
    look_back = LookBack()
    grammar = GRAMMAR.read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", postlex=look_back, maybe_placeholders=True), look_back


def chunks() -> list[str]:
    files = [path.read_text(encoding="utf-8") for path in PROGRAMS]
    return OTHERS + [chunk for text in files for _, chunk in split_items(text)[1:]]


@pytest.mark.parametrize("text", chunks())
def test_same_tokens_as_lark(text: str) -> None:
    lark, look_back = lark_and_look_back()
    look_back.taken = []
    lark.parse(text)
    ours = Recorder(text)
    assert ours.run() is None
    assert ours.taken == look_back.taken
