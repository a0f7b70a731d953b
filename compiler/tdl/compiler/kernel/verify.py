"""What every kernel must satisfy, whichever pass made it. A violation is our bug, and says which node and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from tdl.compiler.kernel.printing import print_kernel
from tdl.compiler.kernel.tree import (
    Allocate,
    Buffer,
    Guard,
    Init,
    Invoke,
    Kernel,
    Lanes,
    Loop,
    Node,
    Place,
    Prefetch,
    Store,
    Update,
)
from tdl.language import forms
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import BOOL, I64
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Expr, Integer, Let, Local, Reduce, Reducer, children


def verify(kernel: Kernel) -> Kernel:
    """The kernel itself. Raises InternalError where it is not well formed."""
    shared = {name for name, buffer in kernel.buffers.items() if buffer.memory in ("global", "workspace")}
    _Verifier(kernel).nodes(kernel.body, _Scope(frozenset(), frozenset(shared), frozenset()))
    return kernel


@dataclass(frozen=True, slots=True)
class _Scope:
    """What may be spoken of: symbols of loops, buffers that live, names that are bound."""

    symbols: frozenset[Symbol]
    buffers: frozenset[str]
    names: frozenset[str]
    is_lanes: bool = False

    def with_symbol(self, symbol: Symbol, *, is_lanes: bool = False) -> _Scope:
        return _Scope(self.symbols | {symbol}, self.buffers, self.names, is_lanes or self.is_lanes)

    def with_name(self, *names: str) -> _Scope:
        return _Scope(self.symbols, self.buffers, self.names | {*names}, self.is_lanes)


@dataclass(frozen=True)
class _Verifier:
    kernel: Kernel

    def fail(self, message: str) -> InternalError:
        return InternalError(f"kernel of {self.kernel.program.name}: {message}\n{print_kernel(self.kernel)}")

    def nodes(self, nodes: tuple[Node, ...], scope: _Scope) -> None:
        for node in nodes:
            self.node(node, scope)

    def node(self, node: Node, scope: _Scope) -> None:
        match node:
            case Loop(symbol, lo, hi, body):
                self.fresh(symbol, scope)
                self.form(lo, scope)
                self.form(hi, scope)
                self.nodes(body, scope.with_symbol(symbol))
            case Lanes():
                self.lanes(node, scope)
            case Guard(condition, body):
                self.typed(condition, BOOL, "a condition", scope)
                self.nodes(body, scope)
            case Allocate(name, body):
                self.allocation(name, scope)
                self.nodes(body, _Scope(scope.symbols, scope.buffers | {name}, scope.names, scope.is_lanes))
            case Store(place, value):
                self.typed(value, self.place(place, scope).dtype, f"a store into {place.buffer}", scope)
            case Prefetch(place):
                self.buffer(place.buffer, scope)
                self.form(place.offset, scope)
            case Init(places, reducer):
                self.places(places, reducer, scope)
            case Update(places, reducer, args):
                dtypes = self.places(places, reducer, scope)
                if len(args) != len(dtypes):
                    raise self.fail(f"{reducer.name} into {places[0].buffer} takes {len(dtypes)} values")
                for arg, dtype in zip(args, dtypes):
                    self.typed(arg, dtype, f"{reducer.name} into {places[0].buffer}", scope)
            case Invoke():
                self.invoke(node, scope)

    def fresh(self, symbol: Symbol, scope: _Scope) -> None:
        if symbol in scope.symbols:
            raise self.fail(f"{symbol} is counted by an enclosing loop already")

    def lanes(self, node: Lanes, scope: _Scope) -> None:
        self.fresh(node.symbol, scope)
        if scope.is_lanes:
            raise self.fail(f"the lanes {node.symbol} are inside of other lanes")
        if node.count < 2 or node.count.bit_count() != 1:
            raise self.fail(f"{node.symbol} has {node.count} lanes, which is no power of two")
        if node.active is not None:
            self.form(node.active, scope)
        self.nodes(node.body, scope.with_symbol(node.symbol, is_lanes=True))

    def allocation(self, name: str, scope: _Scope) -> None:
        buffer = self.kernel.buffers.get(name)
        if buffer is None or buffer.memory in ("global", "workspace"):
            raise self.fail(f"{name} is no buffer that lives in a body")
        if name in scope.buffers:
            raise self.fail(f"{name} lives already")
        if buffer.memory != "arena" and not buffer.size.is_constant:
            raise self.fail(f"{name} is in {buffer.memory}, and its size is {buffer.size}")
        for form in (*buffer.factors, buffer.start):
            if any(symbol.kind == "index" for symbol in form.symbols()):
                raise self.fail(f"the size of {name} depends on loops: {form}")

    # ---- statements

    def places(self, places: tuple[Place, ...], reducer: Reducer, scope: _Scope) -> list[object]:
        found = [self.place(place, scope).dtype for place in places]
        extra = found[len(reducer.dtypes) :]
        if tuple(found[: len(reducer.dtypes)]) != reducer.dtypes or any(each != I64 for each in extra):
            raise self.fail(f"{reducer.name} does not fit into {', '.join(place.buffer for place in places)}")
        return list(found)

    def invoke(self, node: Invoke, scope: _Scope) -> None:
        program = node.intrinsic.program
        names = (*program.inputs, *program.outputs)
        operands = (*node.inputs, node.output)
        if scope.is_lanes or len(names) != len(operands):
            raise self.fail(f"{node.intrinsic.name} is called in lanes, or not with {', '.join(names)}")
        for run in node.output.runs:
            self.place(Place(node.output.buffer, run.offset), scope)
        for name, operand in zip(names, operands):
            tensor = program.tensors[name]
            if self.buffer(operand.buffer, scope).dtype != tensor.dtype:
                raise self.fail(f"{name} of {node.intrinsic.name} is {tensor.dtype}, and {operand.buffer} is not")
            if sum(run.count for run in operand.runs) != prod(size.constant for size in tensor.shape):
                raise self.fail(f"{name} of {node.intrinsic.name} has another number of elements")
            for run in operand.runs:
                self.form(run.offset, scope)

    def place(self, place: Place, scope: _Scope) -> Buffer:
        buffer = self.buffer(place.buffer, scope)
        if place.buffer in self.kernel.program.inputs:
            raise self.fail(f"{place.buffer} cannot be written")
        self.form(place.offset, scope)
        return buffer

    def buffer(self, name: str, scope: _Scope) -> Buffer:
        if name not in scope.buffers:
            raise self.fail(f"{name} does not live here")
        return self.kernel.buffers[name]

    # ---- expressions

    def typed(self, expr: Expr, dtype: object, what: str, scope: _Scope) -> None:
        if expr.dtype != dtype:
            raise self.fail(f"{what} takes {dtype}, not {expr.dtype}")
        self.expr(expr, scope)

    def expr(self, expr: Expr, scope: _Scope) -> None:
        match expr:
            case Access(name, subscripts, dtype, boundary, checked):
                if self.buffer(name, scope).dtype != dtype:
                    raise self.fail(f"{name} is read as {dtype}")
                if len(subscripts) != 1 or boundary is not None or any(checked):
                    raise self.fail(f"{name} is not read at an offset")
                self.form(subscripts[0], scope)
                return
            case Integer(form):
                self.form(form, scope)
                return
            case Local(name) if name not in scope.names:
                raise self.fail(f"nothing binds {name}")
            case Let(name, value, body):
                self.expr(value, scope)
                self.expr(body, scope.with_name(name))
                return
            case Reduce(reducer, binders, test, args):
                for binder in binders:
                    self.form(binder.lo, scope)
                    self.form(binder.hi, scope)
                    scope = scope.with_symbol(binder.index)
                for part in (*args, *(() if test is None else (test,))):
                    self.expr(part, scope)
                named = scope.with_name(*reducer.left, *reducer.right)
                for part in (*reducer.identity, *reducer.combine):
                    self.expr(part, named)
                return
        for child in children(expr):
            self.expr(child, scope)

    def form(self, form: Form, scope: _Scope) -> None:
        for symbol in _plain(form):
            if symbol.kind == "index" and symbol not in scope.symbols:
                raise self.fail(f"no loop counts {symbol}")
        for expr in _data(form):
            self.expr(expr, scope)


def _plain(form: Form) -> Iterator[Symbol]:
    """The symbols of a form outside the data in it."""
    for atom, _ in form.terms:
        match atom:
            case Symbol():
                yield atom
            case forms.FloorDiv(left, right) | forms.Extreme(_, left, right) | forms.Product(left, right):
                yield from _plain(left)
                yield from _plain(right)


def _data(form: Form) -> Iterator[Expr]:
    for atom, _ in form.terms:
        match atom:
            case forms.Opaque(expr):
                yield expr
            case forms.FloorDiv(left, right) | forms.Extreme(_, left, right) | forms.Product(left, right):
                yield from _data(left)
                yield from _data(right)
