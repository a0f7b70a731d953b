"""What stands at the cursor: a name, a line of a schedule, a number, a word of the language; and what is wrong with it.

split C.i by 8 -> io, ii        on `split` what the line does and why it is legal, on `C.i` and `io` what the loop is,
                                on `8` what it leaves over
Y[i] = X[i]                     on `X` its type, on `i` its range
"""

from __future__ import annotations

from lsprotocol import types
from tdl.grammar.tables import load_tables
from tdl.language import occurrences, syntax
from tdl.language.codes import CODES
from tdl.language.module import Entry
from tdl.language.occurrences import Occurrence
from tdl.language.parser.lexemes import Lexeme, lexemes
from tdl.language.source import Span
from tdl.lsp.documentation import joined, markup, of_word
from tdl.lsp.features.diagnostics import page_uri
from tdl.lsp.glossary import describe, describe_clause
from tdl.lsp.hovers.names import of_name
from tdl.lsp.snapshot import Snapshot

_OF_LINES = ("loop", "index", "copy")


def hover(snapshot: Snapshot, params: types.HoverParams) -> types.Hover | None:
    """What is said of the name or word at the cursor; nothing between them."""
    offset = snapshot.offset(params.position)
    entry = snapshot.entry_at(offset)
    if entry is None:
        return None
    found = _name(snapshot, entry, offset) or _word(snapshot, entry, offset)
    if found is None:
        return None
    span, text = found
    whole = joined(text, *_codes(snapshot, span))
    content = markup(whole, is_markdown=snapshot.has_markdown)
    return types.Hover(content, snapshot.range(span))


def _name(snapshot: Snapshot, entry: Entry, offset: int) -> tuple[Span, str] | None:
    found = occurrences.at(snapshot.analysis, offset)
    texts = []
    for each in dict.fromkeys(found):
        text = _in_line(snapshot, entry, each) or of_name(snapshot, each.definition)
        texts.extend([text] if text else [])
    return (found[0].span, joined(*dict.fromkeys(texts))) if texts else None


def _in_line(snapshot: Snapshot, entry: Entry, found: Occurrence) -> str | None:
    """A loop or a copy, as it is at the line of a schedule."""
    if found.definition.kind not in _OF_LINES or not isinstance(entry.placed.item, syntax.Schedule):
        return None
    from tdl.lsp.hovers.lines import line_at, of_copy, of_loop

    span = found.span.shifted(-entry.placed.offset)
    at = line_at(snapshot, entry, span.start)
    if at is None or not isinstance(at.line, syntax.Line):
        return None
    if found.definition.kind == "copy":
        return of_copy(at, found.definition.name)
    is_result = any(name.span == span for name in at.line.results)
    return of_loop(at, _whole_name(entry, span), is_result=is_result)


def _whole_name(entry: Entry, span: Span) -> str:
    """A name with what stands before its dot."""
    text, start = entry.declaration.text, span.start
    while start and (text[start - 1] == "." or text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return text[start : span.end]


def _word(snapshot: Snapshot, entry: Entry, offset: int) -> tuple[Span, str] | None:
    """A keyword or a number."""
    place = offset - entry.placed.offset
    lexeme = _lexeme_at(entry, place)
    if lexeme is None:
        return None
    kind, start, end = lexeme
    text = entry.declaration.text[start:end]
    said = _number(snapshot, entry, Span(start, end)) if kind == "NUMBER" else None
    if kind not in ("NUMBER", "NAME", "STRING") and text.isidentifier():
        said = _line(snapshot, entry, Span(start, end), text) or _keyword(text, entry, start)
    return None if said is None else (Span(start, end).shifted(entry.placed.offset), said)


def _lexeme_at(entry: Entry, place: int) -> Lexeme | None:
    """The token at a place; of two that meet there, the one that begins there."""
    found = [each for each in lexemes(entry.declaration.text) if each[1] <= place <= each[2]]
    return found[-1] if found else None


def _number(snapshot: Snapshot, entry: Entry, span: Span) -> str | None:
    from tdl.lsp.hovers.lines import line_at
    from tdl.lsp.hovers.numbers import of_literal, of_number

    at = line_at(snapshot, entry, span.start)
    return of_literal(entry, span) if at is None else of_number(at, span)


def _line(snapshot: Snapshot, entry: Entry, span: Span, text: str) -> str | None:
    """The verb of a line of a schedule."""
    if not isinstance(entry.placed.item, syntax.Schedule) or text not in load_tables().words["lines"]:
        return None
    from tdl.lsp.hovers.lines import line_at, of_line

    at = line_at(snapshot, entry, span.start)
    return None if at is None or at.line.span.start != span.start else of_line(at, text)


def _keyword(text: str, entry: Entry, start: int) -> str | None:
    item = entry.placed.item
    lines = item.body if isinstance(item, syntax.Schedule | syntax.Tactic) else ()
    is_clause = any(line.span.start < start < line.span.end for line in lines)
    word = describe_clause(text) if is_clause else describe(text)
    return None if word is None else of_word(text, word)


def _codes(snapshot: Snapshot, span: Span) -> list[str]:
    """What the codes of the errors here stand for, and where that is explained."""
    codes = dict.fromkeys(
        each.code
        for each in snapshot.diagnostics
        if each.primary.start <= span.start and span.end <= max(each.primary.end, each.primary.start + 1)
    )
    links = {code: page_uri(code) for code in codes}
    return [f"[{code}]({links[code]}): {CODES[code]}." for code in codes if code in CODES and links[code] is not None]
