"""An op at a stage, line by line, each line with what it came from: the definition and the line of the schedule.

    vfmadd231ps  %zmm24, %zmm25, %zmm7      definition 0, `A[i, k] * B[k, j]`; schedule line 3, `vectorize C.j by 16`

A nest, a kernel and C know this themselves. LLVM text and assembly are made with debug locations whose line numbers are
those of a list of origins; the numbers are read back from the text, and everything of debuggers is taken out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tdl.compiler.kernel.printing import kernel_lines
from tdl.compiler.kernel.tree import Origin
from tdl.compiler.lines import Lines
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.preview import Stage, render_nest, view
from tdl.compiler.schedule.tree import Nest

_DEBUG = re.compile(r", !dbg !(\d+)$|( !dbg !\d+)(?= \{$)")
_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)")
_PLACE = re.compile(r"^\t\.loc\t\d+ (\d+)")
_NOISE = re.compile(r"^\t\.(loc|cfi_\w+|file|ident|addrsig\w*)\b|^\.L(tmp|func_begin|func_end)\d+:")
_SECTION = re.compile(r'^\t\.section\t"?([.\w-]+)')


@dataclass(frozen=True, slots=True)
class LinkedLine:
    """One line of a view; `origin` is None where it came from no line in particular."""

    text: str
    origin: Origin | None = None


def linked_lines(nest: Nest, at: Stage) -> tuple[LinkedLine, ...]:
    """A nest at a stage. Beyond the nest, its program's compile-time parameters must have values."""
    if at == "nest":
        lines = view(nest)
        width = max((len(line.text) for line in lines if line.loop), default=0) + 4
        texts = (f"{line.text:<{width}}# {line.loop}" if line.loop else line.text for line in lines)
        return tuple(LinkedLine(text, line.origin) for text, line in zip(texts, lines))
    if at == "kernel":
        return tuple(LinkedLine(line.text, line.origin) for line in kernel_lines(lower(nest)))
    if at == "c":
        from tdl.compiler.backends.c.file import kernel_lines as lines_of_c

        return tuple(LinkedLine(line.text, line.origin) for line in lines_of_c(lower(nest)))
    numbers = _Numbers([Origin()])
    text = render_nest(nest, at, lines=Lines("op", 1, numbers.place))
    return tuple(_assembly(text, numbers) if at == "asm" else _llvm(text, numbers))


@dataclass
class _Numbers:
    """Origins by number; the first stands for the op as a whole, and line 1 of the file that debuggers would see."""

    origins: list[Origin]

    def place(self, origin: Origin) -> tuple[int, int]:
        if origin not in self.origins:
            self.origins.append(origin)
        return self.origins.index(origin) + 1, 1

    def origin(self, line: int) -> Origin | None:
        return self.origins[line - 1] if 1 < line <= len(self.origins) else None


def _llvm(text: str, numbers: _Numbers) -> Iterator[LinkedLine]:
    lines = text.splitlines()
    places = {match[1]: int(match[2]) for match in map(_LOCATION.match, lines) if match}
    for line in lines:
        if line.startswith("!"):
            continue
        match = _DEBUG.search(line)
        place = 0 if match is None or match[1] is None else places.get(match[1], 0)
        yield LinkedLine(_DEBUG.sub("", line), numbers.origin(place))


def _assembly(text: str, numbers: _Numbers) -> Iterator[LinkedLine]:
    origin, is_debug = None, False
    for line in text.splitlines():
        section = _SECTION.match(line)
        if section:
            is_debug = section[1].startswith((".debug", ".note"))
        elif line.startswith("\t.text"):
            is_debug = False
        place = _PLACE.match(line)
        if place:
            origin = numbers.origin(int(place[1]))
        if is_debug or _NOISE.match(line) or line.startswith("# hot loop"):
            continue
        is_instruction = line.startswith("\t") and not line.startswith("\t.")
        yield LinkedLine(line, origin if is_instruction else None)
