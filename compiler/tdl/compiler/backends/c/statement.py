"""Nodes of a kernel to lines of C. Lanes are a loop: what a schedule made into lanes may as well run one by one.

lanes l of 16, the first n              for (int64_t l = 0; l < n; ++l) {  /* C.ji, 16 lanes */
    C[l] += A[k] * B[l]         ->          C[l] = tdl_madd_f32(A[k], B[l], C[l]);
                                        }
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from tdl.compiler.backends.c.block import Line
from tdl.compiler.backends.c.context import Array, Code
from tdl.compiler.backends.c.expression import lower_expr
from tdl.compiler.backends.c.integers import form_value
from tdl.compiler.backends.c.invoke import invoke
from tdl.compiler.backends.c.memory import loaded, stored
from tdl.compiler.backends.c.reduction import assign, combined, identity, run_loop, types_of
from tdl.compiler.backends.c.values import PRODUCT, Value, call, element, memory_type, size
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.kernel.tree import (
    Allocate,
    Buffer,
    Guard,
    Init,
    Invoke,
    Lanes,
    Loop,
    Node,
    Origin,
    Place,
    Prefetch,
    Store,
    Update,
)
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.tree import Binder, Reducer

if TYPE_CHECKING:
    from collections.abc import Iterator

Parallel = Callable[[Code, Loop, Callable[[Code, tuple[Node, ...]], None]], None]


_DECLARATION = re.compile(r"(const )?(bool|float|double|u?int\d+_t) \w+( =|;)")


_FEW = 64
"""Elements of an array that is made zero: compilers follow each of so few, and see that some are not written."""


class Statements:
    """Writes nodes; `parallel` makes a task of a loop, or is None in what already is one."""

    def __init__(self, parallel: Parallel | None) -> None:
        self.parallel = parallel

    def body(self, code: Code, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            with code.line_of(node.origin):
                self.node(code, node, is_alone=len(nodes) == 1)

    def allocated(self, code: Code, name: str, body: tuple[Node, ...]) -> None:
        """A body with a buffer of its own, which is not declared where nothing uses it."""
        at = len(code.block.lines)
        allocate(code, code.kernel.buffers[name])
        start, array = len(code.block.lines), code.arrays[name].name
        self.body(code, body)
        if not any(re.search(rf"\b{array}\b", line.text) for line in code.block.lines[start:]):
            del code.block.lines[at:start]
        code.arrays.pop(name)

    def node(self, code: Code, node: Node, *, is_alone: bool) -> None:
        match node:
            case Loop() if node.kind == "parallel" and self.parallel is not None:
                self.parallel(code, node, Statements(None).body)
            case Loop(symbol, lo, hi, body):
                kind = "" if node.kind in ("serial", "unrolled") else f", {node.kind}"
                run_loop(
                    code,
                    Binder(symbol, lo, hi),
                    Site(node.origin.span),
                    lambda: self.body(code, body),
                    lower_expr,
                    descending=node.descending,
                    comment=f"{symbol}{kind}",
                )
            case Lanes(symbol, count, active, body):
                # An active count may exceed the lanes, which a vector loop's ends never do.
                last = forms.constant(count) if active is None else forms.extreme("min", active, forms.constant(count))
                run_loop(
                    code,
                    Binder(symbol, forms.ZERO, last),
                    Site(node.origin.span),
                    lambda: self.body(code, body),
                    lower_expr,
                    comment=f"{symbol}, {count} lanes",
                )
            case Guard(condition, body):
                with _scoped(code, is_alone=is_alone), code.block.braces(f"if ({lower_expr(code, condition).text})"):
                    self.body(code, body)
            case Allocate(name, body):
                with nullcontext() if is_alone else code.block.braces():
                    self.allocated(code, name, body)
            case Prefetch(place):
                array = code.array(place.buffer)
                offset = form_value(code, place.offset, lower_expr, Site(node.origin.span))
                moved = Value(f"{offset.within(PRODUCT)} * {array.dtype.bytes}", PRODUCT)
                code.block.put(f"{call(code.unit.helper('TDL_PREFETCH'), Value(array.name), moved).text};")
            case Invoke():
                invoke(code, node, lower_expr)
            case _:
                with _scoped(code, is_alone=is_alone):
                    _statement(code, node)


@contextmanager
def _scoped(code: Code, *, is_alone: bool) -> Iterator[None]:
    """Braces around a statement that needs names for values, where others are beside it."""
    with code.block.aside() as lines:
        yield
    depth = 4 * (code.block.depth + 1)
    if not is_alone and any(_DECLARATION.match(line.text, depth) for line in lines):
        with code.block.braces():
            code.block.lines += lines
    else:
        code.block.lines += [Line(line.text[4:], line.origin) for line in lines]


def _statement(code: Code, node: Store | Init | Update) -> None:
    match node:
        case Store(place, value):
            made = lower_expr(code, value)
            target, dtype = _target(code, place, node.origin)
            code.block.put(f"{target.text} = {stored(code, made, dtype).text};")
        case Init(places, reducer):
            targets = [_target(code, place, node.origin) for place in places]
            for (target, dtype), nothing in zip(targets, identity(code, reducer, len(places), lower_expr)):
                code.block.put(f"{target.text} = {stored(code, nothing, dtype).text};")
        case Update(places, reducer):
            _update(code, node, reducer, places)


def _update(code: Code, node: Update, reducer: Reducer, places: tuple[Place, ...]) -> None:
    targets = [_target(code, place, node.origin) for place in places]
    old = [loaded(code, target, dtype) for target, dtype in targets]
    made = combined(code, reducer, old, node.args, [], lower_expr)
    values = [stored(code, value, dtype) for value, (_, dtype) in zip(made, targets)]
    types = [memory_type(dtype) for _, dtype in targets] if len(targets) > 1 else types_of(reducer, 1)
    assign(code, [target.text for target, _ in targets], types, values)


def _target(code: Code, place: Place, origin: Origin) -> tuple[Value, DType]:
    array = code.array(place.buffer)
    offset = form_value(code, place.offset, lower_expr, Site(origin.span, place.buffer))
    return element(array.name, offset), array.dtype


def allocate(code: Code, buffer: Buffer) -> None:
    """Declare storage for a buffer that lives in the braces: an array, or a part of the thread's arena."""
    dtype, type_ = concrete(buffer.dtype), memory_type(buffer.dtype)
    name = code.block.fresh(buffer.name)
    if buffer.memory == "arena":
        code.used.add("arena")
        start = form_value(code, buffer.start, lower_expr, Site(Origin().span))
        at = "arena" if start.text == "0" else f"(arena + {start.within(PRODUCT)})"
        code.block.put(f"{type_} *const {name} = ({type_} *)(void *){at};  /* {buffer.name} */")
    else:
        count = max(1, buffer.size.constant)
        zero = " = {0}" if count <= _FEW else ""
        code.block.put(f"{type_} {name}[{size(count).text}]{zero};  /* {buffer.name}, in {buffer.memory} */")
    code.arrays[buffer.name] = Array(name, dtype, f"{type_} *")
