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
from tdl.compiler.schedule.filled import fills_box
from tdl.compiler.schedule.owners import group_of, own_paths, owner_of
from tdl.compiler.schedule.races import conflict
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.regions import Region, Touching, region, show_box, touching
from tdl.compiler.schedule.replay import replayed, taken_out
from tdl.compiler.schedule.sizes import constant_bytes
from tdl.compiler.schedule.touches import Touch, own_touches, touches
from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Memory, Nest, Node
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of, map_leaves, path_to, replace_loop
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import is_known
from tdl.language.tree import Target
from tdl.language.witness import size_facts

STACK_LIMIT = 32 * 1024


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a group of stages is computed: in the body of the loop `at`, over `box`. `results` are what others read."""

    group: str
    results: tuple[str, ...]
    at: Symbol
    outer: Path
    box: Region


def compute_at(nest: Nest, tensor: str, loop: Loop, line: int = -1) -> Nest:
    """The nest with a stage computed in the body of a loop."""
    group = nest.groups[tensor]
    readers = _readers(nest, group)
    _check_consumers(nest, group, tensor, loop, readers)
    outer = path_to(nest.body, loop.symbol)
    results = tuple(dict.fromkeys(touch.tensor for _, _, touch in readers))
    box = _common_box(nest, group, results, loop, outer)
    return placed(nest, Placement(group, results, loop.symbol, outer, box), tensor, line)


def compute_at_root(nest: Nest, tensor: str) -> Nest:
    """The nest with a stage back where it was before any line placed it."""
    group = nest.groups[tensor]
    if nest.buffers[tensor].at is None and all(
        not path or owner_of(nest, path[0]) == group for path, _ in own_paths(nest, group)
    ):
        return nest
    bare, affected = taken_out(nest, group)
    position = next(p for p, node in enumerate(bare.body) if _touches(bare, node, group))
    body = (*bare.body[:position], *bare.base[group], *bare.body[position:])
    result = replayed(replace(bare, body=body), nest.log, affected, group)
    _check_sources(result, tensor, group)
    return result


def placed(nest: Nest, place: Placement, tensor: str, line: int) -> Nest:
    """The nest with the group's loops made anew over the box, and the lines that changed them applied again."""
    nodes = _over_box(nest, place)
    bare, affected = taken_out(nest, place.group)
    target = path_to(bare.body, place.at)[-1]
    body = _inserted(bare, target, nodes, place.group)
    result = replace(
        bare,
        body=replace_loop(bare.body, place.at, lambda old: (replace(old, body=body),)),
        buffers=_moved(bare, place, line),
    )
    result = replayed(result, nest.log, affected, place.group)
    _check_sources(result, tensor, place.group)
    for each in place.results:
        _check_output(result, each, place)
    return result


# ---- whether it may be placed

_Reading = tuple[Path, Leaf, Touch]


def _readers(nest: Nest, group: str) -> list[_Reading]:
    """What statements outside of a group read of it."""
    return [
        (path, leaf, touch)
        for path, leaf in leaves_of(nest.body)
        if group_of(nest, leaf) != group
        for touch in touches(nest, leaf)
        if not touch.is_write and nest.groups.get(touch.tensor) == group
    ]


def _check_consumers(nest: Nest, group: str, tensor: str, loop: Loop, readers: Sequence[_Reading]) -> None:
    """All readers are in the loop's body, and none of the group's own stages is."""
    if not readers:
        raise Refusal("placement", f"nothing reads `{tensor}`, so there is no box to compute", "it stays at root")
    inside = {id(leaf) for _, leaf in leaves_of(loop.body)}
    outside = [leaf.stage for _, leaf, _ in readers if id(leaf) not in inside]
    if outside:
        shared = _shared_loops([path for path, _, _ in readers])
        note = f"all readers are inside {', '.join(f'`{name}`' for name in shared)}" if shared else "it stays at root"
        raise Refusal("placement", f"`{outside[0]}`, outside of `{loop.name}`, reads `{tensor}` too", note)
    if group in {owner_of(nest, each) for each in path_to(nest.body, loop.symbol)}:
        raise Refusal("placement", f"`{loop.name}` is a loop of `{tensor}` itself")


