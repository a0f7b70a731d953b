"""Where a command writes: a stream, whether it takes colours, and how wide it is.

Colours are on for a terminal unless NO_COLOR is set or TERM is dumb; FORCE_COLOR and `--color` say otherwise. rich is
imported only where there is something to colour.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TextIO

from tdl.language.cells import printable
from tdl.language.diagnostic import Diagnostic
from tdl.language.frame import ASCII, BOXED, Fragment, Frame, Line, Style
from tdl.language.render import Find, render
from tdl.language.source import Source


class Color(str, Enum):
    """The values of `--color`."""

    auto = "auto"
    always = "always"
    never = "never"


THEME: dict[Style, str] = {
    "": "",
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "help": "bold green",
    "frame": "blue",
    "place": "cyan",
    "message": "bold",
    "secondary": "cyan",
    "added": "green",
    "removed": "red",
    "dim": "dim",
    "good": "bold green",
}


@dataclass(frozen=True)
class Screen:
    """`width` is None where lines should not be broken: in files and pipes."""

    stream: TextIO
    colored: bool
    width: int | None

    @classmethod
    def of(cls, stream: TextIO, color: Color = Color.auto) -> Screen:
        terminal = stream.isatty()
        colored = _wants_color(terminal, color)
        is_known = terminal or (colored and "COLUMNS" in os.environ)
        return cls(stream, colored, shutil.get_terminal_size().columns if is_known else None)

    @property
    def frame(self) -> Frame:
        """Box characters where a person looks and the encoding has them."""
        encoding = (self.stream.encoding or "").lower().replace("-", "")
        return BOXED if self.colored and encoding == "utf8" else ASCII

    def write(self, lines: Iterable[Line]) -> None:
        """Print styled lines."""
        for line in lines:
            self.write_part(line if self.colored else _without_end(line))
            self.stream.write("\n")

    def write_part(self, line: Line) -> None:
        """Print styled text without a line end."""
        self._put(self._ansi(line) if self.colored else "".join(part.text for part in line))

    def print(self, text: str) -> None:
        """Print text as it is, with a line end; nothing where there is none."""
        if text:
            self._put(text + "\n")

    def _put(self, text: str) -> None:
        encoding = self.stream.encoding or "utf-8"
        self.stream.write(text.encode(encoding, "backslashreplace").decode(encoding))

    def diagnostics(self, found: Sequence[Diagnostic], source: Source, find: Find = lambda path: None) -> None:
        """Draw each diagnostic, with an empty line behind it."""
        for diagnostic in found:
            self.write([*render(diagnostic, source, frame=self.frame, width=self.width, find=find), ()])

    def _ansi(self, line: Line) -> str:
        from rich.color import ColorSystem
        from rich.style import Style as Look

        return "".join(
            Look.parse(THEME[part.style]).render(part.text, color_system=ColorSystem.STANDARD) for part in line
        )


def _without_end(line: Line) -> Line:
    """The line as plain text without blanks at its end."""
    return (Fragment("".join(part.text for part in line).rstrip()),)


def _wants_color(terminal: bool, color: Color) -> bool:
    if color is not Color.auto:
        return color is Color.always
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return terminal and os.environ.get("TERM") != "dumb"


def stdout(color: Color = Color.auto) -> Screen:
    return Screen.of(sys.stdout, color)


def stderr(color: Color = Color.auto) -> Screen:
    return Screen.of(sys.stderr, color)


def shown(text: str) -> str:
    """A text from outside, such as a path, made safe to print."""
    return printable(text)
