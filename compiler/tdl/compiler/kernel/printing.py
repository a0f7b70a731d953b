"""A kernel as text that people read: loops, what lives where, and statements on flat buffers.

register Cr: f32[384]
for ki in 0..K
    lanes l of 16
        Cr[l] += A[ki] * Bp[16*ki + l]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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
    Operand,
    Origin,
    Place,
    Prefetch,
    Run,
    Store,
    Update,
)
from tdl.compiler.kernel.walk import body_of
from tdl.compiler.schedule.text import expr_text, form_text
from tdl.language.dtypes import DType, Type
from tdl.language.tree import Reducer

_IDENTITIES = {"sum": "0", "prod": "1", "any": "false", "all": "true"}
_COMBINES = {"sum": "+=", "prod": "*=", "max": "max=", "min": "min=", "any": "or=", "all": "and="}


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One line of a printed kernel, and what made it."""

    text: str
    origin: Origin


def print_kernel(kernel: Kernel) -> str:
    """The kernel as one text."""
    return "".join(f"{line.text}\n" for line in kernel_lines(kernel))


def kernel_lines(kernel: Kernel) -> tuple[KernelLine, ...]:
    """The kernel, line by line."""
    shared = [buffer for buffer in kernel.buffers.values() if buffer.memory in ("global", "workspace")]
    return (*(KernelLine(_declared(buffer), Origin()) for buffer in shared), *_lines(kernel, kernel.body, 0))


def _declared(buffer: Buffer) -> str:
    notes = (" streamed" if buffer.is_streamed else "") + (" twice" if buffer.is_double else "")
    return f"{buffer.memory} {buffer.name}: {buffer.dtype}[{form_text(buffer.size)}]{notes}"


def _lines(kernel: Kernel, nodes: tuple[Node, ...], depth: int) -> Iterator[KernelLine]:
    for node in nodes:
        text = _declared(kernel.buffers[node.buffer]) if isinstance(node, Allocate) else line_of(node)
        yield KernelLine("    " * depth + text, node.origin)
        yield from _lines(kernel, body_of(node), depth if isinstance(node, Allocate) else depth + 1)


def line_of(node: Node) -> str:
    """A node on one line; of an `Allocate`, the buffer's name."""
    match node:
        case Loop(symbol, lo, hi):
            kind = "" if node.kind == "serial" else f"{node.kind} "
            order = " descending" if node.descending else ""
            return f"{kind}for {symbol} in {form_text(lo, 5)}..{form_text(hi, 5)}{order}"
        case Lanes(symbol, count, active):
            return f"lanes {symbol} of {count}" + ("" if active is None else f", the first {form_text(active)}")
        case Guard(condition):
            return f"if {expr_text(condition)}"
        case Allocate(buffer):
            return buffer
        case Store(place, value):
            return f"{_place(place)} = {expr_text(value)}"
        case Prefetch(place):
            return f"prefetch {_place(place)}"
        case Init(places, reducer):
            return f"{_group(map(_place, places))} = {_group(_identities(reducer, len(places)))}"
        case Update(places, reducer, args):
            left, right = _group(map(_place, places)), _group(map(expr_text, args))
            combine = _COMBINES.get(reducer.name) if reducer.is_builtin else None
            return f"{left} {combine} {right}" if combine else f"{left} = {reducer.name}({left}; {right})"
        case Invoke(intrinsic, inputs, output):
            return f"{_operand(output)} = {intrinsic.name}({', '.join(map(_operand, inputs))})"


def _place(place: Place) -> str:
    return f"{place.buffer}[{form_text(place.offset)}]"


def _operand(operand: Operand) -> str:
    """Runs of elements: `A[4*ki..4*ki + 4]`, `B[N*ki + j..+4 by N, ...]`."""
    return f"{operand.buffer}[{', '.join(map(_run, operand.runs))}]"


def _run(run: Run) -> str:
    start = form_text(run.offset, 5)
    if run.count == 1:
        return form_text(run.offset)
    if run.step == 1:
        return f"{start}..{form_text(run.offset + run.count, 5)}"
    return f"{start} {run.count} times" if run.step == 0 else f"{start}, {run.count} by {run.step}"


def _identities(reducer: Reducer, count: int) -> Iterator[str]:
    if not reducer.is_builtin:
        yield from map(expr_text, reducer.identity)
        return
    first, *payloads = reducer.dtypes
    kind = reducer.name.removeprefix("arg")
    yield _IDENTITIES[kind] if kind in _IDENTITIES else _extreme(kind, first)
    yield from ("0" for _ in payloads)
    yield from ("nowhere" for _ in range(count - len(reducer.dtypes)))


def _extreme(kind: str, dtype: Type) -> str:
    """The identity of max or min: the least or the greatest value of the dtype."""
    if dtype.is_float:
        return "-inf" if kind == "max" else "inf"
    if isinstance(dtype, DType):
        return str(dtype.least if kind == "max" else dtype.greatest)
    return f"{'least' if kind == 'max' else 'greatest'}({dtype})"


def _group(texts: Iterator[str]) -> str:
    every = list(texts)
    return every[0] if len(every) == 1 else f"({', '.join(every)})"
