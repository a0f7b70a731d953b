"""Runs a nest, one statement at a time: the referee of every primitive.

It is strict where a compiled kernel is fast: storage is made anew for each iteration of the loop it belongs to, holds
nothing at first, and an element that is read before it is written, or lies outside of its buffer, is an error of ours.
Loops of every kind run in order, unless a `Watch` says otherwise. Elements are addressed as the buffers say, by origin,
layout and ring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tdl.compiler.schedule.calls import Invocation, invocation
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.operands import Operand
from tdl.compiler.schedule.tree import Buffer, Copy, Initial, Leaf, Loop, Nest, Node, Stage, Store, Update
from tdl.language import arithmetic, forms, tree
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.evaluate import evaluate
from tdl.language.failure import DivisionByZero, OutOfBounds
from tdl.language.forms import Form, Symbol

Value = Any
"""A NumPy scalar."""
Element = tuple[int, ...]
Place = tuple[int, Element]
"""Which storage (each time it is made it has another number), and where in it."""


class Watch:
    """What is told of a run, and may choose the order of each loop's iterations. This one lets everything be."""

    def order(self, loop: Loop, values: range) -> Sequence[int]:
        """The values of a loop, in the order in which they run."""
        return values

    def enter(self, loop: Loop) -> None:
        """A loop begins, for one iteration of all around it."""

    def iterate(self, loop: Loop, value: int) -> None:
        """An iteration of the loop entered last begins."""

    def leave(self, loop: Loop) -> None:
        """The loop entered last is over."""

    def touch(self, leaf: Leaf, tensor: str, place: Place, is_write: bool) -> None:
        """A statement reads or writes a place in storage."""


def evaluate_nest(
    nest: Nest, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int], watch: Watch | None = None
) -> dict[str, Array]:
    """The outputs of a nest, by name. Raises what the program raises; InternalError for a nest that is wrong."""
    runner = _Runner(with_initialisations(nest), inputs, sizes, watch or Watch())
    with np.errstate(all="ignore"):
        runner.allocate(None)
        runner.nodes(runner.nest.body)
    return {name: runner.result(name) for name in nest.program.outputs}


