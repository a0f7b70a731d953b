"""What is known while a function in C is written: its lines, what names stand for, and what the file must have for it.

Unit        one file: the helpers that its functions call, the places that failures' numbers stand for
Code        one function of it. A task, which is the body of a parallel loop, takes what it uses from around it
            through a closure: asking for a name captures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from tdl.compiler.backends.c.block import Block, Line
from tdl.compiler.backends.c.values import Value, size
from tdl.compiler.backends.llvm.context import Code as Failure
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.kernel.tree import Kernel, Origin
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.forms import Symbol
from tdl.language.intrinsics import Intrinsic

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Array:
    """A buffer as C has it: `name` is a pointer to its first element, or an array. `type_` is that of the pointer."""

    name: str
    dtype: DType
    type_: str


@dataclass
class Unit:
    """What the functions of one file share. `functions` are finished, in the order in which they can be compiled."""

    helpers: set[str] = field(default_factory=set)
    sites: list[tuple[object, Site]] = field(default_factory=list)
    owner: object = None  # whose sites the functions' are that are being written: places are relative to something
    functions: list[Line] = field(default_factory=list)
    intrinsics: dict[Intrinsic, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def helper(self, name: str) -> str:
        """A function of `support.py`, which the file will then have."""
        self.helpers.add(name)
        return name

    def unique(self, name: str) -> str:
        """A name for a function."""
        found, number = name, 1
        while found in self.names:
            number += 1
            found = f"{name}_{number}"
        self.names.add(found)
        return found

    def function(self, head: str, lines: list[Line], comment: str = "") -> None:
        """A finished function."""
        if comment:
            self.functions.append(Line(f"/* {comment.replace('*/', '* /')} */", Origin()))
        self.functions += [Line(f"{head} {{", Origin()), *lines, Line("}", Origin()), Line("", Origin())]

    def declaration(self, head: str, lines: list[Line]) -> None:
        """A finished type."""
        self.functions += [Line(f"{head} {{", Origin()), *lines, Line("};", Origin()), Line("", Origin())]


@dataclass
class Code:
    """Mutable while one function is written. `returns` is what follows `return` where it failed."""

    unit: Unit
    kernel: Kernel
    name: str
    returns: str
    block: Block = field(default_factory=Block)
    symbols: dict[Symbol, Value] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    locals: dict[str, Value] = field(default_factory=dict)
    outer: Code | None = None
    captured: dict[str, str] = field(default_factory=dict)  # by name, the type of what a task takes from around it
    used: set[str] = field(default_factory=set)

    @property
    def parameters(self) -> Mapping[str, object]:
        return self.kernel.program.parameters

    def symbol(self, symbol: Symbol) -> Value:
        found = self.symbols.get(symbol)
        if found is None and self.outer is not None and symbol.kind != "param":
            found = self.symbols[symbol] = Value(self.capture(self.outer.symbol(symbol).text, "int64_t "))
        if found is not None:
            self.used.add(found.text)
            return found
        value = self.parameters.get(symbol.name)
        if symbol.kind != "param" or not isinstance(value, int):
            raise InternalError(f"{symbol.kind} {symbol} has no value when code is made")
        return size(int(value))

    def array(self, name: str) -> Array:
        found = self.arrays.get(name)
        if found is None:
            if self.outer is None:
                raise InternalError(f"buffer {name} is not to be seen where it is used")
            around = self.outer.array(name)
            found = Array(self.capture(around.name, around.type_), around.dtype, around.type_)
            self.arrays[name] = found
        self.used.add(found.name)
        return found

    def capture(self, name: str, type_: str) -> str:
        """A name of the function around a task, in the task."""
        self.captured[name] = type_
        return name

    @contextmanager
    def bound(self, name: str, value: Value) -> Iterator[None]:
        """Within the block, a name of the language is the value."""
        before = self.locals.get(name)
        self.locals[name] = value
        yield
        if before is None:
            del self.locals[name]
        else:
            self.locals[name] = before

    @contextmanager
    def line_of(self, origin: Origin) -> Iterator[None]:
        """Within the block, lines are for what a node comes from."""
        before = self.block.origin
        self.block.origin = origin if origin != Origin() else before
        yield
        self.block.origin = before

    def temporary(self, type_: str, value: Value, hint: str) -> Value:
        """A name for a value that is needed more than once; the value itself if it is a name or a number already."""
        if _WORD.fullmatch(value.text):
            return value
        name = self.block.fresh(hint)
        self.block.put(f"const {type_} {name} = {value.text};")
        return Value(name)

    def fail_when(self, condition: Value, code: Failure, site: Site, *details: Value) -> None:
        """Leave the function where the condition holds; one that returns something has no record to fail in."""
        if self.returns:
            self.block.put(f"if ({condition.text}) return{self.returns};")
            return
        known = self.unit.owner, site
        if known not in self.unit.sites:
            self.unit.sites.append(known)
        self.used.add("run")
        numbers = [*(detail.text for detail in details), "0", "0", "0"][:3]
        args = ", ".join(["run", str(int(code)), str(self.unit.sites.index(known)), *numbers])
        with self.block.braces(f"if ({condition.text})"):
            self.block.put(f"{self.unit.helper('tdl_fail')}({args});")
            self.block.put(f"return{self.returns};")
