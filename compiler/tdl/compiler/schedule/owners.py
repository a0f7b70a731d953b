"""Whose loops are whose: a group of stages owns its own loops, and those of the copies made in them.

A guest of a group is what lives in the group's loops without being of it: a stage that is computed there, a copy.
"""

from __future__ import annotations

from tdl.compiler.schedule.tree import Copy, Leaf, Loop, Nest, Stage
from tdl.compiler.schedule.walk import Path, leaves_of, path_to


def group_of(nest: Nest, leaf: Leaf) -> str | None:
    """The group of a statement; None for a copy."""
    return _group(nest, nest.stages.get(leaf.stage))


def owner_of(nest: Nest, loop: Loop) -> str | None:
    """The group whose loop it is; of a copy's loop, that of the loop around."""
    for each in reversed(path_to(nest.body, loop.symbol)):
        group = _group(nest, nest.stages.get(each.stage))
        if group is not None:
            return group
    return None


def is_accumulator(nest: Nest, tensor: str) -> bool:
    """Whether it is a reduction taken out of a definition: gathered in a register where the definition uses it."""
    return tensor in nest.first and tensor not in nest.program.tensors and nest.groups[tensor] in nest.program.tensors


def guests_of(nest: Nest, group: str) -> tuple[list[str], list[str]]:
    """The groups that are computed in a group's loops, in the order of the program, and the copies made there."""
    inside = [leaf for path, leaf in leaves_of(nest.body) if any(_group_of_loop(nest, loop) == group for loop in path)]
    groups = {group_of(nest, leaf) for leaf in inside} - {group, None}
    copies = [leaf.stage for leaf in inside if group_of(nest, leaf) is None]
    return [each for each in nest.base if each in groups], list(dict.fromkeys(copies))


def own_paths(nest: Nest, group: str) -> list[tuple[Path, Leaf]]:
    """The statements of a group, with the loops around them."""
    return [(path, leaf) for path, leaf in leaves_of(nest.body) if group_of(nest, leaf) == group]


def _group_of_loop(nest: Nest, loop: Loop) -> str | None:
    return _group(nest, nest.stages.get(loop.stage))


def _group(nest: Nest, stage: Stage | None) -> str | None:
    if stage is None or isinstance(stage.work, Copy):
        return None
    return nest.groups.get(stage.writes[0].tensor)
