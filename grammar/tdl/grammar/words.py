"""The word lists of the grammar, for editors: which words are keywords, and where."""

from __future__ import annotations

import re
from typing import Any

RESERVED = "reserved"
ITEMS = "items"  # `op`, `schedule`: they start an item
STATEMENTS = "statements"  # `let`, `identity`, `emit`: they start a line of a body
LINES = "lines"  # `split`, `knob`: they start a line of a schedule
CLAUSES = "clauses"  # `by`, `at`: they go on with one
MODES = "modes"  # `edge`: what an access reads outside
HEADS = "heads"  # what is left: `when`

_STATEMENTS = ("op_statement", "graph_statement", "intrinsic_statement", "reducer_line", "property")


def word_lists(rules: list[Any], patterns: dict[str, Any], keywords: dict[str, str]) -> dict[str, list[str]]:
    """The words of each kind, sorted; `rules` and `patterns` are Lark's, `keywords` maps a word to its terminal."""
    first = _first_terminals(rules)
    clauses = {name for rule in rules if rule.alias == "clause" for name in first[rule.origin.name]}
    kinds = {
        ITEMS: first["item"],
        LINES: first["schedule_line"],
        STATEMENTS: set().union(*(first[name] for name in _STATEMENTS)),
        CLAUSES: clauses,
        MODES: first["boundary"] - first["expr"],
    }
    lists = {kind: sorted(w for w, terminal in keywords.items() if terminal in found) for kind, found in kinds.items()}
    known = {word for words in lists.values() for word in words}
    lists[HEADS] = sorted(set(keywords) - known)
    found = (re.fullmatch(r"(\w+)\\b", pattern.value) for pattern in patterns.values())
    lists[RESERVED] = sorted(match[1] for match in found if match is not None)
    return lists


def _first_terminals(rules: list[Any]) -> dict[str, set[str]]:
    """The terminals that each nonterminal can start with."""
    first: dict[str, set[str]] = {rule.origin.name: set() for rule in rules}
    optional: set[str] = set()
    size = -1
    while size != (size := sum(map(len, first.values())) + len(optional)):
        for rule in rules:
            for symbol in rule.expansion:
                first[rule.origin.name] |= {symbol.name} if symbol.is_term else first[symbol.name]
                if symbol.name not in optional:
                    break
            else:
                optional.add(rule.origin.name)
    return first
