"""What each word of a text is, as editors colour it: the legend, and the tokens of a document.

    split Y.i by 8 -> io, ii        keyword.schedule  variable.tensor  variable.index  ...  variable.loop.declaration

Types are those that every client knows, so that any colour scheme works; modifiers tell apart what is TDL's own. The
tokens of an item are remembered with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from lsprotocol import types
from tdl.grammar.tables import load_tables
from tdl.language import occurrences, syntax
from tdl.language.analysis import Analysis
from tdl.language.mentions.data import Access, Kind
from tdl.language.mentions.items import mentions
from tdl.language.module import Entry
from tdl.language.parser.lexemes import lexemes
from tdl.language.scope import Declaration
from tdl.language.source import Source
from tdl.lsp.positions import Encoding, position_at, units

TYPES = (
    "namespace", "type", "typeParameter", "parameter", "variable", "property", "enumMember", "event", "function",
    "macro", "struct", "enum", "keyword", "comment", "string", "number",
)  # fmt: skip
MODIFIERS = (
    "declaration", "definition", "readonly", "documentation", "defaultLibrary",
    "op", "graph", "reducer", "tensor", "dimension", "index", "loop", "knob", "schedule", "test", "bench",
)  # fmt: skip
LEGEND = types.SemanticTokensLegend(list(TYPES), list(MODIFIERS))

_NAMES: dict[Kind, tuple[str, ...]] = {
    "module": ("namespace",),
    "const": ("variable", "readonly"),
    "fn": ("function",),
    "reducer": ("function", "reducer"),
    "op": ("function", "op"),
    "graph": ("function", "graph"),
    "tactic": ("macro",),
    "intrinsic": ("function",),
    "memory": ("struct",),
    "target": ("enum",),
    "test": ("event", "test"),
    "bench": ("event", "bench"),
    "parameter": ("parameter", "readonly"),
    "dtype parameter": ("typeParameter",),
    "dimension": ("enumMember", "dimension"),
    "pack": ("enumMember", "dimension"),
    "input": ("parameter", "tensor"),
    "output": ("variable", "tensor"),
    "intermediate": ("variable", "tensor"),
    "argument": ("parameter",),
    "index": ("variable", "index"),
    "loop": ("variable", "loop"),
    "copy": ("variable", "tensor"),
    "knob": ("variable", "knob"),
    "value": ("variable", "readonly"),
    "dtype": ("type",),
    "class": ("type",),
    "function": ("function",),
    "thread": ("enumMember",),
    "place": ("keyword",),
    "property": ("property",),
}
_ACCESS: dict[Access, tuple[str, ...]] = {"declare": ("declaration",), "write": ("definition",), "read": ()}
_COMMENT = re.compile(r'"""(?:[^"]|"(?!""))*"""|"[^"\r\n]*"|(#[^\r\n]*)')
_LINE = re.compile(r"[^\r\n]+")

Piece = tuple[int, int, int, int]
"""Where a token starts and ends, its type, and its modifiers as bits."""
Token = tuple[int, int, int, int, int]
"""Line, character, length, type and modifiers of a token, as LSP counts."""


@lru_cache(maxsize=1024)
def _code(words: tuple[str, ...]) -> tuple[int, int]:
    kind, *modifiers = words
    return TYPES.index(kind), sum(1 << MODIFIERS.index(each) for each in dict.fromkeys(modifiers))


def tokens(analysis: Analysis, encoding: Encoding) -> Iterator[Token]:
    """All tokens of a file, in order."""
    end, source = 0, analysis.source
    for entry in analysis.module.entries:
        start = entry.placed.offset
        yield from _moved(_between(source.text[end:start], encoding), source, end, encoding)
        yield from _moved(_of_entry(entry, analysis, encoding), source, start, encoding)
        end = start + len(entry.placed.parsed.text)
    yield from _moved(_between(source.text[end:], encoding), source, end, encoding)


def _moved(found: Iterable[Token], source: Source, offset: int, encoding: Encoding) -> Iterator[Token]:
    """Tokens of a piece of the text, counted from the start of the file."""
    found = tuple(found)
    if found:
        base = position_at(source, offset, encoding)
        for line, character, *rest in found:
            yield line + base.line, character + (base.character if line == 0 else 0), *rest  # type: ignore[misc]


def _of_entry(entry: Entry, analysis: Analysis, encoding: Encoding) -> tuple[Token, ...]:
    if not isinstance(entry.placed.item, syntax.Import):
        return _of_item(entry.declaration, encoding)
    offset = entry.placed.offset
    names = {
        each.span.shifted(-offset): _name(each.definition.kind, each.access, each.definition.is_builtin)
        for each in occurrences.of_item(analysis, entry)
    }
    found = ((span.start, span.end, *code) for span, code in names.items())
    return _placed(entry.placed.parsed.text, (*_words(entry.declaration), *found), encoding)


@lru_cache(maxsize=2048)
def _of_item(declaration: Declaration, encoding: Encoding) -> tuple[Token, ...]:
    names = {
        each.span: _name(each.meaning.kind, each.access, each.meaning.is_builtin) for each in mentions(declaration)
    }
    found = ((span.start, span.end, *code) for span, code in names.items())
    return _placed(declaration.text, (*_words(declaration), *found), encoding)


def _name(kind: Kind, access: Access, is_builtin: bool) -> tuple[int, int]:
    return _code((*_NAMES[kind], *_ACCESS[access], *(("defaultLibrary",) if is_builtin else ())))


def _words(declaration: Declaration) -> Iterator[Piece]:
    """Keywords, numbers, strings and comments of an item."""
    text, end = declaration.text, 0
    is_schedule = isinstance(declaration.item, syntax.Schedule | syntax.Tactic)
    lines = {*load_tables().words["lines"], *load_tables().words["clauses"]} if is_schedule else set[str]()
    for kind, start, stop in lexemes(text):
        yield from _comments(text, end, start)
        end = stop
        if kind in ("NUMBER", "STRING"):
            yield start, stop, *_code((kind.lower(),))
        elif kind != "NAME" and text[start].isalpha():
            yield start, stop, *_code(("keyword", "schedule") if text[start:stop] in lines else ("keyword",))
    yield from _comments(text, end, len(text))


def _comments(text: str, start: int, end: int) -> Iterator[Piece]:
    for match in _COMMENT.finditer(text, start, end) if "#" in text[start:end] else ():
        if match[1] is not None:
            is_doc = match[1].startswith("##")
            yield match.start(1), match.end(1), *_code(("comment", "documentation") if is_doc else ("comment",))


def _between(text: str, encoding: Encoding) -> tuple[Token, ...]:
    """The comments of text that is in no item."""
    return _placed(text, tuple(_comments(text, 0, len(text))), encoding)


def _placed(text: str, pieces: Iterable[Piece], encoding: Encoding) -> tuple[Token, ...]:
    """Pieces as tokens; one that goes over several lines is a token in each."""
    source = Source("", text)
    found: list[Token] = []
    for start, end, kind, modifiers in sorted(pieces):
        for match in _LINE.finditer(text, start, end):
            place = position_at(source, match.start(), encoding)
            found.append((place.line, place.character, units(match.group(), encoding), kind, modifiers))
    return tuple(found)
