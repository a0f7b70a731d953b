"""Where tensors between definitions are computed: at their use if that costs little, in a row of it if it is all there.

e[i, j] = X[i, j] - m[i]      Y[i, j] = e[i, j] * 2             inline e
m[i] = max(X[i, j] for j)     Y[i, j] = X[i, j] / m[i]          compute m at Y.i
"""

from __future__ import annotations

from tdl.compiler.schedule.planner.cost import cost_of, work_of
from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.shapes import Shape, shapes_of
from tdl.compiler.schedule.tree import Store

_MORE = 1.05
"""How much more may be computed where it saves storing and reading again."""


def inlined(draft: Draft) -> Draft:
    """The draft with what is cheap computed where it is used."""
    for stage in [shape.name for shape in shapes_of(draft.nest)]:
        shapes = {shape.name: shape for shape in shapes_of(draft.nest)}
        if stage in shapes and _is_cheap(draft, shapes[stage], list(shapes.values())):
            draft = draft.line(f"inline {shapes[stage].tensor}", "costs less than it would to keep")
    return draft


def _is_cheap(draft: Draft, shape: Shape, shapes: list[Shape]) -> bool:
    """Whether computing at each use costs no more than computing once, a store and the reads."""
    tensor = draft.program.tensors.get(shape.tensor)
    if tensor is None or tensor.role != "intermediate" or not isinstance(shape.stage.work, Store):
        return False
    readers = [each for each in shapes if any(access.tensor == shape.tensor for access in each.accesses)]
    cost = sum(map(cost_of, shape.exprs))
    once = work_of(shape, draft.assumed)
    times = once // max(1, cost + shape.is_sum)
    again = sum(_reads(each, shape.tensor) * _times(draft, each) for each in readers)
    return again * cost <= once + times + again


def _reads(shape: Shape, tensor: str) -> int:
    return len({access for access in shape.accesses if access.tensor == tensor})


def _times(draft: Draft, shape: Shape) -> int:
    return work_of(shape, draft.assumed) // max(1, sum(map(cost_of, shape.exprs)) + shape.is_sum)


def total(draft: Draft) -> int:
    """What all of the draft's nest costs."""
    return sum(work_of(shape, draft.assumed) for shape in shapes_of(draft.nest))


def in_rows(draft: Draft, host: str, keep: frozenset[str]) -> Draft:
    """The draft with what `host` reads computed in its rows, where nothing is then computed twice; not `keep`."""
    shape = next((each for each in shapes_of(draft.nest) if each.name == host), None)
    if shape is None or not shape.own or shape.own[0][0] is not shape.path[0]:
        return draft
    place = shape.own[0][0].label
    for group in _producers(draft, place):
        if group not in keep:
            made = draft.must(f"compute {group} at {place}", "a row of it is used while it is near")
            if not made.is_refused and total(made) <= _MORE * total(draft):
                draft = made
    return draft


def _producers(draft: Draft, place: str) -> list[str]:
    """The tensors between, the last first, that stand at root."""
    nest = draft.nest
    roots = [shape for shape in shapes_of(nest) if shape.path and shape.path[0].label != place]
    groups = [nest.groups[shape.tensor] for shape in reversed(roots) if shape.tensor in nest.groups]
    return [each for each in dict.fromkeys(groups) if each not in draft.program.outputs]
