"""A scheduled nest as a kernel: the same loops, with statements on flat buffers in place of leaves.

    for ii in 0..6                                      for ii in 0..6
        leaf of C, i = 6*ir + ii, through Cr     ->         Cr[64*ii + ...] += A[K*(6*ir + ii) + ...] * ...

Own indices are substituted, accesses become offsets, conditions under which a leaf runs become guards, and buffers live
in the body of their loop. Nothing is moved; which loops are vectors is decided already, how is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from tdl.compiler.kernel import tree as nodes
from tdl.compiler.kernel.tree import Allocate, Guard, Init, Kernel, Origin, Place
from tdl.compiler.kernel.walk import Nodes
from tdl.compiler.lower.access import Accesses
from tdl.compiler.lower.invoke import invoke
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.simplify import condition, conditions_of, simplified_expr
from tdl.compiler.lower.storage import Storage, storage_of
from tdl.compiler.schedule.ahead import lines_ahead
from tdl.compiler.schedule.calls import invocation
from tdl.compiler.schedule.tree import Buffer, Copy, Initial, Leaf, Loop, Nest, Node, Stage, Store, Update
from tdl.language.dtypes import I64
from tdl.language.forms import Symbol
from tdl.language.tree import Access, Integer, Reducer, Target
from tdl.language.witness import size_facts


def build_kernel(nest: Nest) -> Kernel:
    """The kernel of a nest in which every reduction's beginning is a stage of its own."""
    builder = _Builder(with_positions(nest))
    body = builder.scope(None, nest.body, Known(size_facts(nest.program)))
    return Kernel(nest.program, builder.buffers, body, fast_math=nest.fast_math)


