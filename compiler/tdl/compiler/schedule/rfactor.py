"""Factor a reduction: partial results for each iteration of one of its loops, and a reduction over these.

    acc[i] = sum over ko, ki of x(i, ko, ki)       rfactor ko -> P        P[i, ko] = sum over ki of x(i, ko, ki)
                                                                          acc[i]   = sum over ko of P[i, ko]

Legal because reducers are associative and commutative. `argmax` and `argmin` keep their first winner where the loop
counts the highest digit of the reduction's order; elsewhere they are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from tdl.compiler.schedule.bounds import greatest_value
from tdl.compiler.schedule.extremes import eliminated
from tdl.compiler.schedule.owners import group_of, own_paths, owner_of
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.regions import region, touching
from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Memory, Nest, Node, Stage, Update
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of, map_leaves, path_to, substitute
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts, extent
from tdl.language.tree import Access, Binder, Target, Tensor
from tdl.language.witness import size_facts


def rfactor(nest: Nest, loop: Loop, name: str, line: int = -1) -> Nest:
    """The nest with the reduction over a loop taken apart; `name` is of the stage of partial results."""
    if name in nest.tensors or name in nest.stages:
        raise Refusal("schedule", f"there is a tensor `{name}` already", "a stage needs a name of its own")
    placed = [(path, leaf) for path, leaf in leaves_of(nest.body) if any(loop.symbol == e.symbol for e in path)]
    if len(placed) != 1:
        raise Refusal("schedule", f"`{loop.name}` is a loop of several statements")
    path, leaf = placed[0]
    stage = nest.stages[leaf.stage]
    if sum(each.stage == leaf.stage for _, each in leaves_of(nest.body)) > 1:
        raise Refusal("schedule", f"`{leaf.stage}` runs in several places", "factor before `peel` makes a copy of it")
    reduced = _reduction_loops(stage, leaf, path)
    if not isinstance(stage.work, Update) or loop.symbol not in reduced:
        names = ", ".join(f"`{each.name}`" for each in path if each.symbol in reduced)
        note = f"the reduction loops here are {names}" if names else "this statement has no reduction"
        raise Refusal("schedule", f"`{loop.name}` is not a reduction loop", note)
    _check_first_wins(stage, leaf, loop, path)
    top = _own_top(nest, path, stage)
    own = path[top:]
    index = Symbol(f"{name}[{loop.name}]", "index")
    outer = path[:top]
    count = _most_iterations(loop, path)
    partial = _partial_stage(stage, name, Binder(index, forms.ZERO, count))
    around = tuple(Binder(_around(name, each), each.lo, each.hi) for each in outer if each.symbol in reduced)
    total = _total_stage(nest, stage, name, Binder(index, forms.ZERO, count), around)
    renamed = {each.symbol: Symbol(f"{name}.{each.name}", "index") for each in own}
    first = _copied(own, leaf, name, index, loop, renamed, line)
    others = [each for each in outer if each.symbol in reduced]
    if others and stage.work.reducer.name in ("argmax", "argmin"):
        message = (
            f"`{stage.work.reducer.name}` keeps the first winner, and `{others[0].name}` around is of its order too"
        )
        raise Refusal("schedule", message)
    second = _kept(own, leaf, stage, index, loop, reduced, others, size_facts(nest.program))
    tensors = dict(nest.tensors)
    for target, dtype in zip(_targets(name, stage, index), stage.work.reducer.dtypes):
        shape = (*nest.tensors[stage.writes[0].tensor].shape, count)
        tensors[target.tensor] = Tensor(target.tensor, "intermediate", dtype, shape)
    result = replace(
        nest,
        stages={**nest.stages, name: partial, stage.name: total},
        tensors=tensors,
        body=_replaced(nest.body, own[0].symbol, (*first, *second)),
    )
    made = [target.tensor for target in _targets(name, stage, index)]
    result = _with_buffers(result, made, outer, line)
    group = nest.groups[stage.writes[0].tensor]
    if owner_of(nest, path[0]) != group:  # placed: a placement elsewhere makes it whole, and factors it again
        return replace(result, groups={**nest.groups, **dict.fromkeys(made, group)})
    return _rebased(result, group, made, name if not outer else None)


def _rebased(nest: Nest, group: str, made: list[str], alone: str | None) -> Nest:
    """The nest with the group's loops as they are now taken for those that it begins with.

    Partial results inside of a loop belong to the group; others are one of their own, `alone`.
    """
    groups = {**nest.groups, **dict.fromkeys(made, alone or group)}
    nest = replace(nest, groups=groups)
    changed = [group] if alone is None else [alone, group]
    base: dict[str, tuple[Node, ...]] = {}
    for each, nodes in nest.base.items():
        if each == group:
            base.update({name: _own_nodes(nest, name) for name in changed})
        else:
            base[each] = nodes
    tensors = {name for name, owner in groups.items() if owner in changed}
    first = {**nest.first, **{name: nest.buffers[name] for name in tensors}}
    stages = {leaf.stage for each in changed for _, leaf in own_paths(nest, each)}
    origin = {**nest.origin, **{name: nest.stages[name] for name in stages}}
    log = tuple(entry for entry in nest.log if entry.groups != {group} or entry.is_of_storage)
    return replace(nest, base=base, first=first, origin=origin, log=log)


def _own_nodes(nest: Nest, group: str) -> tuple[Node, ...]:
    """A group's nodes without what else is in its loops."""

    def own(leaf: Leaf) -> tuple[Node, ...]:
        return (replace(leaf, through=()),) if group_of(nest, leaf) == group else ()

    return map_leaves(nest.body, own)


