"""What lowering knows at one point of a kernel: the text so far, the values of indices, names and sizes, the buffers,
which lanes run, and where failures are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.debug import DebugLines
from tdl.compiler.backends.llvm.values import Value, any_of, element, operate, spread
from tdl.compiler.kernel.tree import Memory, Origin
from tdl.language import forms
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.forms import Form, Symbol
from tdl.language.source import Span
from tdl.language.tree import Access, Expr, Integer, Let, Local, Reduce, children


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
    """A row of elements in memory. `alignment` of its first, in bytes; `is_streamed`: stores go past the caches."""

    pointer: str
    dtype: DType
    memory: Memory
    alignment: int
    is_streamed: bool = False


@dataclass
class Context:
    """Mutable while one function is written. `symbols` maps indices and dimensions to i64 values.

    `multiples` gives numbers that sizes are known to be multiples of.

    Inside lanes, `lane` counts them and `mask` says which run (None: all); `is_certain` that at least one does.
    """

    block: Block
    buffers: dict[str, Buffer]
    symbols: dict[Symbol, Value]
    parameters: Mapping[str, object]
    values: dict[str, Value] = field(default_factory=dict)
    multiples: Mapping[Symbol, int] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    on_failure: str | None = None  # an instruction for functions that have no error record
    lane: Symbol | None = None
    lanes: int = 0
    mask: Value | None = None
    is_certain: bool = True
    debug: DebugLines | None = None
    function: str = ""  # the subprogram, where there are debug lines

    def symbol(self, symbol: Symbol) -> Value:
        found = self.symbols.get(symbol)
        if found is not None:
            return found
        value = self.parameters.get(symbol.name)
        if symbol.kind != "param" or not isinstance(value, int):
            raise InternalError(f"{symbol.kind} {symbol} has no value when code is made")
        return Value(str(int(value)), "i64")

    @contextmanager
    def line_of(self, origin: Origin) -> Iterator[None]:
        """Within the block, instructions are for the line that a node comes from."""
        before = self.block.location
        if self.debug is not None and origin != Origin():
            self.block.location = self.debug.location(origin, self.function)
        yield
        self.block.location = before

    @contextmanager
    def bound(self, name: str, value: Value) -> Iterator[None]:
        """Within the block, `name` is the value."""
        before = self.values.get(name)
        self.values[name] = value
        yield
        if before is None:
            del self.values[name]
        else:
            self.values[name] = before

    # ---- lanes

    @contextmanager
    def where(self, condition: Value, *, is_certain: bool = False) -> Iterator[None]:
        """Within the block, only those lanes run in which the condition holds as well."""
        before = self.mask, self.is_certain
        condition = spread(self.block, condition, self.lanes)
        self.mask = condition if self.mask is None else operate(self.block, "and", self.mask, condition)
        self.is_certain = is_certain
        yield
        self.mask, self.is_certain = before

    def varies(self, expr: Expr, names: frozenset[str] = frozenset()) -> bool:
        """Whether the value may differ between lanes; `names` are of values that do."""
        if self.lane is None:
            return False
        match expr:
            case Local(name):
                return name in names or (name in self.values and self.values[name].lanes > 0)
            case Integer(form):
                return self.form_varies(form, names)
            case Access(_, (offset,)):
                return self.form_varies(offset, names)
            case Let(name, value, body):
                return self.varies(body, names | {name} if self.varies(value, names) else names)
            case Reduce(_, binders):
                if any(self.form_varies(end, names) for binder in binders for end in (binder.lo, binder.hi)):
                    return True
        return any(self.varies(child, names) for child in children(expr))

    def form_varies(self, form: Form, names: frozenset[str] = frozenset()) -> bool:
        return any(self._atom_varies(atom, names) for atom, _ in form.terms)

    def _atom_varies(self, atom: forms.Atom, names: frozenset[str]) -> bool:
        match atom:
            case Symbol():
                return atom == self.lane or (atom in self.symbols and self.symbols[atom].lanes > 0)
            case forms.FloorDiv(left, right) | forms.Extreme(_, left, right) | forms.Product(left, right):
                return self.form_varies(left, names) or self.form_varies(right, names)
            case forms.Opaque(expr):
                return self.varies(expr, names)

    # ---- failures

    def fail(self, code: Literal[Code.OUT_OF_BOUNDS, Code.DIVISION_BY_ZERO], site: Site, *details: Value) -> None:
        """End the function with a failure; the current block goes on in one that never runs."""
        if self.on_failure is not None:
            self.block.do(self.on_failure)
            self.block.label(self.block.fresh("dead"))
            return
        if site not in self.sites:
            self.sites.append(site)
        numbers = [*(detail.text for detail in details), "0", "0", "0"][:3]
        args = ", ".join(f"i64 {number}" for number in (str(self.sites.index(site)), *numbers))
        self.block.do(f"call void @tdl.fail(ptr %error, i32 {int(code)}, {args})")
        self.block.do(f"ret i32 {int(code)}")
        self.block.label(self.block.fresh("dead"))

    def fail_when(
        self, condition: Value, code: Literal[Code.OUT_OF_BOUNDS, Code.DIVISION_BY_ZERO], site: Site, *details: Value
    ) -> None:
        """Fail where the condition holds in a lane that runs, with the details of the first such lane."""
        if self.mask is not None and self.on_failure is None:
            condition = operate(self.block, "and", condition, self.mask)
        bad = any_of(self.block, condition)
        self.block.when(bad.text, lambda: self.fail(code, site, *self._in_first(condition, details)))

    def _in_first(self, condition: Value, details: tuple[Value, ...]) -> list[Value]:
        if not condition.lanes or not any(detail.lanes for detail in details):
            return [element(self.block, detail, 0) for detail in details]
        kind = f"i{condition.lanes}"
        bits = self.block.value(f"bitcast {condition.typed} to {kind}")
        first = self.block.value(f"call {kind} @llvm.cttz.{kind}({kind} {bits}, i1 true)")
        return [element(self.block, detail, Value(first, kind)) for detail in details]
