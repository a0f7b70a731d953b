"""The nest before any schedule line: stages in the order of the program's steps, each over its own loops.

A reduction that is not the whole of its definition becomes a stage of its own, gathered in a register at the innermost
loop of the definition that uses it:

    mean[i] = sum(X[i, j] for j) / f32(N)        for mean.i
                                                     for mean.sum.j
                                                         mean.sum[i] += X[i, j]
                                                     mean[i] = mean.sum[i] / N

One inside a branch that may not run stays in its expression, since it may raise where it must not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.sweeps import loop_order, stage_names, sweep_index
from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Memory, Nest, Node, Stage, Store, Update
from tdl.compiler.schedule.walk import leaves_of
from tdl.language import forms, tree
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Binder, Definition, Expr, Program, Reduce, Run, Step, Sweep, Target, Tensor


@dataclass(frozen=True, slots=True)
class _Held:
    """An axis that an enclosing sweep holds, the sweep's loop symbol and its range."""

    axis: int
    symbol: Symbol
    lo: Form
    hi: Form


def start(program: Program) -> Nest:
    """The nest of a program without a schedule."""
    builder = _Builder(program)
    body = builder.steps(program.steps, {})
    groups: dict[str, str] = {}
    base: dict[str, tuple[Node, ...]] = {}
    for node in body:
        stages = [leaf.stage for _, leaf in leaves_of((node,))]
        defined = [builder.definitions[builder.stages[stage].definition] for stage in stages]
        written = [target.tensor for stage in stages for target in builder.stages[stage].writes]
        written += [target.tensor for definition in defined for target in definition.targets]
        known = next((groups[tensor] for tensor in written if tensor in groups), written[-1])
        groups.update(dict.fromkeys(written, known))
        base[known] = (*base.get(known, ()), node)
    return Nest(
        program, builder.stages, builder.tensors, builder.buffers, body, groups, base, builder.stages, builder.buffers
    )


@dataclass
class _Builder:
    program: Program
    stages: dict[str, Stage] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.definitions = {definition.number: definition for definition in self.program.definitions}
        self.names = stage_names(self.program)
        self.tensors.update(self.program.tensors)
        for name, tensor in self.program.tensors.items():
            zero = tuple(forms.ZERO for _ in tensor.shape)
            memory: Memory = "arena" if tensor.role == "intermediate" else "global"
            self.buffers[name] = Buffer(name, memory, None, zero, tensor.shape)

    # ---- steps

    def steps(self, steps: tuple[Step, ...], held: Mapping[int, tuple[_Held, ...]]) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for step in steps:
            match step:
                case Run(number):
                    nodes.extend(self._definition(self.definitions[number], held.get(number, ())))
                case Sweep():
                    nodes.append(self._sweep(step, held))
        return tuple(nodes)

    def _sweep(self, sweep: Sweep, held: Mapping[int, tuple[_Held, ...]]) -> Node:
        taken = [each.symbol for number in sweep.axes for each in held.get(number, ())]
        index, owner = sweep_index(sweep, self.definitions, taken)
        stage = self.names[owner]
        symbol = Symbol(f"{stage}.{index}", "index")
        inner = dict(held)
        for number, axis in sweep.axes.items():
            inner[number] = (*held.get(number, ()), _Held(axis, symbol, sweep.lo, sweep.hi))
        body = self.steps(sweep.body, inner)
        return Loop(stage, index.name, symbol, sweep.lo, sweep.hi, body, descending=not sweep.ascending)

    # ---- one definition

    def _definition(self, definition: Definition, held: tuple[_Held, ...]) -> tuple[Node, ...]:
        stage = self.names[definition.number]
        at, guards = _at_sweeps(definition, held)
        spatial = tuple(binder for binder in loop_order(definition) if binder.index not in at)
        at.update({binder.index: forms.symbol(loop_symbol(stage, binder)) for binder in spatial})
        before: list[Node] = []
        value, reduction, filter_ = definition.value, (), None
        domain = None if definition.filter is None else self._take_out(definition.filter, definition, stage, at, before)
        if isinstance(value, Reduce):
            body = self._update(stage, definition, value, definition.targets, definition.indices, domain, at, guards)
        else:
            value = self._take_out(value, definition, stage, at, before)
            work = Store(definition.targets, (value,))
            self.stages[stage] = Stage(
                stage, definition.number, definition.indices, reduction, work, domain, filter_, definition.span
            )
            body = (Leaf(stage, tuple(at.items()), guards),)
        return wrap(stage, spatial, at, (*before, *body))

    def _update(
        self,
        stage: str,
        definition: Definition,
        reduce: Reduce,
        targets: tuple[Target, ...],
        indices: tuple[Binder, ...],
        domain: Expr | None,
        at: Mapping[Symbol, Form],
        guards: tuple[Form, ...] = (),
    ) -> tuple[Node, ...]:
        """The loops of a reduction around its update; reductions inside its arguments come before it."""
        inner = {**at, **{binder.index: forms.symbol(loop_symbol(stage, binder)) for binder in reduce.binders}}
        before: list[Node] = []
        around = (*indices, *reduce.binders)
        args = tuple(self._take_out(arg, definition, stage, inner, before, around) for arg in reduce.args)
        filter_ = None
        if reduce.filter is not None:
            filter_ = self._take_out(reduce.filter, definition, stage, inner, before, around)
        work = Update(targets, reduce.reducer, args)
        self.stages[stage] = Stage(
            stage, definition.number, indices, reduce.binders, work, domain, filter_, reduce.span
        )
        leaf = Leaf(stage, tuple(inner.items()), guards)
        return wrap(stage, reduce.binders, inner, (*before, leaf))

    # ---- reductions inside expressions

    def _take_out(
        self,
        expr: Expr,
        definition: Definition,
        stage: str,
        at: Mapping[Symbol, Form],
        before: list[Node],
        indices: tuple[Binder, ...] | None = None,
    ) -> Expr:
        """The expression with its unconditional reductions read from stages, whose nodes are added to `before`."""
        own = definition.indices if indices is None else indices
        lets: list[tuple[str, Expr]] = []

        def visit(each: Expr) -> Expr:
            match each:
                case Reduce():
                    return self._own_stage(_without_lets(each, lets), definition, own, at, before)
                case tree.Let(name, value, body):
                    value = visit(value)
                    lets.append((name, value))
                    body = visit(body)
                    lets.pop()
                    return replace(each, value=value, body=body)
                case tree.Select(condition):
                    return replace(each, condition=visit(condition))
                case tree.Binary("and" | "or", left):
                    return replace(each, left=visit(left))
                case tree.Binary(_, left, right) | tree.Compare(_, left, right):
                    return replace(each, left=visit(left), right=visit(right))
                case tree.Unary(_, operand) | tree.Convert(operand):
                    return replace(each, operand=visit(operand))
                case tree.Call(_, args):
                    return replace(each, args=tuple(map(visit, args)))
            return each

        return visit(expr)

    def _own_stage(
        self,
        reduce: Reduce,
        definition: Definition,
        own: tuple[Binder, ...],
        at: Mapping[Symbol, Form],
        before: list[Node],
    ) -> Expr:
        name = self._stage_name(definition, reduce)
        coordinates = tuple(forms.symbol(binder.index) for binder in own)
        shape = tuple(binder.hi for binder in own)
        self.tensors[name] = Tensor(name, "intermediate", reduce.dtype, shape, span=reduce.span)
        origin = tuple(at[binder.index] for binder in own)
        ones = tuple(forms.constant(1) for _ in own)
        symbols = [symbol for form in origin for symbol in form.symbols() if symbol.kind == "index"]
        self.buffers[name] = Buffer(name, "register", symbols[-1] if symbols else None, origin, ones)
        target = Target(name, coordinates)
        before.extend(self._update(name, definition, reduce, (target,), own, None, at))
        return Access(name, coordinates, reduce.dtype, span=reduce.span)

    def _stage_name(self, definition: Definition, reduce: Reduce) -> str:
        base = f"{self.names[definition.number]}.{reduce.reducer.name}"
        count = self.counts.get(base, 0)
        self.counts[base] = count + 1
        return f"{base}{count or ''}"


