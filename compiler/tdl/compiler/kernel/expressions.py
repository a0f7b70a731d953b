"""What a kernel's expressions and forms are worth where it runs: one value, or in lanes an array with one for each.

    X[4*i + l] if l < n else 0        in four lanes: an array of four; X is touched in the first n lanes only

Lanes that do not run are worth anything, touch nothing, and cannot fail. Some lane always runs: what no lane runs is
not evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from tdl.compiler.kernel.reducers import Lane, builtin_combined, identity, is_winner
from tdl.compiler.kernel.tree import Checked
from tdl.language import arithmetic, forms, tree
from tdl.language.arrays import Array
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.failure import DivisionByZero, OutOfBounds
from tdl.language.forms import Form, Symbol

Value = Any
"""A NumPy scalar or an int; or an array, with a value for each lane."""


@dataclass(slots=True)
class Storage:
    """A buffer's elements, and which of them were written (None: all)."""

    values: Array
    written: Array | None = None


def size_of(value: Value) -> int:
    """How many lanes have values of their own; 0 for a value that all share."""
    return value.size if isinstance(value, np.ndarray) and value.ndim else 0


def spread(value: Value, count: int) -> Array:
    """A value for each lane."""
    return value if size_of(value) else np.full(count, value)


def some(mask: Value) -> bool:
    return bool(np.any(mask))


