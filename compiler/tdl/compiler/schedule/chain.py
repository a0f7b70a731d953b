"""Perfect nests: loops that stand directly inside each other, with nothing beside them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Leaf, Loop, Nest
from tdl.compiler.schedule.walk import path_to


def perfect_chain(nest: Nest, loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """All loops from the outermost to the innermost of those given, or a refusal that names what stands between."""
    paths = {loop.symbol: path_to(nest.body, loop.symbol) for loop in loops}
    deepest = max(paths.values(), key=len)
    on_path = {loop.symbol for loop in deepest}
    for loop in loops:
        if loop.symbol not in on_path:
            message = f"`{loop.name}` and `{deepest[-1].name}` are not nested in each other"
            raise Refusal("schedule", message)
    first = min(len(path) for path in paths.values()) - 1
    chain = deepest[first:]
    for outer, inner in pairwise(chain):
        if len(outer.body) > 1:
            beside = next(node for node in outer.body if not (isinstance(node, Loop) and node.symbol == inner.symbol))
            what = beside.stage if isinstance(beside, Leaf) else f"the loop `{beside.label}` of stage `{beside.stage}`"
            message = f"`{outer.name}` and `{inner.name}` are not perfectly nested: {what} stands between them"
            raise Refusal("schedule", message)
    return chain
