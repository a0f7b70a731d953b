"""Text to syntax tree. Any text gives a tree; what is wrong with it is said in diagnostics.

    parse_file(Source("f.tdl", "op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }"))   # a File with one Op

Each item is parsed alone and remembered by its text, so that after an edit only the item that changed is parsed again.
"""

from __future__ import annotations

from functools import lru_cache

from tdl.language.diagnostic import Diagnostic
from tdl.language.parser.items import split_items
from tdl.language.parser.recovery import Outcome, read_item
from tdl.language.parser.stray import stray_text
from tdl.language.source import Source
from tdl.language.syntax import File, ParsedItem, PlacedItem


def parse_item(text: str) -> ParsedItem:
    """The item whose doc comment or keyword `text` starts with; what follows the item is not looked at."""
    return _read(text).parsed


def parse_file(source: Source) -> File:
    items: list[PlacedItem] = []
    diagnostics: list[Diagnostic] = []
    (_, preamble), *chunks = split_items(source.text)
    diagnostics += stray_text(source.text, 0, len(preamble))
    for offset, chunk in chunks:
        outcome = _read(chunk)
        items.append(PlacedItem(offset, outcome.parsed))
        if not outcome.parsed.diagnostics:  # else what follows is most likely of the same cause
            diagnostics += stray_text(source.text, offset + outcome.end, offset + len(chunk))
    return File(tuple(items), tuple(diagnostics))


@lru_cache(maxsize=4096)
def _read(text: str) -> Outcome:
    return read_item(text)
