"""Which loops run on several threads: the outermost that may, of all that is worth waking them for."""

from __future__ import annotations

from tdl.compiler.schedule.planner.cost import work_in
from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.shapes import extent
from tdl.compiler.schedule.tree import Loop
from tdl.compiler.schedule.walk import loops_of, path_to

WORTH = 60_000
"""Operations that take some ten microseconds: a region of threads costs half of one."""


def in_parallel(draft: Draft) -> Draft:
    """The draft with a parallel loop in each of the nest's parts that has enough to do."""
    for label in [node.label for node in draft.nest.body if isinstance(node, Loop)]:
        node = draft.loop(label)
        if node is not None and not any(loop.kind == "parallel" for loop in loops_of((node,))):
            draft = _one(draft, node)
    return draft


def _one(draft: Draft, node: Loop) -> Draft:
    work = work_in(draft.nest, (node,), draft.assumed)
    for loop in _chain(node):
        if work < WORTH:
            return draft
        count = extent(loop, path_to(draft.nest.body, loop.symbol), draft.assumed)
        if loop.kind == "serial" and count > 1:
            reason = f"{count} parts of about {_rounded(work // count)} operations"
            made = draft.must(f"parallel {draft.name(loop)}", reason)
            if not made.is_refused:
                return made
            work //= count  # an order that must be kept: threads meet in each of its iterations
    return draft


def _rounded(number: int) -> str:
    """Two digits of a number, and zeros for the rest."""
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{number // unit * unit:,}"


def _chain(node: Loop) -> list[Loop]:
    """A loop and those inside it, as long as there is one."""
    found = [node]
    while len(found[-1].body) == 1 and isinstance(found[-1].body[0], Loop):
        found.append(found[-1].body[0])
    return found
