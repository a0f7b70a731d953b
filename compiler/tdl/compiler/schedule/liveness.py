"""What a copy made in a loop's body must bring in, and whether it must be written back.

An element comes from outside where the body reads it and has not certainly written it before, in the same iteration:
an update that began outside of the loop, or a recurrence's earlier element. What is written goes back where anything
outside of this iteration sees it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tdl.compiler.schedule.extremes import extreme_of
from tdl.compiler.schedule.filled import fills_box
from tdl.compiler.schedule.regions import Touching, region
from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Copy, Loop, Nest, Update
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of
from tdl.language.witness import size_facts


def comes_in(nest: Nest, tensor: str, accesses: Sequence[Touching], outer: Path) -> list[Touching]:
    """The accesses in a body whose values may come from outside of this iteration; `accesses` are in running order."""
    found: list[Touching] = []
    for position, each in enumerate(accesses):
        if each.touch.is_write:
            if _is_begun_outside(nest, each):
                found.append(each)
        elif updates := _updates_of_copy(nest, each, outer[-1]):
            found += [each] if any(_is_begun_outside(nest, update) for update in updates) else []
        elif not any(_covers(nest, tensor, writer, each, outer) for writer in accesses[:position]):
            found.append(each)
    return found


def goes_out(nest: Nest, tensor: str, loop: Loop, incoming: Sequence[Touching]) -> bool:
    """Whether anything outside of an iteration of the loop sees what the body writes."""
    if nest.tensors[tensor].role == "output":
        return True
    if nest.buffers[tensor].at == loop.symbol:
        return False
    inside = {id(leaf) for _, leaf in leaves_of(loop.body)}
    return bool(incoming) or any(
        touch.tensor == tensor and not touch.is_write
        for _, leaf in leaves_of(nest.body)
        if id(leaf) not in inside
        for touch in touches(nest, leaf)
    )


def _is_begun_outside(nest: Nest, each: Touching) -> bool:
    """Whether some loop of an update's reduction stands around the body, so that partial results come in."""
    stage = nest.stages[each.leaf.stage]
    if not isinstance(stage.work, Update):
        return False
    reduced = {binder.index for binder in stage.reduction}
    inside = {loop.symbol for loop in each.inside}
    loops = {s for own, form in each.leaf.at if own in reduced for s in form.symbols() if s.kind == "index"}
    return not loops <= inside


def _updates_of_copy(nest: Nest, reader: Touching, loop: Loop) -> list[Touching]:
    """The updates whose partial results a copy inside brings in: what these bring in matters, not the copy."""
    if not isinstance(nest.stages[reader.leaf.stage].work, Copy):
        return []
    found: list[Touching] = []
    for path, leaf in leaves_of(loop.body):
        stage = nest.stages[leaf.stage]
        near = {through for tensor, through in leaf.through if tensor in {target.tensor for target in stage.writes}}
        if isinstance(stage.work, Update) and reader.leaf.stage in near:
            found.append(Touching(leaf, path, reader.touch))
    return found


def _covers(nest: Nest, tensor: str, writer: Touching, reader: Touching, outer: Path) -> bool:
    """Whether a statement before has written all that another reads, each time that this one runs."""
    if not writer.touch.is_write or writer.touch.where or writer.leaf is reader.leaf:
        return False
    shared = _shared(writer.inside, reader.inside)
    around = (*outer, *shared)
    facts = size_facts(nest.program)
    binders = binders_of(around)
    inner = [Touching(each.leaf, each.inside[len(shared) :], each.touch) for each in (writer, reader)]
    if not fills_box(inner[0], around, facts):
        return False
    written, read = (region(nest, tensor, [each], around) for each in inner)
    return all(extreme_of("min", [a, b], facts, binders) == a for a, b in zip(written.lo, read.lo)) and all(
        extreme_of("max", [a, b], facts, binders) == a for a, b in zip(written.hi, read.hi)
    )


def _shared(path: Path, other: Path) -> Path:
    count = 0
    for a, b in zip(path, other):
        if a.symbol != b.symbol:
            break
        count += 1
    return path[:count]
