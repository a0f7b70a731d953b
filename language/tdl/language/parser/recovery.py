"""Recovery: after a token that does not fit, one diagnostic, and reading goes on with the next statement.

Panic mode. The stacks are cut back to the deepest state in which a whole statement may stand, a `Broken` is put there
in its place, and the text is skipped up to the end of the broken statement. Where no statement may stand the head of
the item is broken, and the item becomes a `BrokenItem`.
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.language import syntax as s
from tdl.language.diagnostic import Diagnostic
from tdl.language.parser.automaton import END, NEWLINE, Automaton, Stop
from tdl.language.parser.broken import broken_end, defined_names, swallowing_end
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


def read_item(text: str, automaton: Automaton | None = None) -> Outcome:
    """Read the item that `text` starts with, with an automaton that may keep more than its tree."""
    automaton = automaton or Automaton(text)
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
        place = statement_place(automaton)
        if place is None:
            diagnostics.append(complaint(automaton, stop))
            return Outcome(s.ParsedItem(text, _broken_item(text), _in_order(diagnostics)), len(text))
        diagnostics.append(_skip_statement(automaton, stop, *place))
    item = automaton.values[-1]
    return Outcome(s.ParsedItem(text[: automaton.last_end], item, _in_order(diagnostics)), automaton.last_end)


def _in_order(diagnostics: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(diagnostics, key=lambda diagnostic: diagnostic.primary.start))


def _is_complete(automaton: Automaton, stop: Stop) -> bool:
    """Whether the item ended before the token: with its `}`, with its line, or before a `}` that closes nothing."""
    is_after = automaton.last_kind == "RBRACE" or stop.kind in (NEWLINE, "RBRACE")
    return is_after and stop.reason == "unexpected" and automaton.accepts(END)


def _close(automaton: Automaton) -> None:
    """Put the `}` that the text lacks."""
    automaton.fit("RBRACE")
    automaton.shift("RBRACE", None, automaton.last_end, automaton.last_end)


def _skip_statement(automaton: Automaton, stop: Stop, kept: int, nonterminal: str) -> Diagnostic:
    """Put what is broken in the place of a statement (or a body), behind which reading goes on; say what was wrong."""
    text = automaton.text
    start = automaton.starts[kept] if kept < len(automaton.starts) else stop.span.start
    value = None
    if nonterminal in _BODIES:
        diagnostic, end = complaint(automaton, stop), len(text)
    else:
        swallowed = swallowing_end(automaton, start, stop, automaton.states[kept])
        if swallowed is not None:
            stop = automaton.run_again(kept, start, swallowed)
        diagnostic = complaint(automaton, stop)
        end = broken_end(automaton, stop, start) if swallowed is None else swallowed
        value = s.Broken(
            defined_names(text, Span(start, end), is_schedule=nonterminal == "schedule_line"), span=Span(start, end)
        )
    automaton.replace(kept, nonterminal, value, Span(start, end))
    automaton.is_cut = automaton.unmatched(end)[0] == END
    return diagnostic


def statement_place(automaton: Automaton) -> tuple[int, str] | None:
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
