"""What lowering knows at one point of a kernel: the text so far, the values of indices, names and sizes, the tensors,
and where failures are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from tdl.compiler.backends.llvm.block import Block
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.forms import Symbol
from tdl.language.source import Span


class Code(IntEnum):
    """What a kernel returns and writes to its error record; 0 is success."""

    OUT_OF_BOUNDS = 1
    DIVISION_BY_ZERO = 2


@dataclass(frozen=True, slots=True)
class Site:
    """A place in the program that can fail; `tensor` is the one read out of bounds."""

    span: Span
    tensor: str = ""


@dataclass(frozen=True, slots=True)
class Buffer:
    """A tensor in memory, dense in row-major order. `extents` and `strides` (in elements) are i64 values."""

    pointer: str
    dtype: DType
    extents: tuple[str, ...]
    strides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Register:
    """A value that changes while loops run: a stack slot that LLVM turns into a register."""

    slot: str


@dataclass
class Context:
    """Mutable while one kernel is written. `symbols` maps indices and dimensions to i64 values."""

    block: Block
    buffers: Mapping[str, Buffer]
    symbols: dict[Symbol, str]
    parameters: Mapping[str, object]
    values: dict[str, str | Register] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    on_failure: str | None = None  # an instruction for functions that have no error record

    def symbol(self, symbol: Symbol) -> str:
        found = self.symbols.get(symbol)
        if found is not None:
            return found
        value = self.parameters.get(symbol.name)
        if symbol.kind != "param" or not isinstance(value, int):
            raise InternalError(f"{symbol.kind} {symbol} has no value when code is made")
        return str(int(value))

    @contextmanager
    def bound(self, name: str, value: str | Register) -> Iterator[None]:
        """Within the block, `name` is the value."""
        before = self.values.get(name)
        self.values[name] = value
        yield
        if before is None:
            del self.values[name]
        else:
            self.values[name] = before

    def fail(self, code: Literal[Code.OUT_OF_BOUNDS, Code.DIVISION_BY_ZERO], site: Site, *details: str) -> None:
        """End the kernel with a failure; the current block goes on in one that never runs."""
        if self.on_failure is not None:
            self.block.do(self.on_failure)
            self.block.label(self.block.fresh("dead"))
            return
        if site not in self.sites:
            self.sites.append(site)
        numbers = [*details, "0", "0", "0"][:3]
        args = ", ".join(f"i64 {number}" for number in (str(self.sites.index(site)), *numbers))
        self.block.do(f"call void @tdl.fail(ptr %error, i32 {int(code)}, {args})")
        self.block.do(f"ret i32 {int(code)}")
        self.block.label(self.block.fresh("dead"))

    def fail_when(self, condition: str, code: Code, site: Site, *details: str) -> None:
        self.block.when(condition, lambda: self.fail(code, site, *details))
