"""Long modules for measuring: the programs of `tests/programs`, repeated under new names until there are lines enough.

    python benchmarks/generate.py --lines 2000 > long.tdl

    op relu(...)       becomes      op relu_3(...)
    test odd: relu(M=37)            test elementwise_odd_3: relu_3(M=37)

Every op, function, constant, reducer and test gets a name of its own, so that no two items are equal and nothing
that is remembered by an item's text is used twice. Locals keep their names. A schedule stands in the module of its
op, so imports between the programs fall away.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "tests" / "programs"

_DECLARED = re.compile(r"^(?:op|fn|const|reducer|graph|tactic|intrinsic|memory|target) +(\w+)", re.MULTILINE)
_CASE = re.compile(r"^((?:test|bench) +)(\w+)", re.MULTILINE)
_IMPORT = re.compile(r"^(?:from|import) .*\n", re.MULTILINE)


def generate(lines: int, programs: Path = PROGRAMS) -> str:
    """A module of at least `lines` lines that checks without a diagnostic; always the same for the same programs."""
    parts: list[str] = []
    length = 0
    for part in _repeated(programs):
        if length >= lines:
            break
        parts.append(part)
        length += part.count("\n")
    return "".join(parts)


def _repeated(programs: Path) -> Iterator[str]:
    """The programs under the names of the first copy, the second, and so on; each ends with an empty line."""
    texts = {path.stem: _IMPORT.sub("", path.read_text(encoding="utf-8")).strip() for path in _in_order(programs)}
    declared = {name for text in texts.values() for name in _DECLARED.findall(text)}
    words = re.compile(rf"(#.*)|\b({'|'.join(sorted(declared))})\b")
    for copy in count(1):
        for stem, text in texts.items():
            named = _CASE.sub(rf"\g<1>{stem}_\g<2>_{copy}", text)
            yield words.sub(lambda word, copy=copy: word[1] or f"{word[2]}_{copy}", named) + "\n\n"


def _in_order(programs: Path) -> list[Path]:
    """Sorted by name: the same module on every machine."""
    return sorted(programs.glob("*.tdl"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a long TDL module to standard output.")
    parser.add_argument("--lines", type=int, default=2000, help="at least so many lines (default: 2000)")
    print(generate(parser.parse_args().lines), end="")


if __name__ == "__main__":
    main()
