"""The words of a syntax error: what could have stood where the text stopped making sense."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tdl.grammar.tables import load_tables
from tdl.language.diagnostic import Diagnostic, Fix
from tdl.language.parser.automaton import END, JUNK, MAX_NESTING, NEWLINE, START, Automaton, Stop
from tdl.language.source import Span

_WORDS = {
    NEWLINE: "the end of the line",
    "NUMBER": "a number",
    "STRING": "a string",
    "RPAR": "`)`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "EQUAL": "`=`",
    "ARROW": "`->`",
    "DOTS": "`..`",
    "LPAR": "`(`",
    "LSQB": "`[`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "VBAR": "`|`",
    "COMPARE": "a comparison",
    "_FOR": "`for`",
    "_IN": "`in`",
    "_IF": "`if`",
    "_ELSE": "`else`",
    "_WHERE": "`where`",
    "_EXPECT": "`expect`",
}
_ORDER = {kind: place for place, kind in enumerate(_WORDS)}
_EXPRESSION = frozenset(
    {"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "INF", "NAN", "LPAR", "LSQB", "ADD", "NOT", "DOTS"}
    | {"EDGE", "WRAP", "MIRROR", "EMIT"}
)
_GOING_ON = frozenset({"ADD", "MULTIPLY", "POWER", "COMPARE", "AND", "OR", "DOT", "LSQB", "LPAR", "_IF", "_ELSE"})
"""What may follow nearly every expression, and so is not worth a word."""
_PHRASES = (
    ("SPLIT", "a schedule line"),
    ("LET", "a definition"),
    ("IDENTITY", "`identity`, `combine`"),
    ("OP", "an item (`op`, `fn`, `schedule`, `test`, ...)"),
)


def complaint(automaton: Automaton, stop: Stop) -> Diagnostic:
    """What to say about the token at which reading stopped."""
    text = automaton.text
    is_fresh = automaton.last_kind in (START, "LBRACE", "")  # a statement may start there, on whatever line
    has_line_end = re.search(r"[\r\n]", text[automaton.last_end : stop.span.start]) is not None
    is_later = stop.kind in (NEWLINE, END) or (has_line_end and not is_fresh)
    place = Span(automaton.last_end, automaton.last_end) if is_later else stop.span
    if stop.reason == "deep":
        return Diagnostic("syntax", f"this nests too deeply: more than {MAX_NESTING} levels", place)
    if stop.kind == JUNK and text[stop.span.start] == '"':
        quotes = '"""' if text.startswith('"""', place.start) else '"'
        place = Span(place.start, place.start + len(quotes))
        return Diagnostic("syntax", f"this string is not closed: expected `{quotes}`", place)
    accepted = [kind for kind in automaton.machine.actions[automaton.states[-1]] if automaton.accepts(kind)]
    message = f"expected {describe(accepted, automaton.machine.keywords)}"
    if is_later:
        return Diagnostic("syntax", message, place)
    word = text[place.start : place.end]
    notes, fixes = _hints(word, place, accepted, automaton.machine.keywords)
    return Diagnostic("syntax", f"{message}, found {shown(word)}", place, notes, (), fixes)


def describe(accepted: Iterable[str], keywords: dict[str, str]) -> str:
    """At most three alternatives, the likeliest first."""
    kinds = set(accepted)
    phrases = [words for kind, words in _PHRASES if kind in kinds][:1]
    if phrases:
        kinds &= {"RBRACE"}
    elif "NUMBER" in kinds and "LPAR" in kinds:
        phrases = ["an expression"]
        kinds -= _EXPRESSION
    elif "NAME" in kinds:
        phrases = ["a name"]
        kinds -= {"NAME", "EMIT"}
    else:
        kinds = kinds - _GOING_ON or kinds - {"DOT", "LSQB"} or kinds
    if "RPAR" in kinds or "RSQB" in kinds:
        kinds -= {"EQUAL", "_FOR"}  # of an argument with a name, of a reduction
    if NEWLINE in kinds or END in kinds:
        kinds = {NEWLINE}
    spelt = {terminal: f"`{word}`" for word, terminal in keywords.items()}
    rest = sorted(kinds, key=lambda kind: (_ORDER.get(kind, len(_ORDER)), kind))
    words = [*phrases, *(_WORDS.get(kind) or spelt.get(kind, kind.lower()) for kind in rest)][:3]
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _hints(
    word: str, place: Span, accepted: list[str], keywords: dict[str, str]
) -> tuple[tuple[str, ...], tuple[Fix, ...]]:
    """A likely spelling, or why a word cannot be a name."""
    if "NAME" in accepted and (word == "let" or word in load_tables().words["reserved"]):
        return (f"`{word}` is a reserved word, so it cannot be a name",), ()
    if not word.isidentifier():
        return (), ()
    from difflib import get_close_matches

    candidates = [known for known, terminal in keywords.items() if terminal in accepted]
    near = get_close_matches(word, candidates, n=1)
    if not near:
        return (), ()
    return (f"did you mean `{near[0]}`?",), (Fix(f"change to `{near[0]}`", place, near[0]),)


def shown(word: str) -> str:
    if len(word) > 24:
        word = word[:20] + "..."
    return f"`{word}`" if word.isprintable() else f"U+{ord(word[0]):04X}"