def _most_iterations(loop: Loop, path: Path) -> Form:
    """How many iterations the loop has at most, in sizes alone: as many partial results are kept for each element."""
    around = binders_of(tuple(each for each in path if each.symbol != loop.symbol))
    count = extent(loop.hi - loop.lo, around, "greatest")
    if count is None:
        message = f"how often `{loop.name}` runs, {loop.hi - loop.lo} times, has no bound in sizes"
        raise Refusal("schedule", message, "the partial results need a place each")
    return count


def _reduction_loops(stage: Stage, leaf: Leaf, path: Path) -> set[Symbol]:
    """The loops that only the reduction's own indices speak of."""
    reduced = {binder.index for binder in stage.reduction}
    at = dict(leaf.at)
    spatial = {symbol for own, form in at.items() if own not in reduced for symbol in form.symbols()}
    over = {symbol for own, form in at.items() if own in reduced for symbol in form.symbols()}
    return {loop.symbol for loop in path if loop.symbol in over and loop.symbol not in spatial}


def _check_first_wins(stage: Stage, leaf: Leaf, loop: Loop, path: Path) -> None:
    """The first index of the order must grow with the loop, whatever the loops inside of it do."""
    assert isinstance(stage.work, Update)
    if stage.work.reducer.name not in ("argmax", "argmin") or not stage.work.reducer.is_builtin:
        return
    at = dict(leaf.at)
    first = at[stage.reduction[0].index]
    step = dict(first.terms).get(loop.symbol, 0)
    rest = first - forms.symbol(loop.symbol) * step
    if step > 0 and _spread(rest, path) < step:
        return
    message = (
        f"`{stage.work.reducer.name}` keeps the first winner, and `{loop.name}` is not the outermost part of its order"
    )
    raise Refusal("schedule", message)


def _spread(form: Form, path: Path) -> float:
    """How far values of a sum of loops' counters are apart at most; infinity where that is not seen."""
    loops = {each.symbol: each for each in path}
    total = 0.0
    for atom, count in form.terms:
        loop = loops.get(atom) if isinstance(atom, Symbol) else None
        most = None if loop is None or count < 0 else greatest_value(loop.hi - loop.lo - 1)
        total += inf if most is None else count * max(most, 0)
    return total


def _own_top(nest: Nest, path: Path, stage: Stage) -> int:
    """Where on the path the loops begin that run this statement alone."""
    for position, loop in enumerate(path):
        if {leaf.stage for _, leaf in leaves_of((loop,))} == {stage.name}:
            return position
    raise Refusal("schedule", f"`{stage.name}` has no loop of its own")


def _targets(name: str, stage: Stage, index: Symbol) -> list[Target]:
    """The partial results' tensors: one for each value of the reducer."""
    count = len(stage.writes)
    here = (*stage.writes[0].coordinates, forms.symbol(index))
    return [Target(name if position == 0 else f"{name}.{position}", here) for position in range(count)]


def _partial_stage(stage: Stage, name: str, own: Binder) -> Stage:
    assert isinstance(stage.work, Update)
    work = replace(stage.work, targets=tuple(_targets(name, stage, own.index)))
    return replace(stage, name=name, indices=(*stage.indices, own), work=work)


