"""What every nest must satisfy, whoever made it. A violation is our bug, and says which node and why."""

from __future__ import annotations

from collections.abc import Iterator

from tdl.compiler.kernel.printer import print_nest
from tdl.compiler.kernel.tree import Accumulator, Bind, Guard, Init, Loop, Nest, Node, Store, Update
from tdl.compiler.kernel.tree import walk as walk_nodes
from tdl.language.diagnostic import InternalError
from tdl.language.forms import Extreme, FloorDiv, Form, Product, Symbol
from tdl.language.tree import Access, Expr, Integer, Let, Local, Reduce, Target, children


class _Verifier:
    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.started: set[str] = set()

    def fail(self, message: str) -> InternalError:
        return InternalError(f"nest of {self.nest.program.name}: {message}\n{print_nest(self.nest)}")

    def nodes(self, nodes: tuple[Node, ...], indices: frozenset[Symbol], names: frozenset[str]) -> None:
        for node in nodes:
            match node:
                case Loop():
                    self.loop(node, indices, names)
                case Guard(condition, body):
                    self.expr(condition, indices, names)
                    self.nodes(body, indices, names)
                case Bind(name, value):
                    self.expr(value, indices, names)
                    names |= {name}
                case Init(accumulator):
                    names |= self.init(accumulator, indices)
                case Update(accumulator, args):
                    self.update(accumulator, args, indices, names)
                case Store(targets, values):
                    self.store(targets, values, indices, names)

    def loop(self, loop: Loop, indices: frozenset[Symbol], names: frozenset[str]) -> None:
        if loop.index in indices:
            raise self.fail(f"loop {loop.name} repeats an enclosing index")
        for end in (loop.lo, loop.hi):
            self.expr(Integer(end), indices, names)
        self.nodes(loop.body, indices | {loop.index}, names)

    def init(self, accumulator: Accumulator, indices: frozenset[Symbol]) -> frozenset[str]:
        self.started.add(accumulator.stage)
        for place in accumulator.places:
            self.place(place, indices)
        if accumulator.places:
            return frozenset()
        return frozenset(accumulator.local(position) for position in range(len(accumulator.reducer.dtypes)))

    def update(
        self, accumulator: Accumulator, args: tuple[Expr, ...], indices: frozenset[Symbol], names: frozenset[str]
    ) -> None:
        if accumulator.stage not in self.started:
            raise self.fail(f"accumulator {accumulator.stage} is updated before it is initialised")
        if len(args) != len(accumulator.reducer.dtypes):
            raise self.fail(f"accumulator {accumulator.stage} takes {len(accumulator.reducer.dtypes)} values")
        for arg, dtype in zip(args, accumulator.reducer.dtypes):
            if arg.dtype != dtype:
                raise self.fail(f"accumulator {accumulator.stage} takes {dtype}, not {arg.dtype}")
            self.expr(arg, indices, names)

    def store(
        self, targets: tuple[Target, ...], values: tuple[Expr, ...], indices: frozenset[Symbol], names: frozenset[str]
    ) -> None:
        for target, value in zip(targets, values, strict=True):
            self.place(target, indices)
            self.expr(value, indices, names)
            if value.dtype != self.nest.program.tensors[target.tensor].dtype:
                raise self.fail(f"{target.tensor} is stored a {value.dtype}")

    def place(self, target: Target, indices: frozenset[Symbol]) -> None:
        tensor = self.nest.program.tensors.get(target.tensor)
        if tensor is None or tensor.role == "input":
            raise self.fail(f"{target.tensor} cannot be written")
        if len(target.coordinates) != len(tensor.shape):
            raise self.fail(f"{target.tensor} is written with {len(target.coordinates)} subscripts")
        for form in target.coordinates:
            self.expr(Integer(form), indices, frozenset())

    def expr(self, expr: Expr, indices: frozenset[Symbol], names: frozenset[str]) -> None:
        """Every index is of an enclosing loop, every local of an enclosing binding."""
        match expr:
            case Local(name) if name not in names:
                raise self.fail(f"nothing binds {name}")
            case Access(tensor, subscripts) if len(self.nest.program.tensors[tensor].shape) != len(subscripts):
                raise self.fail(f"{tensor} is read with {len(subscripts)} subscripts")
            case Let(name, value, body):
                self.expr(value, indices, names)
                self.expr(body, indices, names | {name})
                return
            case Reduce(reducer, binders):
                indices |= {binder.index for binder in binders}
                names |= {*reducer.left, *reducer.right}
        for symbol in _own_symbols(expr):
            if symbol.kind == "index" and symbol not in indices:
                raise self.fail(f"no loop runs over {symbol}")
        for child in children(expr):
            self.expr(child, indices, names)


def _own_symbols(expr: Expr) -> Iterator[Symbol]:
    match expr:
        case Integer(form):
            yield from _plain(form)
        case Access(_, subscripts):
            for form in subscripts:
                yield from _plain(form)


def _plain(form: Form) -> Iterator[Symbol]:
    """The symbols of a form outside the data in it."""
    for atom, _ in form.terms:
        match atom:
            case Symbol():
                yield atom
            case FloorDiv(left, right) | Extreme(_, left, right) | Product(left, right):
                yield from _plain(left)
                yield from _plain(right)


def verify_nest(nest: Nest) -> Nest:
    """The nest itself. Raises InternalError where it is not well formed, or leaves out a definition."""
    verifier = _Verifier(nest)
    verifier.nodes(nest.body, frozenset(), frozenset())
    written = {place.tensor for node in walk_nodes(nest.body) for place in _written(node)}
    for definition in nest.program.definitions:
        for target in definition.targets:
            if target.tensor not in written:
                raise verifier.fail(f"{target.tensor} is never written")
    return nest


def _written(node: Node) -> tuple[Target, ...]:
    match node:
        case Store(targets):
            return targets
        case Update(accumulator):
            return accumulator.places
    return ()
