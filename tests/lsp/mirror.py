"""What a client knows of a text that it edits, counted without the server's code.

text = Mirror("file:///a.tdl", "op f", "utf-16")
text.apply([Edit(0, 2, "fn")])          the changes to send, and `text.text` is what the server must have
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

WIDTHS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
"""The codec of each encoding of places, and the bytes of one of its units."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")


@dataclass(frozen=True)
class Edit:
    """Characters from `start` to `end` give way to `text`."""

    start: int
    end: int
    text: str


@dataclass
class Mirror:
    """A document as the client has it. `undone` and `done` hold whole texts."""

    uri: str
    text: str
    encoding: str
    version: int = 1
    done: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)

    # ---- edits

    def apply(self, edits: list[Edit]) -> list[dict[str, Any]]:
        """Make some edits, each to what the one before left; gives the changes of one notification."""
        self.done.append(self.text)
        self.undone.clear()
        return self._apply(edits)

    def undo(self) -> list[dict[str, Any]]:
        """Back to the text before the last edits."""
        self.undone.append(self.text)
        return self._apply([difference(self.text, self.done.pop())])

    def redo(self) -> list[dict[str, Any]]:
        self.done.append(self.text)
        return self._apply([difference(self.text, self.undone.pop())])

    def _apply(self, edits: list[Edit]) -> list[dict[str, Any]]:
        changes = []
        for edit in edits:
            start, end = self.whole(edit.start), self.whole(edit.end)
            place = {"start": self.position(start), "end": self.position(end)}
            changes.append({"range": place, "text": edit.text})
            self.text = self.text[:start] + edit.text + self.text[end:]
        self.version += 1
        return changes

    # ---- places

    def whole(self, offset: int) -> int:
        """The offset itself, or the one before a line end that it would split: there is no place inside one."""
        return offset - 1 if self.text[offset - 1 : offset + 1] == "\r\n" and offset else offset

    def lines(self) -> list[str]:
        """The lines with their ends; the last is empty where the text ends with a line end."""
        found = _LINE.findall(self.text)
        return found if self.text[-1:] in ("\n", "\r", "") else found[:-1]

    def position(self, offset: int) -> dict[str, int]:
        before = Mirror("", self.text[:offset], self.encoding).lines()
        return {"line": len(before) - 1, "character": self.units(before[-1])}

    def offset(self, position: dict[str, int]) -> int:
        """The offset of a place that is in the text; fails where it is not."""
        lines = self.lines()
        codec, width = WIDTHS[self.encoding]
        line = lines[position["line"]]
        data = line.rstrip("\r\n").encode(codec, "surrogatepass")
        length = position["character"] * width
        assert length <= len(data), f"{position} is beyond the end of {line!r}"
        return sum(map(len, lines[: position["line"]])) + len(data[:length].decode(codec, "surrogatepass"))

    def units(self, text: str) -> int:
        codec, width = WIDTHS[self.encoding]
        return len(text.encode(codec, "surrogatepass")) // width

    def edits(self, found: list[dict[str, Any]]) -> list[Edit]:
        """Edits that a server gives, all of the text as it is: the last first, so that none moves another."""
        spans = [
            Edit(self.offset(each["range"]["start"]), self.offset(each["range"]["end"]), each["newText"])
            for each in found
        ]
        ordered = sorted(spans, key=lambda each: (each.start, each.end))
        for one, other in pairwise(ordered):
            assert one.end <= other.start, f"{one} and {other} overlap"
        return ordered[::-1]


def difference(before: str, after: str) -> Edit:
    """The one edit that makes the second of the first, without splitting a line end."""
    shorter = min(len(before), len(after))
    start = next((each for each in range(shorter) if before[each] != after[each]), shorter)
    kept = next((each for each in range(shorter - start) if before[-1 - each] != after[-1 - each]), shorter - start)
    while start and "\r" in (before[start - 1], after[start - 1]):
        start -= 1
    while kept and "\n" in (before[-kept], after[-kept]):
        kept -= 1
    return Edit(start, len(before) - kept, after[start : len(after) - kept])