def _total_stage(nest: Nest, stage: Stage, name: str, over: Binder, around: tuple[Binder, ...]) -> Stage:
    assert isinstance(stage.work, Update)
    args = tuple(
        Access(target.tensor, target.coordinates, dtype, span=stage.span)
        for target, dtype in zip(_targets(name, stage, over.index), stage.work.reducer.dtypes)
    )
    return replace(stage, reduction=(over, *around), work=replace(stage.work, args=args), filter=None)


def _copied(
    own: Path, leaf: Leaf, name: str, index: Symbol, loop: Loop, renamed: dict[Symbol, Symbol], line: int
) -> tuple[Node, ...]:
    """The partial results' loops: all of the statement's, under the new stage's name."""
    values = {old: forms.symbol(new) for old, new in renamed.items()}
    at = (*leaf.at, (index, forms.symbol(loop.symbol) - loop.lo))
    nodes: tuple[Node, ...] = (replace(leaf, stage=name, at=at),)
    for each in reversed(own):
        nodes = (replace(each, stage=name, body=nodes, kind="serial", line=line),)
    nodes = substitute(nodes, values)
    return _with_symbols(nodes, renamed)


def _with_symbols(nodes: tuple[Node, ...], renamed: dict[Symbol, Symbol]) -> tuple[Node, ...]:
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop):
            node = replace(node, symbol=renamed.get(node.symbol, node.symbol), body=_with_symbols(node.body, renamed))
        result.append(node)
    return tuple(result)


def _kept(
    own: Path,
    leaf: Leaf,
    stage: Stage,
    index: Symbol,
    loop: Loop,
    reduced: set[Symbol],
    others: Sequence[Loop],
    facts: Facts,
) -> tuple[Node, ...]:
    """The statement's own loops without those of the reduction that the partial results have taken."""
    spatial = {binder.index for binder in stage.indices}
    at: list[tuple[Symbol, Form]] = [(each, form) for each, form in leaf.at if each in spatial]
    at.append((index, forms.symbol(loop.symbol) - loop.lo))
    at += [(_around(index.name, each), forms.symbol(each.symbol)) for each in others]
    gone = {each.symbol for each in own if each.symbol in reduced and each.symbol != loop.symbol}
    guards = tuple(guard for guard in leaf.guards if gone.isdisjoint(guard.symbols()))
    nodes: tuple[Node, ...] = (replace(leaf, at=tuple(at), guards=guards),)
    for each in reversed(own):
        if each.symbol in gone:
            continue
        if each.symbol == loop.symbol:
            each = _over_all(each, [other for other in own if other.symbol in gone], facts)
        nodes = (replace(each, body=nodes),)
    return nodes


def _around(name: str, loop: Loop) -> Symbol:
    """The index of a total that a loop around it counts, whose values the partial results do not span."""
    return Symbol(f"{name.partition('[')[0]}[{loop.name}]'", "index")


def _over_all(loop: Loop, dropped: Sequence[Loop], facts: Facts) -> Loop:
    """The loop over all values that it has while the others run, which are no longer around it."""
    hi: Form | None = loop.hi
    for binder in reversed(binders_of(tuple(dropped))):
        hi = None if hi is None else eliminated(hi, binder, "greatest", facts)
    if hi is None or any(loop.lo.mentions(each.symbol) or hi.mentions(each.symbol) for each in dropped):
        message = f"the range of `{loop.name}`, {loop.lo}..{loop.hi}, depends on another loop of the reduction"
        raise Refusal("schedule", message)
    return replace(loop, hi=hi)


def _replaced(nodes: tuple[Node, ...], symbol: Symbol, by: tuple[Node, ...]) -> tuple[Node, ...]:
    result: list[Node] = []
    for node in nodes:
        if isinstance(node, Loop) and node.symbol == symbol:
            result.extend(by)
        elif isinstance(node, Loop):
            result.append(replace(node, body=_replaced(node.body, symbol, by)))
        else:
            result.append(node)
    return tuple(result)


def _with_buffers(nest: Nest, tensors: list[str], outer: Path, line: int) -> Nest:
    """Storage of the partial results, in the body of the loop around the statement."""
    buffers = dict(nest.buffers)
    for tensor in tensors:
        shape = nest.tensors[tensor].shape
        at = outer[-1].symbol if outer else None
        lo, extents = tuple(forms.ZERO for _ in shape), shape
        if outer:
            box = region(nest, tensor, touching(nest, path_to(nest.body, outer[-1].symbol)[-1], [tensor]), outer)
            lo, extents = box.lo, box.extents
        memory: Memory = "arena"
        buffers[tensor] = Buffer(tensor, memory, at, lo, extents, line=line)
    return replace(nest, buffers=buffers)
