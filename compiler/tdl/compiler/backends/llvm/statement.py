"""Nodes of a kernel to code: loops, lanes, guards, stores, accumulators."""

from __future__ import annotations

from collections.abc import Callable

from tdl.compiler.backends.llvm.context import Buffer, Context, Site
from tdl.compiler.backends.llvm.expression import lower_expr
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.invoke import invoke
from tdl.compiler.backends.llvm.memory import Element, ask_for, locate, write
from tdl.compiler.backends.llvm.reduction import initialise, run_loop, run_where, update
from tdl.compiler.backends.llvm.scalars import concrete, memory_type
from tdl.compiler.backends.llvm.values import Value, cast, integer, intrinsic, steps, test
from tdl.compiler.kernel.tree import (
    Allocate,
    Guard,
    Init,
    Invoke,
    Kernel,
    Lanes,
    Loop,
    Node,
    Origin,
    Place,
    Prefetch,
    Store,
    Update,
)
from tdl.compiler.kernel.walk import walk
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.language.tree import Binder


class Statements:
    """Lowers nodes into the function that a context writes; `parallel` makes a task of a loop."""

    def __init__(self, kernel: Kernel, context: Context, parallel: Callable[[Context, Loop], None] | None) -> None:
        self.kernel, self.context, self.parallel = kernel, context, parallel
        self.widest = max((node.count for node in walk(kernel.body) if isinstance(node, Lanes)), default=0)

    def body(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            self.node(node)

    def node(self, node: Node) -> None:
        with self.context.line_of(node.origin):
            self.lowered(node)

    def lowered(self, node: Node) -> None:
        context = self.context
        match node:
            case Loop() if node.kind == "parallel" and context.lane is None and self.parallel is not None:
                self.parallel(context, node)
            case Loop(symbol, lo, hi):
                binder = Binder(symbol, lo, hi)
                body, span = node.body, node.origin.span
                run_loop(context, binder, span, lambda: self.body(body), lower_expr, descending=node.descending)
            case Lanes():
                self.lanes(node)
            case Guard(condition, body):
                run_where(context, lower_expr(context, condition), lambda: self.body(body))
            case Allocate(name, body):
                context.buffers[name] = self.allocated(name)
                self.body(body)
                del context.buffers[name]  # a task made later must not be given it
            case Store(place, value):
                made = lower_expr(context, value)
                write(context, self.element(place, node.origin), made)
            case Prefetch(place):
                ask_for(context, place.buffer, place.offset, lower_expr, node.origin.span)
            case Init(places, reducer):
                initialise(context, reducer, [self.element(place, node.origin) for place in places], lower_expr)
            case Update(places, reducer, args):
                elements = [self.element(place, node.origin) for place in places]
                update(context, reducer, elements, args, lower_expr)
            case Invoke():
                invoke(context, node, lower_expr)

    def element(self, place: Place, origin: Origin) -> Element:
        return locate(self.context, place.buffer, place.offset, lower_expr, origin.span)

    def lanes(self, node: Lanes) -> None:
        """The body once, for all lanes; only the first `active` of them run."""
        context = self.context
        before = context.lane, context.lanes, context.mask, context.is_certain
        context.lane, context.lanes = node.symbol, node.count
        context.symbols[node.symbol] = steps(node.count)
        context.mask, context.is_certain = self.mask(node), True
        self.body(node.body)
        del context.symbols[node.symbol]
        context.lane, context.lanes, context.mask, context.is_certain = before

    def mask(self, node: Lanes) -> Value | None:
        if node.active is None:
            return None
        context, block = self.context, self.context.block
        active = form_value(context, node.active, lower_expr, Site(node.origin.span))
        bits = max(8 if node.count < 256 else 16, min(64, 512 // node.count))
        kind = f"i{bits}"  # as wide as a vector of so many lanes can be
        most = intrinsic(block, "smin", intrinsic(block, "smax", active, integer(0)), integer(node.count))
        if kind != "i64":
            most = cast(block, "trunc", most, kind)
        return test(block, "icmp ult", steps(node.count, kind), most)

    def allocated(self, name: str) -> Buffer:
        """Storage for a buffer that lives in a body: in the function's frame, or in the thread's arena."""
        context = self.context
        buffer = self.kernel.buffers[name]
        dtype = concrete(buffer.dtype)
        if buffer.memory == "arena":
            start = form_value(context, buffer.start, lower_expr, Site(Origin().span))
            pointer = context.block.value(f"getelementptr inbounds i8, ptr %arena, {start.typed}")
            return Buffer(pointer, dtype, buffer.memory, ALIGNMENT)
        size = buffer.size.constant + self.widest  # so that whole vectors may be read at its end
        slot = context.block.slot(f"[{size} x {memory_type(dtype)}], align {ALIGNMENT}", name)
        return Buffer(slot, dtype, buffer.memory, ALIGNMENT)
