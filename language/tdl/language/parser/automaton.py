"""The LALR(1) automaton: reads one item by the tables of `tdl.lark` and builds its tree as it goes.

It does what Lark's contextual lexer and parser do (a test compares them), several times as fast: all tokens come from
one regular expression, and reductions of one symbol to one symbol (ten for each operand) cost one look-up. It stops
at the first token that does not fit; `recovery` decides what happens then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from tdl.grammar.tables import TAKE_NONE, Rule, load_tables
from tdl.language.parser.build_items import ItemBuilder
from tdl.language.source import Span
from tdl.language.syntax import Name

START = "$START"  # before the first token
END = "$END"
JUNK = "$JUNK"  # what is no token
NEWLINE = "_NEWLINE"
MAX_NESTING = 120  # of brackets, and of the tree: those who walk it may recurse

BRACKETS = {"LPAR": 1, "LSQB": 1, "RPAR": -1, "RSQB": -1, "RBRACE": 0}
"""What a token does to the number of open brackets; `}` closes all."""

CONTINUING = frozenset(
    {"COMMA", "ADD", "MULTIPLY", "POWER", "COMPARE", "AND", "OR", "NOT", "EQUAL", "ARROW", "VBAR", "DOTS"}
    | {"_FOR", "_IN", "_IF", "_ELSE", "_WHERE", "_EXPECT", "LBRACE", START}
)
"""After these a line end is no token: they cannot end a statement."""

_JUNK = re.compile(r'"""[\s\S]*|"[^\r\n]*|[\s\S]')
_DEEPENING = frozenset(
    {"unary", "binary", "conditional", "compare", "index", "call", "reduction", "parenthesised", "tuple_expr", "array"}
)


@dataclass(frozen=True, slots=True)
class Stop:
    """The token that did not fit, and why. A token that only nests too deeply is `deep`."""

    kind: str
    span: Span
    reason: Literal["unexpected", "deep"] = "unexpected"


@dataclass(frozen=True, slots=True)
class Machine:
    """The tables, with what the loop asks of each rule in tuples of its own."""

    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    rules: tuple[Rule, ...]
    scan: Callable[[str, int], re.Match[str] | None]
    skip: Callable[..., re.Match[str] | None]
    terminals: tuple[str, ...]
    keywords: dict[str, str]
    start: int
    end: int
    callbacks: tuple[Callable[[ItemBuilder, list[Any], int, int], Any] | None, ...]
    plans: tuple[tuple[int, ...] | None, ...]
    deepening: tuple[int, ...]


@lru_cache(maxsize=1)
def machine() -> Machine:
    tables = load_tables()
    return Machine(
        actions=tables.actions,
        gotos=tables.gotos,
        rules=tables.rules,
        scan=re.compile(tables.scanner).match,
        skip=re.compile(tables.skip).match,
        terminals=tables.terminals,
        keywords=tables.keywords,
        start=tables.start,
        end=tables.end,
        callbacks=tuple(getattr(ItemBuilder, rule.callback) if rule.callback else None for rule in tables.rules),
        plans=tuple(None if rule.plan == tuple(range(rule.size)) else rule.plan for rule in tables.rules),
        deepening=tuple(int(rule.callback in _DEEPENING) for rule in tables.rules),
    )