@dataclass
class _Builder:
    nest: Nest
    buffers: dict[str, nodes.Buffer] = field(default_factory=dict)
    storages: dict[str, Storage] = field(default_factory=dict)
    names: Iterator[str] = field(default_factory=lambda: (f"at[{number}]" for number in count()))

    # ---- loops and buffers

    def scope(self, symbol: Symbol | None, body: tuple[Node, ...], known: Known) -> Nodes:
        """The body of a loop (None: of the op), in which some buffers live."""
        here = [self._storage(buffer, known) for buffer in self.nest.buffers.values() if buffer.at == symbol]
        made: Nodes = tuple(self._prefetches(symbol, known))
        made += tuple(each for node in body for each in self._node(node, known))
        for buffer in reversed(here):
            if buffer.memory not in ("global", "workspace"):
                made = (Allocate(buffer.name, made, Origin(line=self.nest.buffers[buffer.name].line)),)
        return made

    def _storage(self, buffer: Buffer, known: Known) -> nodes.Buffer:
        storage = storage_of(self.nest, buffer, known)
        self.storages[buffer.tensor] = storage
        own = [hint for hint in self.nest.hints if hint.tensor == buffer.tensor]
        hints = {hint.kind for hint in own if hint.loop in (None, buffer.at)}
        made = replace(storage.buffer, is_streamed="stream" in hints, is_double="double_buffer" in hints)
        self.buffers[buffer.tensor] = made
        return made

    def _node(self, node: Node, known: Known) -> Nodes:
        if isinstance(node, Leaf):
            return self._leaf(node, self.nest.stages[node.stage], known)
        if node.intrinsic is not None:
            return (self._invoke(node, known),)
        accesses = Accesses(self.storages, {}, {}, self.names)
        lo, hi = accesses.form(node.lo, known), accesses.form(node.hi, known)
        body = self.scope(node.symbol, node.body, known.inside(node.symbol, lo, hi))
        stage = self.nest.stages.get(node.stage)
        definition, span = (stage.definition, stage.span) if stage is not None else (-1, Origin().span)
        origin = Origin(definition, span, node.line)
        most = known.number(hi - lo, "greatest")
        return (nodes.Loop(node.symbol, lo, hi, body, node.kind, node.descending, most, origin),) if body else ()

    def _prefetches(self, loop: Symbol | None, known: Known) -> Iterator[nodes.Prefetch]:
        """What the loop's body asks for, for a later iteration, before anything else."""
        for hint in self.nest.hints:
            if hint.kind == "prefetch" and hint.loop == loop:
                storage = self.storages[hint.tensor]
                for coordinates in lines_ahead(self.nest, hint):
                    place = Place(storage.buffer.name, storage.offset(coordinates, known))
                    yield nodes.Prefetch(place, Origin(line=hint.line))

    # ---- statements

    def _invoke(self, loop: Loop, known: Known) -> nodes.Invoke:
        call = invocation(self.nest, loop)
        stage = self.nest.stages[call.leaf.stage]
        return invoke(call, self.storages, known, Origin(stage.definition, stage.span, loop.line))

    def _leaf(self, leaf: Leaf, stage: Stage, known: Known) -> Nodes:
        accesses = Accesses(self.storages, dict(leaf.at), dict(leaf.through), self.names)
        origin = Origin(stage.definition, stage.span)
        guard = condition([guard for guard in leaf.guards if not known.holds(guard)])
        tests = [] if guard is None else [guard]
        inside = known.where(leaf.guards)
        for given in (stage.domain, stage.filter):
            if given is not None:
                tests.append(simplified_expr(accesses.expr(given, inside), inside))
                inside = inside.where(conditions_of(tests[-1]))
        made = self._work(stage, accesses, inside, origin)
        for test in reversed(tests):
            made = (Guard(test, made, origin),)
        return made

    def _work(self, stage: Stage, accesses: Accesses, known: Known, origin: Origin) -> Nodes:
        match stage.work:
            case Store(targets, values):
                made = [
                    nodes.Store(accesses.place(target, known), accesses.expr(value, known), origin)
                    for target, value in zip(targets, values, strict=True)
                ]
                return tuple(made)
            case Copy(target, source):
                dtype = self.nest.tensors[source.tensor].dtype
                value = accesses.expr(Access(source.tensor, source.coordinates, dtype), known)
                return (nodes.Store(accesses.place(target, known), value, origin),)
            case Initial(targets, reducer):
                return (Init(self._places(targets, reducer, accesses, known), reducer, origin),)
            case Update(targets, reducer, args):
                combined = [accesses.expr(arg, known) for arg in args]
                if is_winner(reducer):
                    combined += [Integer(accesses.values[binder.index]) for binder in stage.reduction]
                places = self._places(targets, reducer, accesses, known)
                return (nodes.Update(places, reducer, tuple(combined), origin),)

    def _places(
        self, targets: tuple[Target, ...], reducer: Reducer, accesses: Accesses, known: Known
    ) -> tuple[Place, ...]:
        if is_winner(reducer):
            key = targets[0]
            positions = (name for name in self.storages if name.startswith(f"{key.tensor}{_FOUND}"))
            targets = (*targets, *(replace(key, tensor=name) for name in positions))
        return tuple(accesses.place(target, known) for target in targets)


# ---- where winners were found

_FOUND = ".found."


def is_winner(reducer: Reducer) -> bool:
    """Whether the reducer is `argmax` or `argmin`, of which the first of equal keys in binder order counts."""
    return reducer.is_builtin and reducer.name in ("argmax", "argmin")


def with_positions(nest: Nest) -> Nest:
    """The nest with a tensor beside each winner's key for every reduced index: where the winner was found.

    It is kept where the key is, and goes through no cache. Where the reduction ends in registers it vanishes again.
    """
    tensors, buffers = dict(nest.tensors), dict(nest.buffers)
    for stage in nest.stages.values():
        if isinstance(stage.work, Update) and is_winner(stage.work.reducer):
            key = stage.work.targets[0].tensor
            for binder in stage.reduction:
                name = f"{key}{_FOUND}{binder.index.name}"
                tensors[name] = replace(nest.tensors[key], name=name, role="intermediate", dtype=I64)
                memory = nest.buffers[key].memory
                kept = "arena" if memory == "global" else memory
                buffers[name] = replace(nest.buffers[key], tensor=name, memory=kept, layout=None)
    return nest if len(tensors) == len(nest.tensors) else replace(nest, tensors=tensors, buffers=buffers)