class Expressions:
    """What is known at one point of a run. `values` are those of sizes and of loops' and lanes' counters."""

    def __init__(self, program: tree.Program, sizes: Mapping[Symbol, int]) -> None:
        self.program = program
        self.values: dict[Symbol, Value] = dict(sizes)
        for name, value in program.parameters.items():
            if isinstance(value, int):
                self.values[Symbol(name, "param")] = int(value)
        self.storage: dict[str, Storage] = {}
        self.locals: dict[str, Value] = {}
        self.lane: Lane | None = None

    @contextmanager
    def where(self, condition: Value) -> Iterator[bool]:
        """Within the block, only lanes in which the condition holds run. Gives whether it is to run at all."""
        before = self.lane
        if not size_of(condition):
            yield bool(condition)
            return
        assert before is not None
        self.lane = Lane(before.count, before.mask & condition)
        yield some(self.lane.mask)
        self.lane = before

    def hull(self, lo: Value, hi: Value) -> range:
        """The values from the least to the greatest end of the lanes that run."""
        if self.lane is not None:
            lo = int(lo[self.lane.mask].min()) if size_of(lo) else lo
            hi = int(hi[self.lane.mask].max()) if size_of(hi) else hi
        return range(lo, hi)

    # ---- memory

    def look(self, buffer: str, offset: Value) -> tuple[Value, Value]:
        """Elements, and whether they were written."""
        storage = self.storage[buffer]
        offset = self.inside(buffer, storage, offset)
        return storage.values[offset], True if storage.written is None else storage.written[offset]

    def read(self, buffer: str, offset: Value) -> Value:
        value, is_written = self.look(buffer, offset)
        if is_written is not True and self.fails(np.logical_not(is_written)):
            missing = spread(offset, 1)[np.logical_not(is_written) & self.running()][0] if size_of(offset) else offset
            raise InternalError(f"{buffer}[{missing}] is read before it is written")
        return value

    def write(self, buffer: str, offset: Value, value: Value, is_written: Value = True) -> None:
        """Of lanes that share an element, the last that runs has its way."""
        storage = self.storage[buffer]
        assert storage.written is not None
        if self.lane is None:
            offset = self.inside(buffer, storage, offset)
        else:
            value, is_written, offset = (
                spread(each, self.lane.count)[self.lane.mask]
                for each in (value, is_written, self.inside(buffer, storage, offset))
            )
        storage.values[offset] = value
        storage.written[offset] = is_written

    def inside(self, buffer: str, storage: Storage, offset: Value) -> Value:
        """The offset, which is inside of the buffer in every lane that runs; in others it is made so."""
        size = len(storage.values)
        if not size_of(offset):
            if not 0 <= offset < size:
                raise InternalError(f"{buffer}[{offset}] is outside of its {size} elements")
            return offset
        outside = (offset < 0) | (offset >= size)
        if self.fails(outside):
            raise InternalError(f"{buffer}[{offset[outside & self.running()][0]}] is outside of its {size} elements")
        return np.where(outside, 0, offset)

    def running(self) -> Value:
        """Which lanes run."""
        return True if self.lane is None else self.lane.mask

    def fails(self, condition: Value) -> bool:
        """Whether the condition holds in a lane that runs."""
        return some(condition & self.running()) if size_of(condition) else bool(condition)

    # ---- expressions

    def expr(self, expr: tree.Expr) -> Value:
        go = self.expr
        match expr:
            case tree.Access(name, (offset,)):
                return self.read(name, self.form(offset))
            case tree.Number(value, dtype):
                return arithmetic.number(value, dtype)
            case tree.Integer(form):
                return np.int64(self.form(form))
            case tree.Parameter(name, dtype):
                given = self.program.parameters[name]
                assert isinstance(given, int | float)
                return arithmetic.number(given, dtype)
            case tree.Unary(operator, operand):
                return arithmetic.unary(operator, go(operand))
            case tree.Binary("and", left, right):
                return self.chosen(go(left), right, np.False_)
            case tree.Binary("or", left, right):
                return self.chosen(go(left), np.True_, right)
            case tree.Binary(operator, left, right, dtype):
                a, b = go(left), go(right)
                if operator in ("floordiv", "mod") and isinstance(dtype, DType) and dtype.is_integer:
                    b = self.divisor(b, expr)
                return arithmetic.binary(operator, a, b, dtype)
            case tree.Compare(operator, left, right):
                return arithmetic.compare(operator, go(left), go(right))
            case tree.Select(condition, then, other):
                return self.chosen(go(condition), then, other)
            case Checked():
                return self.checked(expr)
            case tree.Call(function, args):
                return arithmetic.call(function, tuple(map(go, args)), args[0].dtype)
            case tree.Convert(operand, dtype):
                return arithmetic.convert(go(operand), operand.dtype, dtype)
            case tree.Local(name):
                return self.locals[name]
            case tree.Let(name, value, body):
                self.locals[name] = go(value)
                return go(body)
            case tree.Reduce():
                return self.reduce(expr)
        raise InternalError(f"{type(expr).__name__} in a kernel")

    def chosen(self, condition: Value, then: tree.Expr | Value, other: tree.Expr | Value) -> Value:
        """The side that the condition chooses; each lane runs its own."""
        if not size_of(condition):
            return self.side(then if condition else other)
        sides = []
        for holds, side in ((condition, then), (~condition, other)):
            with self.where(holds) as runs:
                sides.append(self.side(side) if runs else None)
        if sides[0] is None or sides[1] is None:
            return sides[1] if sides[0] is None else sides[0]
        return np.where(condition, *sides)

    def side(self, side: tree.Expr | Value) -> Value:
        return side if isinstance(side, np.generic) else self.expr(side)

    def checked(self, expr: Checked) -> Value:
        subscript, size = map(self.expr, expr.args)
        outside = np.logical_not((subscript >= 0) & (subscript < size))
        if self.fails(outside):
            message = f"index {subscript} is outside {expr.tensor}.{expr.axis} of size {size}"
            raise OutOfBounds(message, self.program.name, expr.span)
        return subscript

    def divisor(self, value: Value, expr: tree.Expr | None = None) -> Value:
        """The value, which is not zero in any lane that runs; in others it is made so."""
        zero = value == 0
        if not some(zero):
            return value
        if self.fails(zero):
            span = (expr.span,) if expr is not None else ()
            raise DivisionByZero("an integer is divided by zero", self.program.name, *span)
        return np.where(zero, value.dtype.type(1), value)

    # ---- reductions

    def reduce(self, expr: tree.Reduce) -> Value:
        reducer, binders = expr.reducer, expr.binders
        kept = len(reducer.dtypes) + (len(binders) if is_winner(reducer) else 0)
        state = identity(reducer, kept, self.expr)

        def run(depth: int) -> None:
            nonlocal state
            if depth < len(binders):
                binder = binders[depth]
                lo, hi = self.form(binder.lo), self.form(binder.hi)
                for value in self.hull(lo, hi):
                    self.values[binder.index] = value
                    with self.where((lo <= value) & (value < hi)) as runs:
                        if runs:
                            run(depth + 1)
                return
            with self.where(True if expr.filter is None else self.expr(expr.filter)) as runs:
                if runs:
                    new = [self.expr(each) for each in expr.args]
                    new += [np.int64(self.values[binder.index]) for binder in binders][: kept - len(new)]
                    made = self.combined(reducer, state, new)
                    state = [self.kept(value, was) for value, was in zip(made, state)]

        run(0)
        return state[0]

    def kept(self, value: Value, before: Value) -> Value:
        """The value in lanes that run, what was before in others."""
        return value if self.lane is None or self.lane.mask.all() else np.where(self.lane.mask, value, before)

    def combined(self, reducer: tree.Reducer, old: list[Value], new: list[Value]) -> list[Value]:
        if reducer.is_builtin:
            return builtin_combined(reducer, old, new)
        before = dict(self.locals)
        self.locals.update(zip((*reducer.left, *reducer.right), (*old, *new)))
        result = [self.expr(each) for each in reducer.combine]
        self.locals = before
        return result

    # ---- forms

    def form(self, form: Form) -> Value:
        total: Value = form.constant
        for atom, coefficient in form.terms:
            total = total + coefficient * (self.values[atom] if type(atom) is Symbol else self.atom(atom))
        return total

    def atom(self, atom: forms.Atom) -> Value:
        match atom:
            case Symbol():
                return self.values[atom]
            case forms.FloorDiv(dividend, divisor):
                return self.form(dividend) // self.divisor(self.form(divisor))
            case forms.Extreme(kind, left, right):
                both = self.form(left), self.form(right)
                if size_of(both[0]) or size_of(both[1]):
                    return np.minimum(*both) if kind == "min" else np.maximum(*both)
                return min(both) if kind == "min" else max(both)
            case forms.Product(left, right):
                return self.form(left) * self.form(right)
            case forms.Opaque(expr):
                value = self.expr(expr)
                return value.astype(np.int64) if size_of(value) else int(value)
