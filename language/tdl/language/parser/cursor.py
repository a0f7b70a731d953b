"""What may stand at a place of an item that is being typed, and what stands before it in its statement.

    split C.i by ‸          a number or a name fits there, and no keyword; `split`, `C`, `.`, `i`, `by` stand before it
    split C.i ‸             `by` and `into` fit

The item is read up to the place as if it ended there, with statements before it that do not parse skipped as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tdl.grammar.tables import load_tables
from tdl.language.parser.automaton import END, JUNK, NEWLINE, Stop
from tdl.language.parser.lexemes import Recorder
from tdl.language.parser.recovery import read_item, statement_place
from tdl.language.syntax import BrokenItem

_MARK = "\0"  # stands at the place: no token, so that reading stops there, and a line before it ends as it would


@dataclass(frozen=True, slots=True)
class Token:
    """A terminal of the grammar with its text, from `start` on."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """`words` are the keywords that fit, `kinds` all terminals, `begins` the nonterminals that a name there may begin.

    `statement` is the nonterminal of the statement that the place is in (`schedule_line`), None in the head of an item;
    it begins at `start`, and `tokens` are those of it before the place. `has_ended` says that the item may end before.
    """

    words: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    begins: frozenset[str] = frozenset()
    statement: str | None = None
    start: int = 0
    tokens: tuple[Token, ...] = ()
    has_ended: bool = False

    @property
    def takes_value(self) -> bool:
        """Whether a name that means something fits, and not only one that is introduced."""
        return "ref" in self.begins

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens)


class _Watcher(Recorder):
    """Looks around when reading comes to the mark."""

    def __init__(self, text: str) -> None:
        super().__init__(text + _MARK)
        self.end = len(text)
        self.found: Cursor | None = None

    def run(self) -> Stop | None:
        stop = super().run()
        if self.found is None and stop is not None and stop.kind == JUNK and stop.span.start == self.end:
            self.found = self._look()
        return stop

    def _look(self) -> Cursor:
        kinds = frozenset(kind for kind in self.machine.actions[self.states[-1]] if self.accepts(kind))
        place = statement_place(self)
        kept, statement = (0, None) if place is None else place
        start = self.starts[kept] if kept < len(self.starts) else self.end
        taken = {each for each in self.taken if each[1] >= start and each[2] > each[1] and each[0] != NEWLINE}
        ordered = sorted(taken, key=lambda each: each[1])
        tokens = tuple(Token(kind, self.text[begin:end], begin) for kind, begin, end in ordered)
        begins = self._begins() if "NAME" in kinds else frozenset[str]()
        return Cursor(frozenset(_words(kinds)), kinds, begins, statement, start, tokens, END in kinds)

    def _begins(self) -> frozenset[str]:
        """The nonterminals that the state offers in which a name would be taken."""
        m, states = self.machine, self.states.copy()
        while (action := m.actions[states[-1]]["NAME"]) < 0:
            rule = m.rules[~action]
            del states[len(states) - rule.size :]
            states.append(m.gotos[states[-1]][rule.origin])
        return frozenset(m.gotos[states[-1]])


def _words(kinds: frozenset[str]) -> Iterator[str]:
    tables = load_tables()
    free = {"EMIT"} if "NAME" in kinds else set[str]()  # which is a name there as any other
    yield from (word for word, kind in tables.keywords.items() if kind in kinds - free)
    yield from (word for word in tables.words["reserved"] if word.upper() in kinds or f"_{word.upper()}" in kinds)


@lru_cache(maxsize=256)
def cursor_at(text: str) -> Cursor:
    """What fits behind `text`, which starts with an item; nothing inside strings, comments and what does not parse."""
    watcher = _Watcher(text)
    outcome = read_item(watcher.text, watcher)
    is_behind = outcome.end < watcher.end and not isinstance(outcome.parsed.item, BrokenItem)
    return watcher.found or Cursor(has_ended=is_behind)
