"""A writer of C text: lines with their indentation and what each is for, and names that nobody around uses.

It knows nothing of tensors or dtypes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tdl.compiler.kernel.tree import Origin

_WIDTH = 120
_LEAST = 40  # of a line that is far in, what is kept together all the same
_WORD = re.compile(r"\w+")
_ODD = re.compile(r"[^A-Za-z0-9_]+")
_TAKEN = """
alignas alignof asm auto bool break case char const constexpr continue default defined do double else enum extern
false float for fortran goto if inline int int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t long main
near far nullptr register restrict return short signed sizeof size_t static static_assert struct switch thread_local
true typedef typeof union unsigned void volatile while linux unix class delete explicit export friend mutable
namespace new operator private protected public template this throw try typename using virtual wchar_t and or not xor
bitand bitor compl exp log sqrt sin cos tanh erf pow fmod floor ceil trunc rint fabs fma isnan copysign malloc free
memcpy run arena arenas arena_bytes closure index thread threads failure first NULL NAN INFINITY
"""
_RESERVED = frozenset(_TAKEN.split())


@dataclass(frozen=True, slots=True)
class Line:
    """One line of C, and what made it."""

    text: str
    origin: Origin


def plain_name(text: str) -> str:
    """The text as a name of C that is no word of the language, and none of ours, which begin with `tdl_`."""
    name = _ODD.sub("_", text).strip("_") or "x"
    if name[0].isdigit() or name.startswith("tdl_") or name in _RESERVED or name.rstrip("fl") in _RESERVED:
        return f"{name}_" if not name[0].isdigit() else f"n{name}"
    return name


@dataclass
class Block:
    """Lines of one function being written. `origin` is that of the lines that come; `taken` are names of others."""

    lines: list[Line] = field(default_factory=list)
    depth: int = 1
    origin: Origin = field(default_factory=Origin)
    taken: frozenset[str] = frozenset()
    _names: list[set[str]] = field(default_factory=lambda: [set()])

    def put(self, text: str) -> None:
        """A line; one that is too long goes on in the next, further in."""
        indent = "    " * self.depth
        while len(indent) + len(text) > _WIDTH:
            at = text.rfind(" ", 0, max(_WIDTH - len(indent), _LEAST))
            if at < 0:
                break
            self.lines.append(Line(indent + text[:at], self.origin))
            text, indent = text[at + 1 :], "    " * (self.depth + 2)
        self.lines.append(Line(indent + text, self.origin))

    def fresh(self, hint: str, *inside: Line) -> str:
        """A name that means nothing here or in some lines, taken until the braces around it close."""
        base = name = plain_name(hint)
        number, taken = 1, self.names().union(*(_WORD.findall(line.text) for line in inside))
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        self._names[-1].add(name)
        return name

    def names(self) -> frozenset[str]:
        """Every name that means something here."""
        return self.taken.union(*self._names)

    @contextmanager
    def braces(self, head: str = "") -> Iterator[None]:
        """Within the block, lines are inside of braces behind `head`."""
        self.put(f"{head} {{" if head else "{")
        with self.inside():
            yield
        self.put("}")

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Within the block, lines are one step further in, and names last no longer."""
        self.depth += 1
        self._names.append(set())
        yield
        self._names.pop()
        self.depth -= 1

    @contextmanager
    def aside(self) -> Iterator[list[Line]]:
        """Within the block, lines go into a list of their own, one step further in."""
        kept, self.lines = self.lines, []
        mine = self.lines
        with self.inside():
            yield mine
        self.lines = kept
