"""Compute a stage where it is used.

    compute T at L        for L                                  for L
                              for C.i: ... T[i], T[i + 1]   ->        for T.i in C's box: T[i] = ...
                                                                     for C.i: ... T[i], T[i + 1]

The body of `L` gets the loops of `T` over the box that it reads, clipped to where `T` is defined, and the lines that
were applied to `T`'s loops are applied to these. `T` is then kept for one iteration of `L` only. Legal where nothing
outside `L` reads `T`. An output is placed only where the boxes of different iterations have nothing in common, and a
recurrence only where every box is all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tdl.compiler.schedule.extremes import extreme_of
from tdl.compiler.schedule.names import find_loop
from tdl.compiler.schedule.races import conflict
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.regions import Region, region, show_box, touching
from tdl.compiler.schedule.sizes import constant_bytes
from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Memory, Nest, Node
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of, map_leaves, path_to, replace_loop
from tdl.language import forms
from tdl.language.forms import Form
from tdl.language.inequalities import Facts
from tdl.language.witness import size_facts

STACK_LIMIT = 32 * 1024


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a stage is computed: in the body of `loop`, over `box`."""

    tensors: tuple[str, ...]
    loop: Loop
    outer: Path
    box: Region


def compute_at(nest: Nest, tensor: str, loop: Loop, line: int = -1) -> Nest:
    """The nest with a stage computed in the body of a loop."""
    group = nest.groups[tensor]
    tensors = tuple(each for each, owner in nest.groups.items() if owner == group)
    _check_consumers(nest, tensors, tensor, loop)
    outer = path_to(nest.body, loop.symbol)
    reads = [each for each in touching(nest, loop, tensors) if nest.groups.get(_written(nest, each.leaf)) != group]
    results = list(dict.fromkeys(each.touch.tensor for each in reads))
    if len(results) > 1:
        raise Refusal(
            "placement", f"`{tensor}` is computed together with {_listed(results, tensor)}, and only as a whole"
        )
    box = region(nest, tensor, reads, outer)
    _check_recurrence(nest, tensor, box)
    return placed(nest, Placement(tensors, loop, outer, box), tensor, line)


def placed(nest: Nest, place: Placement, tensor: str, line: int) -> Nest:
    """The nest with the group's loops removed and made anew over the box, its own lines replayed."""
    group = nest.groups[tensor]
    facts = size_facts(nest.program)
    nodes = _over_box(nest, tensor, place, facts)
    removed = replace(nest, body=_without(nest, nest.body, set(place.tensors)))
    target = find_loop(removed, place.loop.label)
    body = _inserted(removed, target, nodes, place.tensors)
    result = replace(
        removed,
        body=replace_loop(removed.body, target.symbol, lambda old: (replace(old, body=body),)),
        buffers=_moved(nest, tensor, place, line),
        derivation={**nest.derivation, group: ()},
    )
    for rewrite in nest.derivation.get(group, ()):
        result = rewrite(result)
    result = replace(result, derivation=nest.derivation)
    _check_output(result, tensor, place)
    return result


# ---- whether it may be placed


def _check_consumers(nest: Nest, tensors: Sequence[str], tensor: str, loop: Loop) -> None:
    """All readers are in the loop's body, and none of the group's own stages is."""
    inside = {id(leaf) for _, leaf in leaves_of(loop.body)}
    own = {leaf.stage for _, leaf in leaves_of(nest.body) if _written(nest, leaf) in tensors}
    reading = [
        (path, leaf)
        for path, leaf in leaves_of(nest.body)
        if leaf.stage not in own and any(t.tensor in tensors and not t.is_write for t in touches(nest, leaf))
    ]
    if not reading:
        raise Refusal("placement", f"nothing reads `{tensor}`, so there is no box to compute", "it stays at root")
    outside = [leaf.stage for _, leaf in reading if id(leaf) not in inside]
    if outside:
        shared = _shared_loops([path for path, _ in reading])
        note = f"all readers are inside {', '.join(f'`{name}`' for name in shared)}" if shared else "it stays at root"
        raise Refusal("placement", f"`{outside[0]}`, outside of `{loop.name}`, reads `{tensor}` too", note)
    if own & {leaf.stage for _, leaf in leaves_of(loop.body)}:
        raise Refusal("placement", f"`{loop.name}` is a loop of `{tensor}` itself")


def _shared_loops(paths: Sequence[Path]) -> list[str]:
    """The loops around every one of several leaves."""
    common = [loop for loop in paths[0] if all(any(loop.symbol == each.symbol for each in path) for path in paths)]
    return [loop.name for loop in common]


