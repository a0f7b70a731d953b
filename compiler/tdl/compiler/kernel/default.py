"""The nest of an op without a schedule: what its steps say, in the plainest order that is not needlessly slow.

Per definition: the sweeps of its recurrence, then its other indices in the order of the left-hand side. A reduction
that is the whole right-hand side accumulates in the tensor itself, others in a register. One liberty is taken, where it
is free: when the loop over the last axis walks memory more kindly than the reduction loops do, it goes inside them.

    for i in 0..M                           for i in 0..M
        for j in 0..N                           for j in 0..N
            C[i, j] = 0                  ->         C[i, j] = 0
            for k in 0..K                       for k in 0..K
                C[i, j] += A[i,k]*B[k,j]            for j in 0..N
                                                        C[i, j] += A[i, k]*B[k, j]
"""

from __future__ import annotations

from collections.abc import Mapping

from tdl.compiler.kernel.contiguity import prefers_inside
from tdl.compiler.kernel.reductions import Reductions, binder_loops
from tdl.compiler.kernel.sweeps import Fixed, at_values, guarded, loop_order, sweep_index
from tdl.compiler.kernel.tree import Accumulator, Init, Loop, Nest, Node, Origin, Store, Update, stage_names
from tdl.language.tree import Binder, Definition, Expr, Program, Reduce, Run, Step, Sweep, symbols_of

_Held = Mapping[int, tuple[Fixed, ...]]  # definition number -> what enclosing sweeps hold fixed


class _Builder:
    def __init__(self, program: Program) -> None:
        self.definitions = {definition.number: definition for definition in program.definitions}
        self.stages = stage_names(program)

    def steps(self, steps: tuple[Step, ...], held: _Held) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for step in steps:
            match step:
                case Run(number):
                    nodes += self.definition(self.definitions[number], held.get(number, ()))
                case Sweep():
                    nodes.append(self.sweep(step, held))
        return tuple(nodes)

    def sweep(self, sweep: Sweep, held: _Held) -> Node:
        taken = {fixed.value for number in sweep.axes for fixed in held.get(number, ())}
        index, owner = sweep_index(sweep, self.definitions, taken)
        inner = dict(held)
        for number, axis in sweep.axes.items():
            inner[number] = (*held.get(number, ()), Fixed(axis, index, sweep.lo, sweep.hi))
        origin = Origin(owner, self.definitions[owner].span)
        body = self.steps(sweep.body, inner)
        return Loop(self.stages[owner], index, sweep.lo, sweep.hi, "sweep", body, origin, not sweep.ascending)

    def definition(self, definition: Definition, fixed: tuple[Fixed, ...]) -> tuple[Node, ...]:
        """The loops over indices that no sweep holds, and the statements in them."""
        definition, conditions = at_values(definition, fixed)
        origin = Origin(definition.number, definition.span)
        free = {binder.index for binder in definition.indices}
        late = [condition for condition in conditions if free & set(symbols_of(condition))]
        early = [condition for condition in conditions if condition not in late]
        return guarded(early, self.body(definition, late, origin), origin)

    def body(self, definition: Definition, conditions: list[Expr], origin: Origin) -> tuple[Node, ...]:
        stage = self.stages[definition.number]
        binders = loop_order(definition)
        value = definition.value
        if isinstance(value, Reduce) and not conditions and prefers_inside(definition, value, binders):
            return _last_axis_inside(stage, definition, value, binders, origin)
        reductions = Reductions(stage, definition.number)
        if isinstance(value, Reduce):
            inner = reductions.loops(value, Accumulator(stage, value.reducer, definition.targets))
        else:
            before, result = reductions.take_out(value)
            inner = (*before, Store(definition.targets, (result,), origin))
        inner = reductions.guarded(definition.filter, inner, origin)
        return _spatial(stage, binders, guarded(conditions, inner, origin), origin)


def _last_axis_inside(
    stage: str, definition: Definition, reduce: Reduce, binders: tuple[Binder, ...], origin: Origin
) -> tuple[Node, ...]:
    """Accumulate whole rows: initialise the row, then run the reduction with the last axis innermost."""
    accumulator = Accumulator(stage, reduce.reducer, definition.targets)
    reductions = Reductions(stage, definition.number)
    inside = Origin(definition.number, reduce.span)
    update = reductions.guarded(reduce.filter, (Update(accumulator, reduce.args, inside),), inside)
    row = binder_loops(stage, reduce.binders, _spatial(stage, binders[-1:], update, inside), inside)
    init = _spatial(stage, binders[-1:], (Init(accumulator, inside),), origin)
    return _spatial(stage, binders[:-1], (*init, *row), origin)


def _spatial(stage: str, binders: tuple[Binder, ...], body: tuple[Node, ...], origin: Origin) -> tuple[Node, ...]:
    for binder in reversed(binders):
        body = (Loop(stage, binder.index, binder.lo, binder.hi, "spatial", body, origin),)
    return body


def default_nest(program: Program) -> Nest:
    """The nest that runs the program's steps in order."""
    return Nest(program, _Builder(program).steps(program.steps, {}))
