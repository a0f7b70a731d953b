"""Recovery: after a token that does not fit, one diagnostic, and reading goes on with the next statement.

Panic mode. The stacks are cut back to the deepest state in which a whole statement may stand, a `Broken` is put there
in its place, and the text is skipped up to the end of the broken statement. Where no statement may stand the head of
the item is broken, and the item becomes a `BrokenItem`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.language import syntax as s
from tdl.language.parser.automaton import END, NEWLINE, Automaton, Stop
from tdl.language.parser.broken import broken_end, defined_names
from tdl.language.parser.docs import doc_above
from tdl.language.parser.expected import complaint
from tdl.language.parser.items import item_head
from tdl.language.source import Span

_STATEMENTS = frozenset(
    {"op_statement", "graph_statement", "intrinsic_statement", "reducer_line", "schedule_line", "property"}
)
_BODIES = frozenset({"fn_body", "test_body", "bench_body"})  # their items do without: None stands in their place


@dataclass(frozen=True, slots=True)
class Outcome:
    """A parsed item, and where in the text that was read it ends."""

    parsed: s.ParsedItem
    end: int


def read_item(text: str) -> Outcome:
    automaton = Automaton(text)
    diagnostics = automaton.builder.diagnostics
    while (stop := automaton.run()) is not None:
        if _is_complete(automaton, stop):
            automaton.fit(END)
            break
        if stop.kind == END and automaton.accepts("RBRACE"):
            if not automaton.is_cut:
                diagnostics.append(complaint(automaton, stop))
            _close(automaton)
            continue
        diagnostics.append(complaint(automaton, stop))
        if not _go_on(automaton, stop):
            return Outcome(s.ParsedItem(text, _broken_item(text), tuple(diagnostics)), len(text))
    item = automaton.values[-1]
    return Outcome(s.ParsedItem(text[: automaton.last_end], item, tuple(diagnostics)), automaton.last_end)


def _is_complete(automaton: Automaton, stop: Stop) -> bool:
    """Whether the item ended before the token: with its `}`, or with its line."""
    is_after = automaton.last_kind == "RBRACE" or stop.kind == NEWLINE
    return is_after and stop.reason == "unexpected" and automaton.accepts(END)


def _close(automaton: Automaton) -> None:
    """Put the `}` that the text lacks."""
    automaton.fit("RBRACE")
    automaton.shift("RBRACE", None, automaton.last_end, automaton.last_end)


def _go_on(automaton: Automaton, stop: Stop) -> bool:
    """Put what is broken in the place of a statement, behind which reading goes on; False where none may stand."""
    place = _statement_place(automaton)
    if place is None:
        return False
    kept, nonterminal = place
    start = automaton.starts[kept] if kept < len(automaton.starts) else stop.span.start
    end = broken_end(automaton, stop, start)
    value = None
    if nonterminal in _STATEMENTS:
        names = defined_names(automaton.text, Span(start, end), is_schedule=nonterminal == "schedule_line")
        value = s.Broken(names, span=Span(start, end))
    else:
        end = len(automaton.text)
    automaton.drop(len(automaton.starts) - kept)
    automaton.push(automaton.machine.gotos[automaton.states[-1]][nonterminal], value, start, end, 0)
    automaton.position = automaton.last_end = end
    automaton.last_kind = ""
    automaton.open = 0
    automaton.is_deep = False
    automaton.is_cut = automaton.unmatched(end)[0] == END
    return True


def _statement_place(automaton: Automaton) -> tuple[int, str] | None:
    """How many symbols stay, and what may stand after them: the deepest place for a statement or a body."""
    for kept in range(len(automaton.states) - 1, -1, -1):
        for nonterminal in automaton.machine.gotos[automaton.states[kept]]:
            if nonterminal in _STATEMENTS or nonterminal in _BODIES:
                return kept, nonterminal
    return None


def _broken_item(text: str) -> s.BrokenItem:
    """What can be read of an item whose head is broken."""
    match = item_head().search(text)
    if match is None:
        return s.BrokenItem("", None, span=Span(0, len(text)))
    name = s.Name(match[2], span=Span(*match.span(2)))
    return s.BrokenItem(match[1], name, doc_above(text, match.start(1)), span=Span(match.start(1), len(text)))
