"""Draw what the commands print, in colour, as the SVG pictures of the documentation.

    python docs/pictures.py            # all of them, into docs/images
    python docs/pictures.py show diff  # some

Each picture is a terminal with the command that was typed, so that it can be tried. One has measurements in it: run it
where nothing else runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from html import escape
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"

PICTURES = {
    "check": ["check", "docs/images/wrong.tdl"],
    "show": ["show", "examples/matmul/matmul.tdl", "matmul"],
    "diff": ["show", "examples/matmul/matmul.tdl", "matmul", "--step", "5", "--diff"],
    "bench": ["bench", "examples/matmul/matmul.tdl", "--against", "numpy"],
}

_COLUMN, _LINE, _MARGIN, _BAR = 7.8, 18.0, 16.0, 30.0
_INK, _PAPER, _FRAME, _FAINT = "#d7dce5", "#1e2229", "#3a404b", "#8b93a1"
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_COLORS = ("#3a404b", "#f0737a", "#8ccf7e", "#e5c76b", "#71a5f5", "#c792ea", "#67cbe7", "#ffffff")
"""Of a terminal: black, red, green, yellow, blue, magenta, cyan, white."""


def printed(command: list[str]) -> Text:
    """What `tdlc` prints, with its colours; the command before it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONIOENCODING": "utf-8", "COLUMNS": "150"}
    run = subprocess.run(
        [sys.executable, "-m", "tdl.compiler.cli.main", *command, "--color", "always"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    prompt = Text.assemble(("$ ", "bold green"), ("tdlc " + " ".join(command), "bold"), "\n")
    return prompt + Text.from_ansi(run.stdout.rstrip("\n"))


def picture(text: Text) -> str:
    """An SVG of a terminal that shows the text."""
    lines = text.split("\n", allow_blank=True)
    columns = max(len(line.plain) for line in lines)
    width = columns * _COLUMN + 2 * _MARGIN
    height = len(lines) * _LINE + 2 * _MARGIN + _BAR
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}">',
        f'<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1:.0f}" rx="8" fill="{_PAPER}" '
        f'stroke="{_FRAME}"/>',
        *(f'<circle cx="{20 + 18 * n}" cy="18" r="5.5" fill="{_FRAME}"/>' for n in range(3)),
        f'<g font-family="{_FONTS}" font-size="13" fill="{_INK}">',
    ]
    console = Console()
    for number, line in enumerate(lines):
        y = _BAR + _MARGIN + (number + 0.75) * _LINE
        column = 0
        for segment in line.render(console):
            words = segment.text.strip()
            if words:
                start = column + len(segment.text) - len(segment.text.lstrip())
                parts.append(_piece(words, segment.style, _MARGIN + start * _COLUMN, y))
            column += len(segment.text)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _piece(text: str, style: Style | None, x: float, y: float) -> str:
    looks = ""
    if style is not None:
        if style.color is not None:
            looks += f' fill="{_COLORS[(style.color.number or 0) % 8]}"'
        elif style.dim:
            looks += f' fill="{_FAINT}"'
        looks += ' font-weight="bold"' if style.bold else ""
        looks += ' font-style="italic"' if style.italic else ""
    shown = escape(text).replace(" ", "\N{NO-BREAK SPACE}")
    return f'<text x="{x:.1f}" y="{y:.1f}" textLength="{len(text) * _COLUMN:.1f}"{looks}>{shown}</text>'


def main() -> None:
    for name in sys.argv[1:] or PICTURES:
        (IMAGES / f"{name}.svg").write_text(picture(printed(PICTURES[name])), encoding="utf-8")


if __name__ == "__main__":
    main()