class Automaton:
    """The stacks and the place in the text.

    Symbol `i` on the stacks has the value `values[i]`, covers `starts[i]` to `ends[i]` and nests `depths[i]` deep;
    `states[i + 1]` is the state after it. `position` is where reading goes on; `last_kind` and `last_end` are of the
    last token that was taken; `open` counts the open brackets; `is_deep` says that the tree nests too deeply, and
    `is_cut` that the end of the text was already complained of.
    """

    def __init__(self, text: str) -> None:
        self.machine = machine()
        self.text = text
        self.builder = ItemBuilder(text)
        self.states = [self.machine.start]
        self.values: list[Any] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.depths: list[int] = []
        self.position = 0
        self.last_kind = START
        self.last_end = 0
        self.open = 0
        self.is_deep = False
        self.is_cut = False

    def run(self) -> Stop | None:
        """Read on until the end (None) or the first token that does not fit, which is not taken."""
        m, text = self.machine, self.text
        scan, terminals, keywords, actions = m.scan, m.terminals, m.keywords, m.actions
        while True:
            match = scan(text, self.position)
            if match is None:
                kind, start, end = self.unmatched(self.position)
            else:
                group = match.lastindex or 0
                kind = terminals[group]
                start, end = match.span(group)
            value: Any = text[start:end]
            opened = self.open
            if kind == "NAME":
                word = keywords.get(value)
                if word is not None and word in actions[self.states[-1]]:
                    kind = word
                value = Name(value, span=Span(start, end))
            elif kind == NEWLINE:
                if self.open or self.last_kind in CONTINUING:
                    self.position = end
                    continue
            elif kind in BRACKETS:
                opened = max(0, opened + BRACKETS[kind]) if kind != "RBRACE" else 0
            if not self.fit(kind):
                return Stop(kind, Span(start, end))
            if kind == END:
                return None
            if self.is_deep or opened > MAX_NESTING:
                return Stop(kind, Span(start, end), "deep")
            self.open = opened
            self.shift(kind, value, start, end)

    def run_again(self, kept: int, start: int, end: int) -> Stop:
        """Read the statement from `start` again, behind the first `kept` symbols, as if the text ended at `end`."""
        self.rewind(kept, start)
        text, said = self.text, len(self.builder.diagnostics)
        self.text = text[:end]
        stop = self.run()
        self.text = text
        del self.builder.diagnostics[said:]  # they were said the first time
        assert stop is not None, "no item ends inside a statement"
        return stop

    def unmatched(self, position: int) -> tuple[str, int, int]:
        """What is there where no token is: the end, a string that is not closed, or a character of no use."""
        skipped = self.machine.skip(self.text, position)
        start = skipped.end() if skipped is not None else position
        match = _JUNK.match(self.text, start)
        return (END, start, start) if match is None else (JUNK, start, match.end())

    def accepts(self, kind: str) -> bool:
        """Whether `kind` fits, without touching the stacks."""
        m, states = self.machine, self.states.copy()
        while (action := m.actions[states[-1]].get(kind)) is not None and action < 0:
            rule = m.rules[~action]
            del states[len(states) - rule.size :]
            states.append(m.gotos[states[-1]][rule.origin])
            if kind == END and states[-1] == m.end:
                return True
        return action is not None

    def fit(self, kind: str) -> bool:
        """Reduce until `kind` can be shifted (the end: until all is reduced); False where it does not fit."""
        m, states = self.machine, self.states
        actions, gotos, rules = m.actions, m.gotos, m.rules
        while True:
            action = actions[states[-1]].get(kind)
            if action is None:
                return False
            if action >= 0:
                return True
            rule = rules[~action]
            if rule.is_renaming:
                states[-1] = gotos[states[-2]][rule.origin]
            else:
                self._reduce(~action, rule)
            if kind == END and states[-1] == m.end:
                return True

    def _reduce(self, number: int, rule: Rule) -> None:
        m, size = self.machine, rule.size
        start = end = self.last_end
        children: list[Any] = []
        depth = m.deepening[number]
        if size:
            children = self.values[-size:]
            start, end = self.starts[-size], self.ends[-1]
            depth += max(self.depths[-size:])
            self.drop(size)
            self.is_deep |= depth > MAX_NESTING
        plan, callback = m.plans[number], m.callbacks[number]
        if plan is not None:
            children = _planned(children, plan)
        value = children[0] if callback is None else callback(self.builder, children, start, end)
        self.push(m.gotos[self.states[-1]][rule.origin], value, start, end, depth)

    def shift(self, kind: str, value: Any, start: int, end: int) -> None:
        """Take a token that fits."""
        self.push(self.machine.actions[self.states[-1]][kind], value, start, end, 0)
        self.position = self.last_end = end
        self.last_kind = kind

    def push(self, state: int, value: Any, start: int, end: int, depth: int) -> None:
        self.states.append(state)
        self.values.append(value)
        self.starts.append(start)
        self.ends.append(end)
        self.depths.append(depth)

    def replace(self, kept: int, nonterminal: str, value: Any, span: Span) -> None:
        """Put a symbol behind the first `kept` ones, in place of all others, and read on after its span."""
        self.rewind(kept, span.end)
        self.push(self.machine.gotos[self.states[-1]][nonterminal], value, span.start, span.end, 0)

    def rewind(self, kept: int, position: int) -> None:
        """Keep the first `kept` symbols, and read on at `position` with nothing open."""
        if kept < len(self.values):
            self.drop(len(self.values) - kept)
        self.position = self.last_end = position
        self.last_kind, self.open, self.is_deep = "", 0, False

    def drop(self, count: int) -> None:
        """Take the last `count` symbols, one or more, off the stacks."""
        del self.states[-count:], self.values[-count:], self.starts[-count:], self.ends[-count:], self.depths[-count:]


def _planned(children: list[Any], plan: tuple[int, ...]) -> list[Any]:
    """The children that count (see `Rule.plan`)."""
    picked: list[Any] = []
    for part in plan:
        if part >= 0:
            picked.append(children[part])
        elif part == TAKE_NONE:
            picked.append(None)
        elif picked:
            picked.extend(children[-2 - part])
        else:
            picked = children[-2 - part]  # a list that grows by one each time must not be copied each time
    return picked
