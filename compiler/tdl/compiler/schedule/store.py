"""Keep a placed stage longer than one iteration of the loop it is computed at, and fold what is kept into a ring.

    compute T at L, store T at M      T is kept for one iteration of M, around L. What an earlier iteration of L has
                                      computed is not computed again: from the second on, L's body computes only what
                                      its box has beyond the box before (a sliding window)
    fold T.t by n                     only n elements along t are kept, element t in place t % n

Legal where the loops from M to L run in order. A ring must hold, at any time, all that is still to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tdl.compiler.schedule.bounds import greatest_value
from tdl.compiler.schedule.compute import STACK_LIMIT
from tdl.compiler.schedule.extremes import simplified
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.regions import Region, Touching, region, show_box, touching
from tdl.compiler.schedule.sizes import constant_bytes
from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Buffer, Loop, Memory, Nest, Node
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of
from tdl.language import forms
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.proof import holds
from tdl.language.witness import size_facts


def store_at(nest: Nest, tensor: str, place: Loop, line: int = -1) -> Nest:
    """The nest with a stage's storage in the body of a loop around the one it is computed at."""
    buffer = nest.buffers[tensor]
    if buffer.at is None:
        raise Refusal(
            "placement",
            f"`{tensor}` is computed at root and kept for the whole op",
            f"`compute {tensor} at` comes first",
        )
    outer, reads = computed_at(nest, tensor)
    loop = outer[-1]
    if place.symbol not in {each.symbol for each in outer}:
        around = ", ".join(f"`{each.name}`" for each in outer)
        raise Refusal(
            "placement",
            f"`{place.name}` is not around `{loop.name}`, where `{tensor}` is computed",
            f"these are: {around}",
        )
    if place.symbol == loop.symbol:
        return nest
    between = outer[[each.symbol for each in outer].index(place.symbol) + 1 :]
    for each in between:
        if each.kind not in ("serial", "unrolled"):
            message = f"`{each.name}` is {each.kind}, and `{tensor}` would be shared by its iterations"
            raise Refusal("placement", message, "a window slides over iterations that run in order")
    inner_box = region(nest, tensor, reads, outer)
    around_place = outer[: len(outer) - len(between)]
    whole = region(nest, tensor, [replace(each, inside=(*between, *each.inside)) for each in reads], around_place)
    bytes_ = constant_bytes(whole.extents, nest.tensors[tensor].dtype)
    memory: Memory = "stack" if bytes_ is not None and bytes_ <= STACK_LIMIT else "arena"
    kept = Buffer(tensor, memory, place.symbol, whole.lo, whole.extents, buffer.layout, buffer.ring, line)
    result = replace(nest, buffers={**nest.buffers, tensor: kept})
    return _sliding(result, tensor, loop, inner_box, between)


def _sliding(nest: Nest, tensor: str, loop: Loop, box: Region, between: tuple[Loop, ...]) -> Nest:
    """The stage's loops from what the iteration before had computed, along the one axis that moves with `loop`."""
    if len(between) > 1 and any(form.mentions(each.symbol) for each in between[:-1] for form in (*box.lo, *box.hi)):
        return nest
    moving = [axis for axis, lo in enumerate(box.lo) if lo.mentions(loop.symbol) or box.hi[axis].mentions(loop.symbol)]
    if len(moving) != 1:
        return nest
    axis = moving[0]
    first = forms.symbol(loop.symbol) - loop.lo
    before = {loop.symbol: forms.symbol(loop.symbol) - 1}
    lo, hi = box.lo[axis], box.hi[axis]
    done = simplified(forms.substitute(hi, before) - lo, size_facts(nest.program), binders_of((loop,)))
    most = greatest_value(hi - lo)
    if most is None or not _moves_up(nest, lo, hi, loop):
        return nest
    skip = forms.extreme("max", forms.ZERO, forms.extreme("min", first * most, done))
    return _shifted(nest, tensor, axis, lo, lo + skip)


