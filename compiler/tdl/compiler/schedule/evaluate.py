"""Runs a nest, one statement at a time: the referee of every primitive.

A nest is turned into Python functions first, one for each node, expression and form, since loops ask the same again.

It is strict where a compiled kernel is fast: storage is made anew for each iteration of the loop it belongs to, holds
nothing at first, and an element that is read before it is written, or lies outside of its buffer, is an error of ours.
Loops of every kind run in order, unless a `Watch` says otherwise. Elements are addressed as the buffers say, by origin,
layout and ring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from tdl.compiler.schedule.callables import FormFunction, form_function
from tdl.compiler.schedule.calls import invocation
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.operands import Operand
from tdl.compiler.schedule.tree import Buffer, Copy, Initial, Leaf, Loop, Nest, Node, Stage, Store, Update
from tdl.language import arithmetic, tree
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType
from tdl.language.evaluate import evaluate
from tdl.language.failure import DivisionByZero, OutOfBounds
from tdl.language.forms import Form, Symbol

Value = Any
"""A NumPy scalar."""
Evaluate = Callable[[], Value]
Element = tuple[int, ...]
Place = tuple[int, Element]
"""Which storage (each time it is made it has another number), and where in it."""
Placed = tuple[str, Element]
"""An element of a tensor."""

_OPERATORS: dict[str, tree.BinaryOperator] = {
    "sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and",
}  # fmt: skip


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
    runner = _Runner(with_initialisations(nest), inputs, sizes, watch)
    with np.errstate(all="ignore"):
        for make in runner.storages(None):
            make()
        for run in map(runner.node, runner.nest.body):
            run()
    return {name: runner.result(name) for name in nest.program.outputs}


@dataclass(slots=True)
class _Storage:
    """A buffer while it is kept: which one it is, the range of each axis that is no ring, and what it holds.

    `place` says where elements are kept that are not kept under their own coordinates.
    """

    number: int
    origin: Element
    bounds: tuple[tuple[int, int] | None, ...]
    place: Callable[[Element], Element] | None
    kept: dict[Element, tuple[Element, Value]] = field(default_factory=dict)

    def at(self, tensor: str, element: Element) -> Element:
        for axis, (each, bound) in enumerate(zip(element, self.bounds)):
            if bound is not None and not bound[0] <= each < bound[1]:
                raise InternalError(f"{tensor}{list(element)} is outside of its buffer on axis {axis}")
        return element if self.place is None else self.place(element)


def _same(value: Value) -> Value:
    return value


class _Runner:
    """Its methods make functions; these read and change `values`, `storage` and `locals`."""

    def __init__(
        self, nest: Nest, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int], watch: Watch | None
    ) -> None:
        self.nest, self.inputs = nest, inputs
        self.watch, self.is_watched = watch or Watch(), watch is not None
        self.running: Leaf | None = None
        self.made = 0
        self.values: dict[Symbol, int] = dict(sizes)
        for name, value in nest.program.parameters.items():
            if isinstance(value, int):
                self.values[Symbol(name, "param")] = int(value)
        self.storage: dict[str, _Storage] = {}
        self.locals: dict[str, Value] = {}
        self.winners: dict[tuple[str, Element], Element | None] = {}

    def form(self, form: Form, through: Mapping[str, str] | None = None) -> FormFunction:
        return form_function(form, lambda expr: self.expr(expr, through or {}))

    # ---- storage

    def storages(self, loop: Symbol | None) -> list[Callable[[], None]]:
        """What makes fresh storage for everything kept for one iteration of a loop."""
        return [self.storage_of(buffer) for buffer in self.nest.buffers.values() if buffer.at == loop]

    def storage_of(self, buffer: Buffer) -> Callable[[], None]:
        origins, extents = list(map(self.form, buffer.origin)), list(map(self.form, buffer.extents))
        rings, values = dict(buffer.ring), self.values
        layout = None if buffer.layout is None else [self.form(each) for each in buffer.layout]
        free = [axis not in rings for axis in range(len(extents))]
        axes = [Symbol(str(axis), "index") for axis in range(len(extents))]

        def place(element: Element) -> Element:
            """Where an element of a buffer with rings or a layout is kept."""
            origin = self.storage[buffer.tensor].origin
            at = tuple(
                each % rings[axis] if axis in rings else each - origin[axis] for axis, each in enumerate(element)
            )
            if layout is None:
                return at
            inside = dict(zip(axes, at))
            return tuple(form(inside) for form in layout)

        def make() -> None:
            self.made += 1
            origin = tuple([form(values) for form in origins])
            ends = tuple([start + form(values) for start, form in zip(origin, extents)])
            bounds = tuple((start, end) if is_free else None for start, end, is_free in zip(origin, ends, free))
            self.storage[buffer.tensor] = _Storage(self.made, origin, bounds, place if rings or layout else None)

        return make

    def touched(self, storage: _Storage, tensor: str, at: Element, is_write: bool) -> None:
        if self.running is not None:
            self.watch.touch(self.running, tensor, (storage.number, at), is_write)

    def read(self, tensor: str, element: Element) -> Value:
        if tensor in self.inputs:
            return self.inputs[tensor][element]
        storage = self.storage[tensor]
        at = storage.at(tensor, element)
        if self.is_watched:
            self.touched(storage, tensor, at, False)
        found = storage.kept.get(at)
        if found is None:
            raise InternalError(f"{tensor}{list(element)} is read before it is written")
        if found[0] != element:
            raise InternalError(f"{tensor}{list(element)} is read where {list(found[0])} was written last")
        return found[1]

    def write(self, tensor: str, element: Element, value: Value) -> None:
        storage = self.storage[tensor]
        at = storage.at(tensor, element)
        if self.is_watched:
            self.touched(storage, tensor, at, True)
        storage.kept[at] = (element, value)

    def result(self, name: str) -> Array:
        shape = tuple(max(self.form(size)(self.values), 0) for size in self.nest.program.tensors[name].shape)
        result = np.zeros(shape, numpy_dtype(self.nest.tensors[name].dtype))
        for element in np.ndindex(*shape):
            result[element] = self.read(name, element)
        return result

    # ---- nodes

    def node(self, node: Node) -> Callable[[], None]:
        if isinstance(node, Leaf):
            return self.leaf(node)
        return self.loop(node) if node.intrinsic is None else self.call(node)

    def loop(self, loop: Loop) -> Callable[[], None]:
        lo, hi, values, watch = self.form(loop.lo), self.form(loop.hi), self.values, self.watch
        makes = self.storages(loop.symbol)
        body = [*makes, *map(self.node, loop.body)]

        def run() -> None:
            every = range(lo(values), hi(values))
            watch.enter(loop)
            for value in watch.order(loop, every[::-1] if loop.descending else every):
                watch.iterate(loop, value)
                values[loop.symbol] = value
                for each in body:
                    each()
            values.pop(loop.symbol, None)
            watch.leave(loop)

        return run

    def call(self, loop: Loop) -> Callable[[], None]:
        """A tensorized loop: all operands are read, the intrinsic's meaning computed, its result written."""
        call, plain = invocation(self.nest, loop), self.loop(loop)
        program, is_copy = call.intrinsic.program, isinstance(self.nest.stages[call.leaf.stage].work, Copy)
        inputs = {each.name: self.elements(each) for each in call.inputs}
        shapes = {name: [size.constant for size in program.tensors[name].shape] for name in inputs}
        output = self.elements(call.output)

        def operand(name: str) -> Array:
            found = [self.read(*place()) for place in inputs[name]]
            return np.array(found, numpy_dtype(program.tensors[name].dtype)).reshape(shapes[name])

        def run() -> None:
            if is_copy and not all(self.is_written(*place()) for places in inputs.values() for place in places):
                plain()  # a copy may take what nobody wrote, which no value stands for
                return
            self.running = call.leaf
            (result,) = evaluate(program, {name: operand(name) for name in inputs}, {}).values()
            for place, value in zip(output, result.ravel()):
                self.write(*place(), value)
            self.running = None

        return run

    def elements(self, operand: Operand) -> list[Callable[[], Placed]]:
        return [self.placed(operand.tensor, element) for element in operand.elements()]

    def leaf(self, leaf: Leaf) -> Callable[[], None]:
        stage, through, values = self.nest.stages[leaf.stage], dict(leaf.through), self.values
        guards = [self.form(guard) for guard in leaf.guards]
        own = [(symbol, self.form(form)) for symbol, form in leaf.at]
        tests = [self.expr(each, through) for each in (stage.domain, stage.filter) if each is not None]
        statement = self.statement(stage, through)

        def run() -> None:
            for guard in guards:
                if guard(values) < 0:
                    return
            outer = [(symbol, values.get(symbol)) for symbol, _ in own]
            inner = [form(values) for _, form in own]
            for (symbol, _), value in zip(own, inner):
                values[symbol] = value
            self.running = leaf
            if all(bool(test()) for test in tests):
                statement()
            self.running = None
            for symbol, before in outer:
                if before is None:
                    del values[symbol]
                else:
                    values[symbol] = before

        return run

    def statement(self, stage: Stage, through: Mapping[str, str]) -> Callable[[], None]:
        match stage.work:
            case Store(targets, values):
                return self.store(
                    [self.target(each, through) for each in targets], [self.expr(each, through) for each in values]
                )
            case Copy(target, source):
                places = self.target(target, through), self.target(source, through)
                return lambda: self.copy(places[0](), places[1](), is_in=stage.name == target.tensor)
            case Initial(targets, reducer):
                return self.initial([self.target(each, through) for each in targets], self.identity(reducer, through))
            case Update():
                return self.update(stage, stage.work, through)

    def store(self, targets: list[Callable[[], Placed]], values: list[Evaluate]) -> Callable[[], None]:
        def run() -> None:
            found = [value() for value in values]
            for target, value in zip(targets, found):
                self.write(*target(), value)

        return run

    def initial(self, targets: list[Callable[[], Placed]], values: list[Evaluate]) -> Callable[[], None]:
        store = self.store(targets, values)

        def run() -> None:
            store()
            self.winners[targets[0]()] = None

        return run

    def update(self, stage: Stage, work: Update, through: Mapping[str, str]) -> Callable[[], None]:
        reducer, values = work.reducer, self.values
        targets = [self.target(target, through) for target in work.targets]
        args = [self.expr(each, through) for each in work.args]
        combine = self.combining(reducer, through)
        is_winner = reducer.is_builtin and reducer.name.startswith("arg")
        over = [binder.index for binder in stage.reduction]

        def run() -> None:
            places = [target() for target in targets]
            old = [self.read(*place) for place in places]
            new = [arg() for arg in args]
            if is_winner:
                at = tuple([values[index] for index in over])
                result = new if self.wins(reducer.name, places[0], new[0], old[0], at) else old
            else:
                result = combine(old, new)
            for place, value in zip(places, result):
                self.write(*place, value)

        return run

    def copy(self, to: Placed, origin: Placed, *, is_in: bool) -> None:
        """A copy in may take more than is needed, even what was not written yet; one out only what was written."""
        if is_in and not self.is_written(*origin):
            storage = self.storage[to[0]]
            storage.kept.pop(storage.at(*to), None)
            return
        self.write(*to, self.read(*origin))
        self.winners[to] = self.winners.get(origin)

    def is_written(self, tensor: str, element: Element) -> bool:
        if tensor in self.inputs:
            return True
        storage = self.storage[tensor]
        found = storage.kept.get(storage.at(tensor, element))
        return found is not None and found[0] == element

    def target(self, target: tree.Target, through: Mapping[str, str]) -> Callable[[], Placed]:
        return self.placed(through.get(target.tensor, target.tensor), target.coordinates)

    def placed(self, tensor: str, coordinates: Sequence[Form]) -> Callable[[], Placed]:
        functions, values = list(map(self.form, coordinates)), self.values
        return lambda: (tensor, tuple([function(values) for function in functions]))

    # ---- reducers

    def identity(self, reducer: tree.Reducer, through: Mapping[str, str]) -> list[Evaluate]:
        if not reducer.is_builtin:
            return [self.expr(each, through) for each in reducer.identity]
        first, *payloads = reducer.dtypes
        assert isinstance(first, DType)
        least = float("-inf") if first.is_float else first.least
        greatest = float("inf") if first.is_float else first.greatest
        name = reducer.name.removeprefix("arg")
        value = {"sum": 0, "prod": 1, "any": False, "all": True, "max": least, "min": greatest}[name]
        found = [arithmetic.number(value, first), *(arithmetic.number(0, each) for each in payloads)]
        return [partial(_same, each) for each in found]

    def wins(self, name: str, place: Placed, new: Value, old: Value, at: Element) -> bool:
        """Whether a key found at a point of the reduction beats the one before; the first of equals in its order."""
        before = self.winners.get(place)
        is_nan, was_nan = new != new, old != old
        better = bool(new > old if name == "argmax" else new < old) or (is_nan and not was_nan)
        same = bool(new == old) or (is_nan and was_nan)
        if before is None or better or (same and at < before):
            self.winners[place] = at
            return True
        return False

    def combining(
        self, reducer: tree.Reducer, through: Mapping[str, str]
    ) -> Callable[[list[Value], list[Value]], list[Value]]:
        if not reducer.is_builtin:
            parts, names = [self.expr(each, through) for each in reducer.combine], (*reducer.left, *reducer.right)

            def combine(old: list[Value], new: list[Value]) -> list[Value]:
                before = dict(self.locals)
                self.locals.update(zip(names, (*old, *new)))
                result = [part() for part in parts]
                self.locals = before
                return result

            return combine
        dtype, operator = reducer.dtypes[0], _OPERATORS.get(reducer.name)
        if operator is None:  # a winner, which is the whole of its definition
            return lambda old, new: old
        return lambda old, new: [arithmetic.binary(operator, old[0], new[0], dtype)]

    # ---- expressions

    def expr(self, expr: tree.Expr, through: Mapping[str, str]) -> Evaluate:
        """What gives the value of an expression."""

        def go(each: tree.Expr) -> Evaluate:
            return self.expr(each, through)

        match expr:
            case tree.Number(value, dtype):
                return partial(_same, arithmetic.number(value, dtype))
            case tree.Integer(form):
                integer, values = self.form(form, through), self.values
                return lambda: np.int64(integer(values))
            case tree.Parameter(name, dtype):
                given = self.nest.program.parameters[name]
                assert isinstance(given, int | float)
                return partial(_same, arithmetic.number(given, dtype))
            case tree.Access():
                return self.access(expr, through)
            case tree.Unary(operator, operand):
                one = go(operand)
                return lambda: arithmetic.unary(operator, one())
            case tree.Binary():
                return self.binary(expr, go(expr.left), go(expr.right))
            case tree.Compare(comparison, left, right):
                a, b = go(left), go(right)
                return lambda: arithmetic.compare(comparison, a(), b())
            case tree.Select(condition, then, other):
                test, yes, no = go(condition), go(then), go(other)
                return lambda: yes() if test() else no()
            case tree.Call(function, args):
                parts = [go(each) for each in args]
                return lambda: arithmetic.call(function, tuple([part() for part in parts]), args[0].dtype)
            case tree.Convert(operand, dtype):
                one = go(operand)
                return lambda: arithmetic.convert(one(), operand.dtype, dtype)
            case tree.Local(name):
                return lambda: self.locals[name]
            case tree.Let(name, value, body):
                return self.let(name, go(value), go(body))
            case tree.Reduce():
                return self.reduce(expr, through)

    def binary(self, expr: tree.Binary, left: Evaluate, right: Evaluate) -> Evaluate:
        operator, dtype = expr.operator, expr.dtype
        if operator == "and":
            return lambda: np.bool_(bool(left()) and bool(right()))
        if operator == "or":
            return lambda: np.bool_(bool(left()) or bool(right()))
        if operator not in ("floordiv", "mod") or not (isinstance(dtype, DType) and dtype.is_integer):
            return lambda: arithmetic.binary(operator, left(), right(), dtype)

        def divided() -> Value:
            a, b = left(), right()
            if b == 0:
                raise DivisionByZero("an integer is divided by zero", self.nest.program.name, expr.span)
            return arithmetic.binary(operator, a, b, dtype)

        return divided

    def let(self, name: str, value: Evaluate, body: Evaluate) -> Evaluate:
        def bound() -> Value:
            self.locals[name] = value()
            return body()

        return bound

    def reduce(self, expr: tree.Reduce, through: Mapping[str, str]) -> Evaluate:
        values, identity = self.values, self.identity(expr.reducer, through)
        combine = self.combining(expr.reducer, through)
        ends = [(binder.index, self.form(binder.lo, through), self.form(binder.hi, through)) for binder in expr.binders]
        test = None if expr.filter is None else self.expr(expr.filter, through)
        args = [self.expr(each, through) for each in expr.args]

        def run(depth: int, state: list[Value]) -> list[Value]:
            if depth < len(ends):
                index, lo, hi = ends[depth]
                for value in range(lo(values), hi(values)):
                    values[index] = value
                    state = run(depth + 1, state)
            elif test is None or test():
                state = combine(state, [arg() for arg in args])
            return state

        return lambda: run(0, [each() for each in identity])[0]

    def access(self, access: tree.Access, through: Mapping[str, str]) -> Evaluate:
        values, boundary = self.values, access.boundary
        shape = [self.form(size)(values) for size in self.nest.tensors[access.tensor].shape]
        subscripts = [self.form(form, through) for form in access.subscripts]
        outside = None if boundary is None or boundary.value is None else self.expr(boundary.value, through)
        mode = None if boundary is None or outside is not None else boundary.mode
        tensor = through.get(access.tensor, access.tensor)

        def read() -> Value:
            element = tuple([form(values) for form in subscripts])
            if mode is not None:
                element = tuple(_inside(each, size, mode) for each, size in zip(element, shape))
            for axis, (each, size) in enumerate(zip(element, shape)):
                if not 0 <= each < size:
                    if outside is not None:
                        return outside()
                    message = f"index {each} is outside {access.tensor}.{axis} of size {size}"
                    raise OutOfBounds(message, self.nest.program.name, access.span)
            return self.read(tensor, element)

        return read


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