def _check_recurrence(nest: Nest, tensor: str, box: Region) -> None:
    """A stage that reads itself is computed only whole."""
    reads_itself = any(
        touch.tensor == tensor and not touch.is_write
        for _, leaf in leaves_of(nest.body)
        if _written(nest, leaf) == tensor
        for touch in touches(nest, leaf)
    )
    whole = box.lo == tuple(forms.ZERO for _ in box.lo) and box.hi == nest.tensors[tensor].shape
    if reads_itself and not whole:
        message = f"`{tensor}` is a recurrence, and only part of it would be computed here"
        raise Refusal("placement", message, f"the box is {show_box(tensor, box)}")


def _check_output(nest: Nest, tensor: str, place: Placement) -> None:
    """An output's elements are each computed by one iteration."""
    if nest.tensors[tensor].role != "output":
        return
    for loop in place.outer:
        found = conflict(nest, find_loop(nest, loop.label))
        if found is not None and found.element.startswith(tensor):
            message = f"`{tensor}` is an output, and two iterations of `{loop.name}` would compute {found.element}"
            raise Refusal("placement", message, *found.sentences())


# ---- the nodes over the box


def _over_box(nest: Nest, tensor: str, place: Placement, facts: Facts) -> tuple[Node, ...]:
    """The group's first nodes with each loop over an axis of the tensor clipped to the box."""
    nodes = nest.base[nest.groups[tensor]]
    ends: dict[forms.Symbol, tuple[Form, Form]] = {}
    for _, leaf in leaves_of(nodes):
        stage = nest.stages[leaf.stage]
        at = dict(leaf.at)
        for target in stage.writes:
            if target.tensor != tensor:
                continue
            for coordinate, lo, hi in zip(target.coordinates, place.box.lo, place.box.hi):
                own = coordinate.symbol
                loop = at[own].symbol if own is not None and own in at else None
                if loop is not None:
                    ends[loop] = (lo, hi)
    binders = binders_of(place.outer)

    def clip(each: tuple[Node, ...]) -> tuple[Node, ...]:
        result: list[Node] = []
        for node in each:
            if isinstance(node, Leaf):
                result.append(node)
                continue
            lo, hi = node.lo, node.hi
            if node.symbol in ends:
                lo = extreme_of("max", [ends[node.symbol][0], lo], facts, binders)
                hi = extreme_of("min", [ends[node.symbol][1], hi], facts, binders)
            result.append(replace(node, lo=lo, hi=hi, body=clip(node.body)))
        return tuple(result)

    return _guarded(nest, tensor, place, clip(nodes))


def _guarded(nest: Nest, tensor: str, place: Placement, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Definitions of single elements run where the box holds them."""

    def guard(leaf: Leaf) -> tuple[Node, ...]:
        guards: list[Form] = []
        for target in nest.stages[leaf.stage].writes:
            if target.tensor != tensor:
                continue
            for coordinate, lo, hi in zip(target.coordinates, place.box.lo, place.box.hi):
                if coordinate.symbol is None or coordinate.symbol.kind != "index":
                    guards += [coordinate - lo, hi - coordinate - 1]
        kept = tuple(form for form in guards if not (form.is_constant and form.constant >= 0))
        return (replace(leaf, guards=(*leaf.guards, *kept)),)

    return map_leaves(nodes, guard)


def _without(nest: Nest, nodes: tuple[Node, ...], tensors: set[str]) -> tuple[Node, ...]:
    return map_leaves(nodes, lambda leaf: () if _written(nest, leaf) in tensors else (leaf,))


def _inserted(nest: Nest, loop: Loop, nodes: tuple[Node, ...], tensors: Sequence[str]) -> tuple[Node, ...]:
    """The loop's body with the nodes before the first that reads what they compute."""
    for position, node in enumerate(loop.body):
        if any(t.tensor in tensors for _, leaf in leaves_of((node,)) for t in touches(nest, leaf)):
            return (*loop.body[:position], *nodes, *loop.body[position:])
    return (*nodes, *loop.body)


def _moved(nest: Nest, tensor: str, place: Placement, line: int) -> dict[str, Buffer]:
    """The tensor kept for one iteration of the loop."""
    buffers = dict(nest.buffers)
    if nest.tensors[tensor].role == "output":
        return buffers
    bytes_ = constant_bytes(place.box.extents, nest.tensors[tensor].dtype)
    memory: Memory = "stack" if bytes_ is not None and bytes_ <= STACK_LIMIT else "arena"
    if all(extent == forms.constant(1) for extent in place.box.extents):
        memory = "register"
    buffers[tensor] = Buffer(tensor, memory, place.loop.symbol, place.box.lo, place.box.extents, line=line)
    return buffers


def _written(nest: Nest, leaf: Leaf) -> str:
    return nest.stages[leaf.stage].writes[0].tensor


def _listed(names: Sequence[str], without: str) -> str:
    return ", ".join(f"`{name}`" for name in names if name != without)
