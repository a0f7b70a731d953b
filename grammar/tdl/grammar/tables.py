"""The parse tables of `tdl.lark`: Lark's LALR(1) analysis as plain data, kept on disk between runs.

Lark reads the grammar, resolves it and computes the tables; that and importing Lark take 0.2 s, so the result is cached
as JSON, which a reader can load in a few milliseconds without Lark. This module does not parse TDL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tdl.grammar import cache
from tdl.grammar.words import word_lists

GRAMMAR = Path(__file__).with_name("tdl.lark")
FORMAT = 2  # of the cached data; part of its key
TAKE_NONE = -1  # in a plan: a part that the text left out


@dataclass(frozen=True, slots=True)
class Rule:
    """`origin` becomes `size` symbols. `callback` is None where the one child is the value.

    `plan` picks the children that count: `i >= 0` takes one, `TAKE_NONE` stands for a left-out part, `-2 - i` takes all
    items of the list at `i`.
    """

    origin: str
    size: int
    callback: str | None
    plan: tuple[int, ...]
    is_renaming: bool  # of one symbol to one symbol, whose value stays


@dataclass(frozen=True, slots=True)
class Tables:
    """`actions[state][terminal]` is the next state, or `~rule` to reduce; `gotos[state][nonterminal]` the next state.

    `scanner` skips what does not count and matches one token; its group `i` is `terminals[i]`. A word that is in
    `keywords` is that terminal where the state has an action for it, else a name (this is Lark's contextual lexer).
    `words` holds the word lists of `words`, by kind.
    """

    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    rules: tuple[Rule, ...]
    start: int
    end: int
    scanner: str
    skip: str
    terminals: tuple[str, ...]
    keywords: dict[str, str]
    words: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def load_tables() -> Tables:
    """The tables, from the cache where it holds them."""
    grammar = GRAMMAR.read_text(encoding="utf-8")
    key = cache.key_of(f"{FORMAT}\n{grammar}")
    data = cache.read(key)
    tables = _from_data(data) if data is not None else None
    if tables is None:
        fresh = _build(grammar)
        cache.write(key, fresh)
        tables = _from_data(fresh)
        assert tables is not None
    return tables


def lark_parser(grammar: str | None = None) -> Any:
    """Lark's own parser of one item, before a reader's look-back at newlines: the reference for ours."""
    from lark import Lark

    return Lark(
        grammar or GRAMMAR.read_text(encoding="utf-8"), parser="lalr", lexer="contextual", maybe_placeholders=True
    )


def _from_data(data: dict[str, Any]) -> Tables | None:
    """The tables that `_build` stored, or None where the cached text is not ours."""
    try:
        rows = [*map(dict, data["rows"])]
        return Tables(
            actions=tuple(rows[row] for row in data["actions"]),
            gotos=tuple(map(dict, data["gotos"])),
            rules=tuple(
                Rule(origin, size, callback, tuple(plan), size == 1 and callback is None)
                for origin, size, callback, plan in data["rules"]
            ),
            start=data["start"],
            end=data["end"],
            scanner=data["scanner"],
            skip=data["skip"],
            terminals=tuple(data["terminals"]),
            keywords=dict(data["keywords"]),
            words={kind: tuple(words) for kind, words in data["words"].items()},
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return None


def _build(grammar: str) -> dict[str, Any]:
    parser = lark_parser(grammar)
    table = parser.parser.parser._parse_table
    rules = list(parser.rules)
    number = {rule: i for i, rule in enumerate(rules)}
    rows: list[dict[str, int]] = []
    actions: list[int] = []
    gotos: list[dict[str, int]] = []
    for state in range(len(table.states)):
        row: dict[str, int] = {}
        gotos.append({})
        for symbol, (action, argument) in sorted(table.states[state].items()):
            if str(action) != "Shift":
                row[symbol] = ~number[argument]
            elif symbol.isupper() or symbol == "$END":
                row[symbol] = argument
            else:
                gotos[-1][symbol] = argument
        if row not in rows:
            rows.append(row)
        actions.append(rows.index(row))
    return {
        "rows": rows,
        "actions": actions,
        "gotos": gotos,
        "rules": [_rule(rule) for rule in rules],
        "start": table.start_states["start"],
        "end": table.end_states["start"],
        **_scanner(parser, rules),
    }


def _rule(rule: Any) -> tuple[str, int, str | None, list[int]]:
    """What a reduction does, by the conventions of Lark's tree builder."""
    origin: str = rule.origin.name
    omitted = rule.options.empty_indices or (False,) * len(rule.expansion)
    plan: list[int] = []
    position = 0
    for is_omitted in omitted:
        if is_omitted:
            plan.append(TAKE_NONE)
            continue
        symbol = rule.expansion[position]
        if not symbol.is_term and symbol.name.startswith("_"):
            plan.append(-2 - position)
        elif not (symbol.is_term and symbol.filter_out):
            plan.append(position)
        position += 1
    callback = rule.alias or ("children" if origin.startswith("_") else origin)
    is_passed_through = rule.options.expand1 and not rule.alias and len(plan) == 1
    return origin, len(rule.expansion), None if is_passed_through else callback, plan


def _scanner(parser: Any, rules: list[Any]) -> dict[str, Any]:
    """One regular expression for all tokens, in Lark's order, and the words that are keywords only in some states."""
    patterns = {terminal.name: terminal.pattern for terminal in parser.terminals}
    name = re.compile(patterns["NAME"].to_regexp())
    words = {p.value: n for n, p in patterns.items() if p.type == "str" and name.fullmatch(p.value)}
    skip = "(?:" + "|".join(f"(?:{patterns[n].to_regexp()})" for n in parser.ignore_tokens) + ")*"
    tokens = [n for n in patterns if n not in parser.ignore_tokens and n not in words.values()]
    tokens.sort(key=lambda n: (-patterns[n].max_width, -len(patterns[n].value), n))
    scanner = skip + "(?:" + "|".join(f"({patterns[n].to_regexp()})" for n in tokens) + ")"
    lists = word_lists(rules, patterns, words)
    return {"scanner": scanner, "skip": skip, "terminals": ["", *tokens], "keywords": words, "words": lists}