class _Runner:
    def __init__(self, nest: Nest, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int], watch: Watch) -> None:
        self.nest = nest
        self.inputs = inputs
        self.watch = watch
        self.running: Leaf | None = None
        self.made = 0
        self.calls: dict[Symbol, Invocation] = {}
        self.numbers: dict[str, int] = {}
        self.values: dict[Symbol, int] = dict(sizes)
        for name, value in nest.program.parameters.items():
            if isinstance(value, int):
                self.values[Symbol(name, "param")] = int(value)
        self.storage: dict[str, dict[Element, tuple[Element, Value]]] = {}
        self.origins: dict[str, Element] = {}
        self.extents: dict[str, Element] = {}
        self.locals: dict[str, Value] = {}
        self.winners: dict[tuple[str, Element], Element | None] = {}
        self.shapes = {name: tuple(map(self.form, tensor.shape)) for name, tensor in nest.program.tensors.items()}

    # ---- storage

    def allocate(self, loop: Symbol | None) -> None:
        """Fresh storage for everything kept for one iteration of a loop."""
        for name, buffer in self.nest.buffers.items():
            if buffer.at == loop:
                self.made += 1
                self.numbers[name] = self.made
                self.storage[name] = {}
                self.origins[name] = tuple(map(self.form, buffer.origin))
                self.extents[name] = tuple(map(self.form, buffer.extents))

    def place(self, tensor: str, element: Element) -> tuple[Buffer, Element]:
        """Where an element is kept."""
        buffer = self.nest.buffers[tensor]
        offsets = tuple(each - origin for each, origin in zip(element, self.origins[tensor]))
        rings = dict(buffer.ring)
        for axis, offset in enumerate(offsets):
            if axis not in rings and not 0 <= offset < self.extents[tensor][axis]:
                raise InternalError(f"{tensor}{list(element)} is outside of its buffer on axis {axis}")
        at = tuple(
            each % rings[axis] if axis in rings else offset for axis, (each, offset) in enumerate(zip(element, offsets))
        )
        if buffer.layout is not None:
            axes = {Symbol(str(axis), "index"): forms.constant(offset) for axis, offset in enumerate(at)}
            at = tuple(forms.substitute(form, axes).constant for form in buffer.layout)
        return buffer, at

    def read(self, tensor: str, element: Element) -> Value:
        if tensor in self.inputs:
            return self.inputs[tensor][element]
        _, at = self.place(tensor, element)
        self.touched(tensor, at, False)
        try:
            owner, value = self.storage[tensor][at]
        except KeyError:
            raise InternalError(f"{tensor}{list(element)} is read before it is written") from None
        if owner != element:
            raise InternalError(f"{tensor}{list(element)} is read where {list(owner)} was written last")
        return value

    def write(self, tensor: str, element: Element, value: Value) -> None:
        _, at = self.place(tensor, element)
        self.touched(tensor, at, True)
        self.storage[tensor][at] = (element, value)

    def touched(self, tensor: str, at: Element, is_write: bool) -> None:
        if self.running is not None:
            self.watch.touch(self.running, tensor, (self.numbers[tensor], at), is_write)

    def result(self, name: str) -> Array:
        shape = tuple(max(size, 0) for size in self.shapes[name])
        result = np.zeros(shape, numpy_dtype(self.nest.tensors[name].dtype))
        for element in np.ndindex(*shape):
            result[element] = self.read(name, element)
        return result

    # ---- nodes

    def nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            match node:
                case Loop() if node.intrinsic is not None:
                    self.call(node)
                case Loop():
                    self.loop(node)
                case Leaf():
                    self.leaf(node)

    def loop(self, loop: Loop) -> None:
        values = range(self.form(loop.lo), self.form(loop.hi))
        self.watch.enter(loop)
        for value in self.watch.order(loop, values[::-1] if loop.descending else values):
            self.watch.iterate(loop, value)
            self.values[loop.symbol] = value
            self.allocate(loop.symbol)
            self.nodes(loop.body)
        self.values.pop(loop.symbol, None)
        self.watch.leave(loop)

    def call(self, loop: Loop) -> None:
        """A tensorized loop: all operands are read, the intrinsic's meaning computed, its result written."""
        if loop.symbol not in self.calls:
            self.calls[loop.symbol] = invocation(self.nest, loop)
        call = self.calls[loop.symbol]
        if isinstance(self.nest.stages[call.leaf.stage].work, Copy) and not self.is_all_written(call):
            self.loop(loop)  # a copy may take what nobody wrote, which no value stands for
            return
        program, self.running = call.intrinsic.program, call.leaf
        inputs = {each.name: self.operand(each, program) for each in call.inputs}
        (result,) = evaluate(program, inputs, {}).values()
        for element, value in zip(call.output.elements(), result.ravel()):
            self.write(call.output.tensor, tuple(map(self.form, element)), value)
        self.running = None

    def is_all_written(self, call: Invocation) -> bool:
        elements = ((each.tensor, tuple(map(self.form, at))) for each in call.inputs for at in each.elements())
        return all(self.is_written(*element) for element in elements)

    def operand(self, operand: Operand, program: tree.Program) -> Array:
        tensor = program.tensors[operand.name]
        values = [self.read(operand.tensor, tuple(map(self.form, each))) for each in operand.elements()]
        return np.array(values, numpy_dtype(tensor.dtype)).reshape([size.constant for size in tensor.shape])

    def leaf(self, leaf: Leaf) -> None:
        if any(self.form(guard) < 0 for guard in leaf.guards):
            return
        stage = self.nest.stages[leaf.stage]
        outer, self.running = dict(self.values), leaf
        self.values.update({own: self.form(form) for own, form in leaf.at})
        through = dict(leaf.through)
        if all(bool(self.expr(each, through)) for each in (stage.domain, stage.filter) if each is not None):
            self.statement(stage, through)
        self.values, self.running = outer, None

    def statement(self, stage: Stage, through: Mapping[str, str]) -> None:
        match stage.work:
            case Store(targets, values):
                for target, value in zip(targets, [self.expr(each, through) for each in values]):
                    self.write(*self.target(target, through), value)
            case Copy(target, source):
                self.copy(self.target(target, through), self.target(source, through), is_in=stage.name == target.tensor)
            case Initial(targets, reducer):
                for target, value in zip(targets, self.identity(reducer, through)):
                    self.write(*self.target(target, through), value)
                self.winners[self.target(targets[0], through)] = None
            case Update(targets, reducer, args):
                places = [self.target(target, through) for target in targets]
                old = [self.read(*place) for place in places]
                new = [self.expr(each, through) for each in args]
                if reducer.is_builtin and reducer.name.startswith("arg"):
                    at = tuple(self.values[binder.index] for binder in stage.reduction)
                    result = new if self.wins(reducer.name, places[0], new[0], old[0], at) else old
                else:
                    result = self.combined(reducer, old, new, through)
                for place, value in zip(places, result):
                    self.write(*place, value)

    def copy(self, to: tuple[str, Element], origin: tuple[str, Element], *, is_in: bool) -> None:
        """A copy in may take more than is needed, even what was not written yet; one out only what was written."""
        if is_in and not self.is_written(*origin):
            self.storage[to[0]].pop(self.place(*to)[1], None)
            return
        self.write(*to, self.read(*origin))
        self.winners[to] = self.winners.get(origin)

    def is_written(self, tensor: str, element: Element) -> bool:
        if tensor in self.inputs:
            return True
        _, at = self.place(tensor, element)
        return at in self.storage[tensor] and self.storage[tensor][at][0] == element

    def target(self, target: tree.Target, through: Mapping[str, str]) -> tuple[str, Element]:
        return through.get(target.tensor, target.tensor), tuple(map(self.form, target.coordinates))

    # ---- reducers

    def identity(self, reducer: tree.Reducer, through: Mapping[str, str]) -> list[Value]:
        if not reducer.is_builtin:
            return [self.expr(each, through) for each in reducer.identity]
        first, *payloads = reducer.dtypes
        assert isinstance(first, DType)
        least = float("-inf") if first.is_float else first.least
        greatest = float("inf") if first.is_float else first.greatest
        name = reducer.name.removeprefix("arg")
        value = {"sum": 0, "prod": 1, "any": False, "all": True, "max": least, "min": greatest}[name]
        found = [arithmetic.number(value, first), *(arithmetic.number(0, each) for each in payloads)]
        return found

    def wins(self, name: str, place: tuple[str, Element], new: Value, old: Value, at: Element) -> bool:
        """Whether a key found at a point of the reduction beats the one before; the first of equals in its order."""
        before = self.winners.get(place)
        is_nan, was_nan = new != new, old != old
        better = bool(new > old if name == "argmax" else new < old) or (is_nan and not was_nan)
        same = bool(new == old) or (is_nan and was_nan)
        if before is None or better or (same and at < before):
            self.winners[place] = at
            return True
        return False

    def combined(
        self, reducer: tree.Reducer, old: list[Value], new: list[Value], through: Mapping[str, str]
    ) -> list[Value]:
        if not reducer.is_builtin:
            before = dict(self.locals)
            self.locals.update(zip((*reducer.left, *reducer.right), (*old, *new)))
            result = [self.expr(each, through) for each in reducer.combine]
            self.locals = before
            return result
        dtype = reducer.dtypes[0]
        match reducer.name:
            case "argmax" | "argmin":
                raise InternalError(f"{reducer.name} has several values, and is the whole of its definition")
            case "any" | "all":
                return [arithmetic.binary("or" if reducer.name == "any" else "and", old[0], new[0], dtype)]
            case "sum" | "prod":
                return [arithmetic.binary("add" if reducer.name == "sum" else "mul", old[0], new[0], dtype)]
        return [arithmetic.binary("max" if reducer.name == "max" else "min", old[0], new[0], dtype)]

    # ---- expressions

    def expr(self, expr: tree.Expr, through: Mapping[str, str]) -> Value:
        def go(each: tree.Expr) -> Value:
            return self.expr(each, through)

        match expr:
            case tree.Number(value, dtype):
                return arithmetic.number(value, dtype)
            case tree.Integer(form):
                return np.int64(self.form(form))
            case tree.Parameter(name, dtype):
                value_ = self.nest.program.parameters[name]
                assert isinstance(value_, int | float)
                return arithmetic.number(value_, dtype)
            case tree.Access():
                return self.access(expr, through)
            case tree.Unary(operator, operand):
                return arithmetic.unary(operator, go(operand))
            case tree.Binary("and", left, right):
                return np.bool_(bool(go(left)) and bool(go(right)))
            case tree.Binary("or", left, right):
                return np.bool_(bool(go(left)) or bool(go(right)))
            case tree.Binary(operator, left, right, dtype):
                a, b = go(left), go(right)
                if operator in ("floordiv", "mod") and isinstance(dtype, DType) and dtype.is_integer and b == 0:
                    raise DivisionByZero("an integer is divided by zero", self.nest.program.name, expr.span)
                return arithmetic.binary(operator, a, b, dtype)
            case tree.Compare(operator, left, right):
                return arithmetic.compare(operator, go(left), go(right))
            case tree.Select(condition, then, other):
                return go(then) if bool(go(condition)) else go(other)
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
                return self.reduce(expr, through)

    def reduce(self, expr: tree.Reduce, through: Mapping[str, str]) -> Value:
        values = self.identity(expr.reducer, through)

        def run(binders: tuple[tree.Binder, ...]) -> None:
            nonlocal values
            if binders:
                for value in range(self.form(binders[0].lo), self.form(binders[0].hi)):
                    self.values[binders[0].index] = value
                    run(binders[1:])
            elif expr.filter is None or bool(self.expr(expr.filter, through)):
                new = [self.expr(each, through) for each in expr.args]
                values = self.combined(expr.reducer, values, new, through)

        run(expr.binders)
        return values[0]

    def access(self, access: tree.Access, through: Mapping[str, str]) -> Value:
        shape = tuple(map(self.form, self.nest.tensors[access.tensor].shape))
        element = tuple(self.data_form(form, through) for form in access.subscripts)
        boundary = access.boundary
        if boundary is not None and boundary.value is not None:
            if any(not 0 <= each < size for each, size in zip(element, shape)):
                return self.expr(boundary.value, through)
        elif boundary is not None:
            element = tuple(_inside(each, size, boundary.mode) for each, size in zip(element, shape))
        for axis, (each, size) in enumerate(zip(element, shape)):
            if not 0 <= each < size:
                message = f"index {each} is outside {access.tensor}.{axis} of size {size}"
                raise OutOfBounds(message, self.nest.program.name, access.span)
        return self.read(through.get(access.tensor, access.tensor), element)

    # ---- forms

    def form(self, form: Form) -> int:
        return self.data_form(form, {})

    def data_form(self, form: Form, through: Mapping[str, str]) -> int:
        """The value of a form, data in it included."""
        total = form.constant
        for atom, coefficient in form.terms:
            total += coefficient * self.atom(atom, through)
        return total

    def atom(self, atom: forms.Atom, through: Mapping[str, str]) -> int:
        match atom:
            case Symbol():
                return self.values[atom]
            case forms.FloorDiv(dividend, divisor):
                by = self.data_form(divisor, through)
                if by == 0:
                    raise DivisionByZero("an integer is divided by zero", self.nest.program.name)
                return self.data_form(dividend, through) // by
            case forms.Extreme(kind, left, right):
                both = self.data_form(left, through), self.data_form(right, through)
                return min(both) if kind == "min" else max(both)
            case forms.Product(left, right):
                return self.data_form(left, through) * self.data_form(right, through)
            case forms.Opaque(expr):
                return int(self.expr(expr, through))


def _inside(each: int, size: int, mode: str) -> int:
    if size <= 1:
        return 0
    if mode == "edge":
        return min(max(each, 0), size - 1)
    if mode == "wrap":
        return each % size
    period = 2 * (size - 1)
    folded = each % period
    return min(folded, period - folded)
