"""An intrinsic as the compiler sees it: its meaning, where it runs, and the texts that stand for it.

    intrinsic dot4(a: u8[4], b: i8[4], c0: i32) -> c: i32 for x86 with avx512vnni {
        c = c0 + sum(i32(a[k]) * i32(b[k]) for k)
        emit llvm "..."
    }

The meaning is a `Program` as an op has. Operands are values here, in registers; for a machine whose instructions take
places in a memory of their own, an operand would have a memory as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from tdl.language import syntax
from tdl.language.check import check_op
from tdl.language.scope import Declaration
from tdl.language.source import Span
from tdl.language.tree import Program


@dataclass(frozen=True, slots=True)
class Emitted:
    """What an intrinsic is in another language; `span` is that of the whole line, relative to the item."""

    text: str
    span: Span


@dataclass(frozen=True, eq=False)
class Intrinsic:
    """`target` is None where it may run anywhere; `emits` is by language (`llvm`)."""

    declaration: Declaration
    program: Program
    target: str | None
    features: tuple[str, ...]
    emits: Mapping[str, Emitted]

    @property
    def name(self) -> str:
        return self.declaration.name

    @property
    def head(self) -> str:
        """How it is declared: `dot4(a: u8[4], b: i8[4], c0: i32) -> c: i32`."""
        item = self.declaration.item
        assert isinstance(item, syntax.Intrinsic)
        end = item.outputs[-1].span.end
        return " ".join(self.declaration.text[item.name.span.start : end].split())

    @property
    def meaning(self) -> str:
        """Its definitions, as they are written."""
        spans = [definition.span for definition in self.program.definitions]
        return "; ".join(" ".join(self.declaration.text[span.start : span.end].split()) for span in spans)


@lru_cache(maxsize=1024)
def intrinsic_of(declaration: Declaration) -> Intrinsic | None:
    """The intrinsic that a declaration makes; None for one with mistakes in it, which are reported there."""
    item = declaration.item
    assert isinstance(item, syntax.Intrinsic)
    checked = check_op(declaration)
    if not checked.is_sound or checked.program.dims:
        return None
    emits = {line.kind.text: Emitted(line.text.value, line.span) for line in item.body if isinstance(line, syntax.Emit)}
    target = None if item.target is None else item.target.text
    return Intrinsic(declaration, checked.program, target, tuple(name.text for name in item.features), emits)