def _without_lets(reduce: Reduce, lets: list[tuple[str, Expr]]) -> Reduce:
    """The reduction with names bound around it bound in its arguments, since its loops run before the names do."""
    for name, value in reversed(lets):

        def inlined(each: Expr, name: str = name, value: Expr = value) -> Expr:
            return value if each == tree.Local(name, value.dtype) else tree.map_children(each, inlined, inlined_form)

        def inlined_form(form: Form) -> Form:
            return forms.substitute(form, {}, inlined)

        def bound(each: Expr, name: str = name, value: Expr = value) -> Expr:
            return tree.Let(name, value, each) if tree.Local(name, value.dtype) in tree.walk(each) else each

        reduce = replace(
            reduce,
            binders=tuple(replace(b, lo=inlined_form(b.lo), hi=inlined_form(b.hi)) for b in reduce.binders),
            filter=None if reduce.filter is None else bound(reduce.filter),
            args=tuple(map(bound, reduce.args)),
        )
    return reduce


def loop_symbol(stage: str, binder: Binder) -> Symbol:
    return Symbol(f"{stage}.{binder.index}", "index")


def wrap(
    stage: str, binders: tuple[Binder, ...], at: Mapping[Symbol, Form], body: tuple[Node, ...]
) -> tuple[Node, ...]:
    """The body inside a loop for each binder, the first outermost; ends speak of loops, not of own indices."""
    for binder in reversed(binders):
        lo, hi = forms.substitute(binder.lo, at), forms.substitute(binder.hi, at)
        body = (Loop(stage, binder.index.name, loop_symbol(stage, binder), lo, hi, body),)
    return body


def _at_sweeps(definition: Definition, held: tuple[_Held, ...]) -> tuple[dict[Symbol, Form], tuple[Form, ...]]:
    """The own indices that sweeps hold, and where in the sweeps the definition runs."""
    at: dict[Symbol, Form] = {}
    guards: list[Form] = []
    for each in held:
        here = forms.symbol(each.symbol)
        coordinate = definition.targets[0].coordinates[each.axis]
        binder = next((b for b in definition.indices if b.index == coordinate.symbol), None)
        lo, hi = (coordinate, coordinate + 1) if binder is None else (binder.lo, binder.hi)
        if binder is not None:
            at[binder.index] = here
        if lo != each.lo:
            guards.append(here - lo)
        if hi != each.hi:
            guards.append(hi - here - 1)
    return at, tuple(guards)