def _shared_loops(paths: Sequence[Path]) -> list[str]:
    """The loops around every one of several leaves."""
    common = [loop for loop in paths[0] if all(any(loop.symbol == each.symbol for each in path) for path in paths)]
    return [loop.name for loop in common]


def _common_box(nest: Nest, group: str, results: Sequence[str], loop: Loop, outer: Path) -> Region:
    """The box that is read of the group's tensors; all of them, where one is not computed without the others."""
    nest = replace(nest, buffers={**nest.buffers, **{each: nest.first[each] for each in results}})
    reads = [each for each in touching(nest, loop, results) if group_of(nest, each.leaf) != group]
    first = results[0]
    boxes = [region(nest, each, [r for r in reads if r.touch.tensor == each], outer) for each in results]
    if all(_is_whole(nest, tensor, box) for tensor, box in zip(results, boxes)) and _share_a_shape(nest, group):
        return boxes[0]
    if _reads_itself(nest, group):
        message = f"`{first}` is a recurrence, and only part of it would be computed here"
        raise Refusal("placement", message, f"the box is {show_box(first, boxes[0])}")
    if not _share_coordinates(nest, group, results):
        others = ", ".join(f"`{each}`" for each in results[1:])
        raise Refusal("placement", f"`{first}` is computed together with {others}, and only as a whole")
    return region(nest, first, reads, outer)


def _is_whole(nest: Nest, tensor: str, box: Region) -> bool:
    return box.lo == tuple(forms.ZERO for _ in box.lo) and box.hi == nest.tensors[tensor].shape


def _reads_itself(nest: Nest, group: str) -> bool:
    """Whether a definition of the group reads what one of them writes, other than a reduction taken out of it."""
    program = nest.program.tensors
    return any(
        touch.tensor in program and nest.groups.get(touch.tensor) == group and not touch.is_write
        for _, leaf in own_paths(nest, group)
        for touch in own_touches(nest, leaf)
    )


def _share_a_shape(nest: Nest, group: str) -> bool:
    """Whether the group's tensors, but for reductions taken out of them, are of one shape: then one box fits all."""
    return (
        len(
            {
                nest.tensors[each].shape
                for each, owner in nest.groups.items()
                if owner == group and each in nest.first and nest.first[each].at is None
            }
        )
        == 1
    )


def _share_coordinates(nest: Nest, group: str, results: Sequence[str]) -> bool:
    """Whether every definition writes all of the results, at the same element."""
    for _, leaf in own_paths(nest, group):
        targets = [target for target in nest.stages[leaf.stage].writes if target.tensor in results]
        if targets and {target.coordinates for target in targets} != {targets[0].coordinates}:
            return False
        if targets and {target.tensor for target in targets} != set(results):
            return False
    return True


def _check_output(nest: Nest, tensor: str, place: Placement) -> None:
    """An output's elements are each computed by one iteration."""
    if nest.tensors[tensor].role != "output":
        return
    for loop in place.outer:
        found = conflict(nest, path_to(nest.body, loop.symbol)[-1], written=tensor)
        if found is not None:
            message = f"`{tensor}` is an output, and two iterations of `{loop.name}` would compute {found.element}"
            raise Refusal("placement", message, *found.sentences())
    if not _covers(nest, tensor, place):
        message = f"`{tensor}` is an output, and not all of it is seen to be computed in `{place.outer[-1].name}`"
        raise Refusal("placement", message, f"each iteration computes {show_box(tensor, place.box)}")


def _check_sources(nest: Nest, tensor: str, group: str) -> None:
    """What the stage reads is kept where it is now."""
    for path, leaf in own_paths(nest, group):
        around = {loop.symbol for loop in path}
        for touch in touches(nest, leaf):
            at = nest.buffers[touch.tensor].at
            if at is not None and at not in around:
                message = f"`{tensor}` reads `{touch.tensor}`, which is kept for an iteration of `{at}` only"
                raise Refusal("placement", message, f"place `{touch.tensor}` further out first")