def _moves_up(nest: Nest, lo: Form, hi: Form, loop: Loop) -> bool:
    """Whether the box only ever moves towards greater elements."""
    after = {loop.symbol: forms.symbol(loop.symbol) + 1}
    facts = size_facts(nest.program)
    domain = Domain(binders_of((loop,)))
    return all(holds(forms.substitute(end, after) - end, facts, domain) for end in (lo, hi))


def _shifted(nest: Nest, tensor: str, axis: int, old: Form, new: Form) -> Nest:
    """The stage's loop over an axis begun later."""
    symbols: set[Symbol] = set()
    for _, leaf in leaves_of(nest.body):
        stage = nest.stages[leaf.stage]
        for target in stage.writes:
            own = target.coordinates[axis].symbol if target.tensor == tensor else None
            if own is not None and dict(leaf.at).get(own) is not None:
                symbols.update(s for s in dict(leaf.at)[own].symbols() if s.kind == "index")

    def change(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        result: list[Node] = []
        for node in nodes:
            if isinstance(node, Loop):
                lo = new if node.symbol in symbols and node.lo == old else node.lo
                node = replace(node, lo=lo, body=change(node.body))
            result.append(node)
        return tuple(result)

    return replace(nest, body=change(nest.body))


def fold(nest: Nest, tensor: str, axis: int, count: int, line: int = -1) -> Nest:
    """The nest with a ring of `count` elements along one axis of a placed stage's storage."""
    if count < 1:
        raise Refusal("placement", f"a ring has at least 1 element, not {count}")
    buffer = nest.buffers[tensor]
    if buffer.at is None:
        raise Refusal("placement", f"`{tensor}` is not placed in a loop", f"`compute {tensor} at` comes first")
    outer, reads = computed_at(nest, tensor)
    computed = outer[-1]
    box = region(nest, tensor, reads, outer)
    facts, domain = size_facts(nest.program), Domain(binders_of(outer))
    if not holds(forms.constant(count) - (box.hi[axis] - box.lo[axis]), facts, domain):
        most = greatest_value(box.extents[axis])
        note = f"`fold ... by {most}` holds it" if most is not None else f"the box is {show_box(tensor, box)}"
        need = box.extents[axis]
        message = f"a ring of {count} does not hold the {need} elements that an iteration of `{computed.name}` reads"
        raise Refusal("placement", message, note)
    if not _moves_up(nest, box.lo[axis], box.hi[axis], computed):
        raise Refusal("placement", f"what `{computed.name}` reads of `{tensor}` does not move one way along this axis")
    extents = tuple(forms.constant(count) if a == axis else extent for a, extent in enumerate(buffer.extents))
    bytes_ = constant_bytes(extents, nest.tensors[tensor].dtype)
    memory: Memory = "stack" if bytes_ is not None and bytes_ <= STACK_LIMIT else "arena"
    ring = (*buffer.ring, (axis, count))
    folded = replace(buffer, ring=ring, extents=extents, memory=memory, line=line)
    return replace(nest, buffers={**nest.buffers, tensor: folded})


def computed_at(nest: Nest, tensor: str) -> tuple[Path, list[Touching]]:
    """The loops that a stage shares with all its readers, and what is read of it inside."""
    own, reading = [], []
    for path, leaf in leaves_of(nest.body):
        written = {target.tensor for target in nest.stages[leaf.stage].writes}
        if tensor in written:
            own.append(path)
        elif any(touch.tensor == tensor and not touch.is_write for touch in touches(nest, leaf)):
            reading.append(path)
    shared = _common([*own, *reading]) if own and reading else ()
    if not shared:
        raise Refusal("placement", f"`{tensor}` is not placed in a loop", f"`compute {tensor} at` comes first")
    reads = [each for each in touching(nest, shared[-1], [tensor]) if not _writes(nest, each, tensor)]
    return shared, reads


def _writes(nest: Nest, each: Touching, tensor: str) -> bool:
    return any(target.tensor == tensor for target in nest.stages[each.leaf.stage].writes)


def _common(paths: Sequence[Path]) -> Path:
    """The loops that all paths begin with."""
    shared: list[Loop] = []
    for loops in zip(*paths):
        if len({loop.symbol for loop in loops}) > 1:
            break
        shared.append(loops[0])
    return tuple(shared)
