"""Stages taken out of a nest, and the lines that were applied to them applied again.

A placement makes a stage's loops anew, over a box. What earlier lines did to those loops, and what they put into them,
is done again there:

    split T.i by 4 -> io, ii        compute T at L        the box's loop T.i is split by 4,
    compute S at io                                       and S computed in its io
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from tdl.compiler.schedule.owners import group_of, guests_of
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Copy, Logged, Nest, Node, Stage
from tdl.compiler.schedule.walk import leaves_of, map_leaves


def taken_out(nest: Nest, group: str) -> tuple[Nest, frozenset[str]]:
    """The nest without a group's statements, and the groups that have to be made anew.

    Its guests are computed at root again, as before any line; copies in its loops are gone.
    """
    guests, copies = guests_of(nest, group)
    affected = frozenset((group, *guests))
    position = next(p for p, node in enumerate(nest.body) if _has(nest, node, affected))
    kept = [_without(nest, (node,), affected, copies) for node in nest.body]
    restored = [node for each in guests for node in nest.base[each]]
    body = [node for nodes in kept[:position] for node in nodes] + restored
    body += [node for nodes in kept[position:] for node in nodes]
    names = {name for copy in copies for name in (copy, copy.removesuffix(".out"))}
    own = [name for name, owner in nest.groups.items() if owner in affected]
    first = {name: replace(nest.first[name], layout=nest.buffers[name].layout) for name in own if name in nest.first}
    names.update(name for name in own if name not in nest.first)  # partial results, made when the line is applied again
    stages = {
        name: nest.origin.get(name, stage) if _is_of(nest, stage, affected) else stage
        for name, stage in nest.stages.items()
    }
    return (
        replace(
            nest,
            body=tuple(body),
            tensors={name: tensor for name, tensor in nest.tensors.items() if name not in names},
            buffers={name: buffer for name, buffer in {**nest.buffers, **first}.items() if name not in names},
            stages={name: stage for name, stage in stages.items() if name not in names and name not in copies},
            groups={name: owner for name, owner in nest.groups.items() if name not in names},
        ),
        affected,
    )


def replayed(nest: Nest, log: tuple[Logged, ...], affected: Collection[str], subject: str) -> Nest:
    """The nest after what the log did to the groups, but for what it did with `subject` as a whole."""
    own = [each for each in log if not each.groups.isdisjoint(affected) and each.subject != subject]
    nest = replace(nest, log=tuple(each for each in log if each.groups.isdisjoint(affected)))
    for entry in own:
        try:
            nest = entry.rewrite(nest)
        except Refusal as refusal:
            message = f"line {entry.line + 1}, which changed loops of `{subject}`, cannot be applied to them there"
            raise Refusal("placement", message, refusal.message, *refusal.notes) from None
        nest = replace(nest, log=(*nest.log, entry))
    left = {id(each) for each in nest.log}
    return replace(nest, log=tuple(each for each in log if id(each) in left))


def _is_of(nest: Nest, stage: Stage, groups: Collection[str]) -> bool:
    return not isinstance(stage.work, Copy) and nest.groups.get(stage.writes[0].tensor) in groups


def _has(nest: Nest, node: Node, groups: Collection[str]) -> bool:
    return any(group_of(nest, leaf) in groups for _, leaf in leaves_of((node,)))


def _without(nest: Nest, nodes: tuple[Node, ...], groups: Collection[str], copies: Collection[str]) -> tuple[Node, ...]:
    return map_leaves(nodes, lambda leaf: () if group_of(nest, leaf) in groups or leaf.stage in copies else (leaf,))
