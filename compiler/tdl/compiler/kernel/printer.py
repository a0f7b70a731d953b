"""A nest as text that people read. Each line knows what made it, so that a view can link it to the source.

op matmul(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N]
for i in 0..M                                # C.i
    for j in 0..N                            # C.j
        C[i, j] = 0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tdl.compiler.kernel.text import access_text, expr_text, form_text
from tdl.compiler.kernel.tree import Accumulator, Bind, Guard, Init, Loop, Nest, Node, Origin, Store, Update
from tdl.language.dtypes import DType, Type
from tdl.language.forms import Form
from tdl.language.tree import Expr, Program, Reducer, Target, Tensor

_IDENTITIES = {"sum": "0", "prod": "1", "any": "false", "all": "true"}
_COMBINES = {"sum": "+=", "prod": "*=", "max": "max=", "min": "min=", "any": "or=", "all": "and="}


@dataclass(frozen=True, slots=True)
class NestLine:
    """One line of a printed nest; `origin` is None for the head, `loop` is a loop's name."""

    text: str
    origin: Origin | None = None
    loop: str | None = None


def nest_lines(nest: Nest) -> tuple[NestLine, ...]:
    """The nest, line by line, without the loops' names in comments."""
    head = [NestLine(_signature(nest.program))]
    head += [
        NestLine(f"let {_declared(tensor)}")
        for tensor in nest.program.tensors.values()
        if tensor.role == "intermediate"
    ]
    return (*head, *_nodes(nest.body, 0))


def _signature(program: Program) -> str:
    inputs = ", ".join(_declared(program.tensors[name]) for name in program.inputs)
    outputs = ", ".join(_declared(program.tensors[name]) for name in program.outputs)
    return f"op {program.name}({inputs}) -> {outputs if len(program.outputs) == 1 else f'({outputs})'}"


def _declared(tensor: Tensor) -> str:
    shape = f"[{', '.join(map(form_text, tensor.shape))}]" if tensor.shape else ""
    return f"{tensor.name}: {tensor.dtype}{shape}"


def _nodes(nodes: tuple[Node, ...], depth: int) -> Iterator[NestLine]:
    indent = "    " * depth
    for node in nodes:
        loop = node.name if isinstance(node, Loop) else None
        yield NestLine(indent + _line(node), node.origin, loop)
        if isinstance(node, (Loop, Guard)):
            yield from _nodes(node.body, depth + 1)


def _line(node: Node) -> str:
    match node:
        case Loop():
            ends = f"{form_text(node.lo, 5)}..{form_text(node.hi, 5)}"
            return f"for {node.index} in {ends}{' descending' if node.descending else ''}"
        case Guard(condition):
            return f"if {expr_text(condition)}"
        case Bind(name, value):
            return f"let {name} = {expr_text(value)}"
        case Store(targets, values):
            return f"{_group(_place(target) for target in targets)} = {_group(map(expr_text, values))}"
        case Init(accumulator):
            return f"{_places(accumulator)} = {_group(_identities(accumulator.reducer))}"
        case Update(accumulator, args):
            return _update(accumulator, args)


def _update(accumulator: Accumulator, args: tuple[Expr, ...]) -> str:
    name = accumulator.reducer.name
    value = _group(map(expr_text, args))
    if accumulator.reducer.is_builtin and name in _COMBINES:
        return f"{_places(accumulator)} {_COMBINES[name]} {value}"
    return f"{_places(accumulator)} = {name}({_places(accumulator)}, {value})"


def _identities(reducer: Reducer) -> Iterator[str]:
    if not reducer.is_builtin:
        yield from map(expr_text, reducer.identity)
        return
    first, *payloads = reducer.dtypes
    kind = reducer.name.removeprefix("arg")
    yield _IDENTITIES[kind] if kind in _IDENTITIES else _extreme(kind, first)
    yield from ("0" for _ in payloads)


def _extreme(kind: str, dtype: Type) -> str:
    """The identity of max or min: the least or the greatest value of the dtype."""
    if dtype.is_float:
        return "-inf" if kind == "max" else "inf"
    if isinstance(dtype, DType):
        return str(dtype.least if kind == "max" else dtype.greatest)
    return f"{'least' if kind == 'max' else 'greatest'}({dtype})"


def _places(accumulator: Accumulator) -> str:
    if accumulator.places:
        return _group(_place(target) for target in accumulator.places)
    return _group(accumulator.local(position) for position in range(len(accumulator.reducer.dtypes)))


def _place(target: Target) -> str:
    subscripts: tuple[Form, ...] = target.coordinates
    return access_text(target.tensor, subscripts)


def _group(texts: Iterator[str] | map[str]) -> str:
    every = list(texts)
    return every[0] if len(every) == 1 else f"({', '.join(every)})"


def print_nest(nest: Nest) -> str:
    """The nest as one text, the names of loops in comments at the right."""
    lines = nest_lines(nest)
    width = max(len(line.text) for line in lines if line.loop) + 4 if any(line.loop for line in lines) else 0
    return "".join(f"{line.text:<{width}}# {line.loop}\n" if line.loop else f"{line.text}\n" for line in lines)
