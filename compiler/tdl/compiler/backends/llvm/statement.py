"""Nest nodes to code: loops, guards, stores, and where accumulators live.

An accumulator is in registers from its initialisation to its last update where both are in one body with no spatial
loop between, and is then written to its tensor once; otherwise it is updated in memory.
"""

from __future__ import annotations

from contextlib import ExitStack

from tdl.compiler.backends.llvm.access import place
from tdl.compiler.backends.llvm.context import Context, Register
from tdl.compiler.backends.llvm.expression import lower_expr
from tdl.compiler.backends.llvm.reduction import Places, initialise, register_places, run_loop, update
from tdl.compiler.backends.llvm.scalars import store
from tdl.compiler.kernel.tree import Accumulator, Bind, Guard, Init, Loop, Node, Store, Update
from tdl.language.tree import Binder


class Statements:
    """Lowers the nodes of one nest into one function."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.registers: dict[str, Places] = {}

    def body(self, nodes: tuple[Node, ...]) -> None:
        """A sequence; names bound in it last until its end."""
        ends: dict[int, list[Accumulator]] = {}
        with ExitStack() as names:
            for position, node in enumerate(nodes):
                match node:
                    case Bind(name, value):
                        names.enter_context(self.context.bound(name, lower_expr(self.context, value)))
                    case Init(accumulator):
                        last = _last_update(accumulator, nodes, position)
                        self.init(accumulator, last is not None, names)
                        if last is not None:
                            ends.setdefault(last, []).append(accumulator)
                    case _:
                        self.node(node)
                for accumulator in ends.get(position, ()):
                    self.write_back(accumulator)

    def node(self, node: Loop | Guard | Update | Store) -> None:
        context = self.context
        match node:
            case Loop(_, index, lo, hi):
                binder, span = Binder(index, lo, hi), node.origin.span
                run_loop(context, binder, span, lambda: self.body(node.body), lower_expr, descending=node.descending)
            case Guard(condition, body):
                context.block.when(lower_expr(context, condition), lambda: self.body(body))
            case Update(accumulator, args):
                places = self.registers.get(accumulator.stage) or self.in_memory(accumulator)
                update(context, accumulator.reducer, places, args, lower_expr)
            case Store(targets, values):
                for target, value in zip(targets, [lower_expr(context, value) for value in values]):
                    pointer, buffer = place(context, target, lower_expr)
                    store(context.block, pointer, value, buffer.dtype)

    def init(self, accumulator: Accumulator, in_registers: bool, names: ExitStack) -> None:
        """Give the accumulator its identity. Registers without a tensor are named until the end of the body."""
        if not in_registers:
            initialise(self.context, accumulator.reducer, self.in_memory(accumulator), lower_expr)
            return
        places = register_places(self.context, accumulator.reducer, accumulator.stage)
        self.registers[accumulator.stage] = places
        initialise(self.context, accumulator.reducer, places, lower_expr)
        if not accumulator.places:
            for position, slot in enumerate(places.pointers):
                names.enter_context(self.context.bound(accumulator.local(position), Register(slot)))

    def write_back(self, accumulator: Accumulator) -> None:
        """Store finished registers to the accumulator's tensors, if it has any."""
        values = self.registers.pop(accumulator.stage).read(self.context)
        if accumulator.places:
            self.in_memory(accumulator).write(self.context, values)

    def in_memory(self, accumulator: Accumulator) -> Places:
        elements = [place(self.context, target, lower_expr) for target in accumulator.places]
        return Places(tuple(pointer for pointer, _ in elements), tuple(buffer.dtype for _, buffer in elements), True)


def _last_update(accumulator: Accumulator, nodes: tuple[Node, ...], start: int) -> int | None:
    """The last node after `start` that updates the accumulator with no spatial loop around, if there is one."""
    found = [position for position in range(start + 1, len(nodes)) if _updates(accumulator, nodes[position])]
    return found[-1] if found else None


def _updates(accumulator: Accumulator, node: Node) -> bool:
    match node:
        case Update(other):
            return other.stage == accumulator.stage
        case Loop() if node.role == "spatial":
            return False
        case Loop() | Guard():
            return any(_updates(accumulator, inner) for inner in node.body)
    return False
