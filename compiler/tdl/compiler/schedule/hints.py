"""Lines that change how fast a nest runs and nothing else.

stream Y                    stores of Y go past the caches: for results that nobody reads soon
prefetch W at k ahead 2     what the body of k touches of W is asked for two iterations before
double_buffer As            the copy As for the next iteration is made before this one's is used

Each is asked again at the end of the schedule, when loops and copies are what they will be: `check_hints`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tdl.compiler.schedule.ahead import lines_ahead
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.regions import touching
from tdl.compiler.schedule.single import drop_single_iterations
from tdl.compiler.schedule.touches import own_touches
from tdl.compiler.schedule.tree import Copy, Hint, Initial, Loop, Nest, Update
from tdl.compiler.schedule.walk import leaves_of, path_to


def stream(nest: Nest, tensor: str, line: int = -1) -> Nest:
    """Non-temporal stores of a tensor that is computed and kept in memory."""
    if not any(target.tensor == tensor for stage in nest.stages.values() for target in stage.writes):
        raise Refusal("schedule", f"nothing stores `{tensor}`", "`stream` is for results")
    buffer = nest.buffers.get(tensor)
    if buffer is not None and buffer.at is not None:
        message = f"`{tensor}` is kept near, for one iteration of a loop, and read again there"
        raise Refusal("schedule", message, "`stream` is for results that are read much later")
    return _with(nest, Hint("stream", tensor, line=line))


def prefetch(nest: Nest, tensor: str, loop: Loop, ahead: int, line: int = -1) -> Nest:
    """Ask for what iterations ahead will touch."""
    if ahead < 1:
        raise Refusal("schedule", f"a prefetch is at least 1 iteration ahead, not {ahead}")
    if not touching(nest, loop, [tensor]):
        raise Refusal("schedule", f"the body of `{loop.name}` does not touch `{tensor}`")
    if loop.kind != "serial":
        raise Refusal("schedule", f"`{loop.name}` is {loop.kind}: no iteration of it is ahead of another")
    return _with(nest, Hint("prefetch", tensor, loop.symbol, ahead, line))


def double_buffer(nest: Nest, tensor: str, line: int = -1) -> Nest:
    """Make a copy for the next iteration while this one's is used."""
    stage, buffer = nest.stages.get(tensor), nest.buffers.get(tensor)
    if stage is None or buffer is None or not isinstance(stage.work, Copy) or buffer.at is None:
        caches = [name for name, each in nest.stages.items() if isinstance(each.work, Copy) and name in nest.tensors]
        note = f"the copies here are {', '.join(f'`{name}`' for name in caches)}" if caches else "`cache` makes one"
        raise Refusal("schedule", f"`{tensor}` is not a copy made in a loop", note)
    if f"{tensor}.out" in nest.stages:
        raise Refusal("schedule", f"`{tensor}` is written back, so the next copy depends on this iteration")
    loop = path_to(nest.body, buffer.at)[-1]
    if loop.kind != "serial":
        raise Refusal("schedule", f"`{loop.name}` is {loop.kind}: it has no next iteration")
    return _with(nest, Hint("double_buffer", tensor, loop.symbol, 1, line))


def _with(nest: Nest, hint: Hint) -> Nest:
    return replace(nest, hints=(*nest.hints, hint))


# ---- at the end of the schedule


def check_hints(nest: Nest) -> Iterator[tuple[Hint, Refusal]]:
    """The hints that do not fit the nest as all lines left it, and why."""
    for hint in nest.hints:
        refusal = _refusal(nest, hint)
        if refusal is not None:
            yield hint, refusal


def _refusal(nest: Nest, hint: Hint) -> Refusal | None:
    try:
        _check(nest, hint)
    except Refusal as refusal:
        return refusal
    return None


def _check(nest: Nest, hint: Hint) -> None:
    match hint.kind:
        case "stream":
            _check_stream(nest, hint.tensor)
        case "prefetch":
            _check_loop(nest, hint)
            lines_ahead(nest, hint)
        case "double_buffer":
            _check_loop(nest, hint)
            _check_double(nest, hint)


def _check_loop(nest: Nest, hint: Hint) -> None:
    assert hint.loop is not None
    path = path_to(nest.body, hint.loop)
    if not path:
        raise Refusal("schedule", f"a later line takes the loop `{hint.loop}` away", f"`{hint.kind}` belongs behind it")
    if path[-1].kind != "serial":
        raise Refusal("schedule", f"a later line makes `{path[-1].name}` {path[-1].kind}: it has no next iteration")


def _check_stream(nest: Nest, tensor: str) -> None:
    """What is read again from memory should be near."""
    note = "`stream` is for results that are stored once, and read by nobody soon"
    final = with_initialisations(drop_single_iterations(nest))
    for _, leaf in leaves_of(final.body):
        work, through = final.stages[leaf.stage].work, dict(leaf.through)
        begins = isinstance(work, Initial) and any(each.tensor == tensor for each in work.targets)
        if begins and (tensor not in through or leaf.guards):  # in memory, or in the first iteration of several
            gather = f"`cache {tensor} at ... in register` gathers it near, if no loop over the sum is around"
            raise Refusal("schedule", f"`{tensor}` is accumulated in place, so it is read again", gather, note)
        if isinstance(work, Initial | Copy | Update):
            continue
        if any(touch.tensor == tensor and not touch.is_write for touch in own_touches(final, leaf)):
            raise Refusal("schedule", f"`{leaf.stage}` reads `{tensor}` again", note)


def _check_double(nest: Nest, hint: Hint) -> None:
    """The next copy is made before this iteration's work, so nothing of that work may be in it."""
    buffer, work = nest.buffers[hint.tensor], nest.stages[hint.tensor].work
    assert isinstance(work, Copy)
    assert hint.loop is not None
    loop = path_to(nest.body, hint.loop)[-1]
    if buffer.memory == "register":
        message = f"`{hint.tensor}` is in registers, which cannot be chosen by a loop's counter"
        raise Refusal("schedule", message, "`in stack` keeps it in memory")
    if buffer.at != hint.loop:
        raise Refusal("schedule", f"a later line keeps `{hint.tensor}` outside of `{loop.name}`")
    for path, leaf in leaves_of(loop.body):
        if leaf.stage == hint.tensor and leaf.stage in dict(leaf.through):
            nearer, name = dict(leaf.through)[leaf.stage], path[-1].label if path else loop.label
            message = f"`{hint.tensor}` is filled through `{nearer}`, which is kept in `{name}`"
            raise Refusal("schedule", message, "the next copy is made as a whole, before this iteration's work")
    sources = {work.source.tensor, *(name for _, leaf in leaves_of(loop.body) if leaf.stage == hint.tensor
                                     for _, name in leaf.through)}  # fmt: skip
    for each in touching(nest, loop, sources):
        if each.touch.is_write and each.leaf.stage != hint.tensor:
            message = f"the body of `{loop.name}` writes `{each.touch.tensor}`, which the next copy is made of"
            raise Refusal("schedule", message, f"`{each.leaf.stage}` would write it after it was copied")
