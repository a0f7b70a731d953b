"""The pieces that a diagnostic is drawn with: styled fragments, the characters of the frame, and how wide it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Style = Literal[
    "", "error", "warning", "note", "help", "frame", "place", "message", "secondary", "added", "removed", "good", "dim"
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fragment:
    text: str
    style: Style = ""


Line = tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """The characters that the picture is drawn with."""

    arrow: str
    bar: str
    branch: str
    last: str
    caret: str
    dash: str
    gap: str
    ellipsis: str


ASCII = Frame("-->", "|", "=", "=", "^", "-", "...", "...")
BOXED = Frame(" ╭─▸", "│", "├╴", "╰╴", "━", "─", "┊", "…")


@dataclass(frozen=True, slots=True)
class Layout:
    """How to draw: with which characters, how wide (None: as wide as it takes), with how wide a gutter."""

    frame: Frame = ASCII
    width: int | None = None
    gutter: int = 1

    @property
    def room(self) -> int:
        """Cells for a source line."""
        return max((self.width or 140) - self.gutter - 4, 20)


def gutter(number: str, bar: str, layout: Layout) -> Line:
    """What stands left of every line: a line number or blanks, and the bar."""
    return (Fragment(f" {number.rjust(layout.gutter)} {bar}", "frame"),)
