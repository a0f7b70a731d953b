"""The tokens of an item as the grammar takes them: what is a keyword in one place is a name in another."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tdl.language.parser.automaton import Automaton
from tdl.language.parser.recovery import read_item

Lexeme = tuple[str, int, int]
"""A terminal of the grammar, and where its text starts and ends."""


class Recorder(Automaton):
    """Keeps the tokens that it takes."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.taken: list[Lexeme] = []

    def shift(self, kind: str, value: Any, start: int, end: int) -> None:
        self.taken.append((kind, start, end))
        super().shift(kind, value, start, end)


@lru_cache(maxsize=2048)
def lexemes(text: str) -> tuple[Lexeme, ...]:
    """All tokens of an item but those of a statement that does not parse, which end where it goes wrong."""
    recorder = Recorder(text)
    read_item(text, recorder)
    return tuple(sorted((each for each in recorder.taken if each[2] > each[1]), key=lambda each: each[1]))
