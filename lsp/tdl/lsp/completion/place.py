"""The place in a document where something is being typed: the item it is in, and what may stand there.

schedule matmul { split C.i‸        in the item from `schedule` on; the word `i` is being typed behind `C.`
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tdl.language import syntax
from tdl.language.module import Entry, key_of
from tdl.language.parse import parse_item
from tdl.language.parser.cursor import Cursor, cursor_at
from tdl.language.parser.items import item_keywords
from tdl.language.parser.lines import BLANKS, line_start
from tdl.language.scope import Declaration
from tdl.lsp.snapshot import Snapshot

_WORD = re.compile(r"\w*\Z")
_DOTTED = re.compile(r"((?:\w+[ \t]*\.[ \t]*)*)\Z")


@dataclass(frozen=True)
class Place:
    """`start` is where the word that is being typed begins, `head` what stands before its dot: `std.nn`.

    `begin` is where the item begins; offsets of `cursor` count from there. `entry` is what the checker knows of it,
    None where there is no item yet.
    """

    snapshot: Snapshot
    offset: int
    start: int
    head: str
    begin: int
    cursor: Cursor
    entry: Entry | None
    is_between: bool
    """Whether an item may begin here."""

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.cursor.texts

    @property
    def takes_value(self) -> bool:
        """Whether a name that means something fits, or a further part of one."""
        return self.cursor.takes_value or bool(self.head and self.cursor.begins)

    @property
    def rest(self) -> str:
        """What follows in the line."""
        text = self.snapshot.source.text
        return re.match(r"[^\r\n#]*", text[self.offset : self.offset + 400])[0].strip()  # type: ignore[index]

    @property
    def keyword(self) -> str:
        """The word that the item begins with."""
        text = self.snapshot.source.text[self.begin : self.offset]
        match = re.search(r"^[ \t\f\ufeff]*(\w+)", re.sub(r"^##.*$", "", text, flags=re.MULTILINE), re.MULTILINE)
        return match[1] if match is not None else ""

    def before_statement(self) -> Declaration | None:
        """The item as it would be if it ended before the statement that is being typed."""
        if self.entry is None or self.cursor.statement is None:
            return None
        return until(self.entry, self.cursor.start)


def until(entry: Entry, end: int) -> Declaration:
    """An item as it would be if its body ended at an offset of its text."""
    whole = entry.declaration
    text = f"{whole.text[:end].rstrip()}\n}}"
    parsed = parse_item(text)
    key = key_of(text, whole.environment)
    return Declaration(parsed.item, text, whole.path, whole.offset, key, whole.environment, whole.depth)


def place_at(snapshot: Snapshot, offset: int) -> Place:
    """Where an offset is."""
    text = snapshot.source.text
    word = _WORD.search(text, line_start(text, offset), offset)
    start = offset if word is None else word.start()
    dotted = _DOTTED.search(text, line_start(text, start), start)
    head = "" if dotted is None else re.sub(r"\s", "", dotted[1]).removesuffix(".")
    entry = snapshot.entry_at(start)
    is_first = not text[line_start(text, start) : start].strip(BLANKS)
    begin = _own_start(text, start)
    if begin is not None:
        entry = entry if entry is not None and entry.placed.offset == begin else None
    elif entry is not None:
        begin = entry.placed.offset
    if begin is None:
        return Place(snapshot, offset, start, head, start, Cursor(), None, is_first)
    cursor = cursor_at(text[begin:start])
    is_between = is_first and (cursor.has_ended or line_start(text, start) == start)
    return Place(snapshot, offset, start, head, begin, cursor, entry, is_between)


def _own_start(text: str, offset: int) -> int | None:
    """The start of the line, where it is the head of an item that has no name yet."""
    line = line_start(text, offset)
    match = re.match(r"(\w+)[ \t\f]", text[line:offset])
    return line if match is not None and match[1] in item_keywords() else None


def item_of(place: Place) -> syntax.Item | None:
    return None if place.entry is None else place.entry.placed.item


def up_to(texts: tuple[str, ...], *words: str) -> str:
    """The texts before the first of some words, put together: a name with its dots."""
    ends = (number for number, text in enumerate(texts) if text in words)
    return "".join(texts[: next(ends, len(texts))])
