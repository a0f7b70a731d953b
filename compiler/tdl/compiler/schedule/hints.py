"""Lines that change how fast a nest runs and nothing else.

stream Y                    stores of Y go past the caches: for results that nobody reads soon
prefetch W at k ahead 2     what the body of k touches of W is asked for two iterations before
double_buffer As            the copy As for the next iteration is made while the one before is used
"""

from __future__ import annotations

from dataclasses import replace

from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.regions import touching
from tdl.compiler.schedule.tree import Copy, Hint, Loop, Nest
from tdl.compiler.schedule.walk import path_to


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