def _covers(nest: Nest, tensor: str, place: Placement) -> bool:
    """Whether the boxes of all iterations together are the whole tensor."""
    box = place.box
    offsets = [Symbol(f"?{axis}", "index") for axis in range(len(box.lo))]
    inner = tuple(Loop("", "", each, forms.ZERO, extent, ()) for each, extent in zip(offsets, box.extents))
    element = tuple(lo + forms.symbol(each) for lo, each in zip(box.lo, offsets))
    access = Touching(Leaf("", ()), (*place.outer, *inner), Touch(tensor, element, True, ()))
    facts = size_facts(nest.program)
    still = [loop for loop in place.outer if not any(form.mentions(loop.symbol) for form in (*box.lo, *box.hi))]
    runs = all(is_known(loop.hi - loop.lo - 1, facts, binders_of(place.outer)) for loop in still)
    return runs and _is_whole(nest, tensor, region(nest, tensor, [access], ())) and fills_box(access, (), facts)


# ---- the nodes over the box


def _over_box(nest: Nest, place: Placement) -> tuple[Node, ...]:
    """The group's first nodes with each loop over an axis of its results clipped to the box."""
    nodes = nest.base[place.group]
    if all(_is_whole(nest, each, place.box) for each in place.results):
        return nodes
    ends = _clipped_ends(nest, place, nodes)
    facts, binders = size_facts(nest.program), binders_of(place.outer)

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

    return _guarded(nest, place, clip(nodes))


def _clipped_ends(nest: Nest, place: Placement, nodes: tuple[Node, ...]) -> dict[Symbol, tuple[Form, Form]]:
    """For each loop over an axis of the results, the box's ends on that axis."""
    ends: dict[Symbol, tuple[Form, Form]] = {}
    for _, leaf in leaves_of(nodes):
        at = dict(leaf.at)
        for target in _results_of(nest, leaf, place):
            for coordinate, lo, hi in zip(target.coordinates, place.box.lo, place.box.hi):
                own = coordinate.symbol
                if own is None or own not in at:
                    continue
                loop = at[own].symbol
                if loop is None:
                    message = f"`{own}` of `{target.tensor}` was split before its reduction was factored"
                    raise Refusal("placement", message, "compute it where it is used first, then factor")
                ends[loop] = (lo, hi)
    return ends


def _results_of(nest: Nest, leaf: Leaf, place: Placement) -> list[Target]:
    return [target for target in nest.stages[leaf.stage].writes if target.tensor in place.results]


def _guarded(nest: Nest, place: Placement, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Definitions of single elements run where the box holds them."""

    def guard(leaf: Leaf) -> tuple[Node, ...]:
        guards: list[Form] = []
        for target in _results_of(nest, leaf, place):
            for coordinate, lo, hi in zip(target.coordinates, place.box.lo, place.box.hi):
                if coordinate.symbol is None or coordinate.symbol.kind != "index":
                    guards += [coordinate - lo, hi - coordinate - 1]
        kept = tuple(form for form in dict.fromkeys(guards) if not (form.is_constant and form.constant >= 0))
        return (replace(leaf, guards=(*leaf.guards, *kept)),)

    return map_leaves(nodes, guard)


def _inserted(nest: Nest, loop: Loop, nodes: tuple[Node, ...], group: str) -> tuple[Node, ...]:
    """The loop's body with the nodes before the first that reads what they compute."""
    position = next(position for position, node in enumerate(loop.body) if _touches(nest, node, group))
    return (*loop.body[:position], *nodes, *loop.body[position:])


def _touches(nest: Nest, node: Node, group: str) -> bool:
    return any(nest.groups.get(t.tensor) == group for _, leaf in leaves_of((node,)) for t in touches(nest, leaf))


def _moved(nest: Nest, place: Placement, line: int) -> dict[str, Buffer]:
    """The results kept for one iteration of the loop."""
    buffers = dict(nest.buffers)
    for tensor, owner in nest.groups.items():
        if owner != place.group or nest.tensors[tensor].role == "output" or nest.first[tensor].at is not None:
            continue
        extents = place.box.extents
        bytes_ = constant_bytes(extents, nest.tensors[tensor].dtype, binders_of(place.outer), size_facts(nest.program))
        memory: Memory = "stack" if bytes_ is not None and bytes_ <= STACK_LIMIT else "arena"
        if all(extent == forms.constant(1) for extent in extents):
            memory = "register"
        old = buffers[tensor]
        buffers[tensor] = Buffer(tensor, memory, place.at, place.box.lo, extents, old.layout, line=line)
    return buffers
