"""What the hot loop of a kernel is made of, read from its assembly.

    .LBB1_7:
        vbroadcastss  -16384(%rax,%rbx), %zmm24          loops(text)[...].counts == {"load": 10, "fma": 24, ...}
        vfmadd231ps   %zmm24, %zmm25, %zmm7
        ...
        jne  .LBB1_7

A loop is what lies between a label and the last jump back to it; the hot one is taken to be the innermost loop that
does most vector arithmetic, since nothing here knows how often each runs. Reads the AT&T syntax of x86; of assembly for
other machines nothing is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["fma", "arithmetic", "load", "store", "spill", "gather", "shuffle", "scalar", "branch"]

_LABEL = re.compile(r"^([.\w$]+):")
_INSTRUCTION = re.compile(r"^\s+([a-z][a-z0-9]*)\s*([^#]*)")
_MEMORY = re.compile(r"\(%\w+")
_STACK = re.compile(r"\(%[re][sb]p\)")
_REGISTER = re.compile(r"%([xyz])mm\d+")
_WIDTHS = {"x": 128, "y": 256, "z": 512}

_RULES: tuple[tuple[Kind, str], ...] = (
    ("branch", r"j[a-z]+$|call"),
    ("fma", r"vf(n?)m(add|sub)|vpdp|vdpbf16"),
    ("gather", r"vp?(gather|scatter)"),
    ("shuffle", r"vp?(perm|shuf|unpck|broadcast|blend|align|insert|extract|compress|expand)|v(pack|pmov[sz]x)"),
    ("arithmetic", r"vp?(add|sub|mul|div|max|min|sqrt|rcp|rsqrt|and|or|xor|cmp|round|rndscale|abs|avg|mad|sad)"),
    ("arithmetic", r"vp?(sll|srl|sra|tern|scalef|fixup|range|getexp|getmant|cvt)"),
)


class Instruction(NamedTuple):
    """One line: its number from 0, what it does, and the bits of the vector registers in it (0: none)."""

    line: int
    kind: Kind
    width: int


@dataclass(frozen=True, slots=True)
class Loop:
    """Lines `first` to `last`, from 0; `depth` counts the loops around it."""

    first: int
    last: int
    depth: int
    instructions: tuple[Instruction, ...]

    @property
    def counts(self) -> Counter[Kind]:
        """How many instructions of each kind one iteration runs at most."""
        return Counter(each.kind for each in self.instructions)

    @property
    def width(self) -> int:
        """The bits of the widest vectors that are computed with or moved; 0 where there are none."""
        return max((each.width for each in self.instructions), default=0)

    def summary(self) -> str:
        """`24 fma, 10 load, 2 scalar, 1 branch; 512-bit vectors; no spills`."""
        counts = self.counts
        spills = counts.pop("spill", 0)
        parts = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
        vectors = f"{self.width}-bit vectors" if self.width else "no vectors"
        return f"{parts}; {vectors}; {spills or 'no'} spill{'s' * (spills != 1)}"


def hot_loop(text: str) -> Loop | None:
    """The innermost loop with most vector arithmetic, or else with most vectors moved; None where there is none."""
    found = [each for each in loops(text) if each.width]
    return max(found, key=_work, default=None)


def loops(text: str) -> list[Loop]:
    """The innermost loops, in the order of their first lines."""
    lines = text.splitlines()
    spans = _spans(lines)
    inner = [(first, last) for first, last in spans if not any(_is_in(other, (first, last)) for other in spans)]
    return [
        Loop(first, last, sum(_is_in((first, last), other) for other in spans), tuple(_read(lines, first, last)))
        for first, last in sorted(inner)
    ]


def _work(loop: Loop) -> tuple[int, int]:
    vectors = [each for each in loop.instructions if each.width]
    return sum(each.kind in ("fma", "arithmetic") for each in vectors), len(vectors)


def _spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    """From each label to the last jump back to it."""
    labels: dict[str, int] = {}
    ends: dict[int, int] = {}
    for number, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = number
            continue
        instruction = _INSTRUCTION.match(line)
        if instruction and instruction[1].startswith("j"):
            target = labels.get(instruction[2].strip())
            if target is not None:
                ends[target] = number
    return list(ends.items())


def _is_in(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def _read(lines: Sequence[str], first: int, last: int) -> Iterator[Instruction]:
    for number in range(first, last + 1):
        match = _INSTRUCTION.match(lines[number])
        if match:
            name, operands = match[1], match[2].strip()
            widths = [_WIDTHS[letter] for letter in _REGISTER.findall(operands)]
            is_scalar = name.endswith(("ss", "sd")) and not name.startswith(("vp", "vbroadcast"))
            yield Instruction(number, _kind(name, operands), 0 if is_scalar else max(widths, default=0))


def _kind(name: str, operands: str) -> Kind:
    is_move = re.match(r"v?mov|vbroadcast|k?mov", name) is not None
    if is_move and _STACK.search(operands):
        return "spill"
    if is_move and _MEMORY.search(operands):
        return "store" if operands.endswith(")") or _MEMORY.search(operands.rpartition(",")[2]) else "load"
    return next((kind for kind, pattern in _RULES if re.match(pattern, name)), "scalar")
