"""The nest of an op without a schedule: the lines that are free, and never hurt.

A reduction that is the whole of its definition goes outside of the loop over the last axis, where that loop walks
memory more kindly than the reduction's own do:

    for i in 0..M                           for i in 0..M
        for j in 0..N                           for k in 0..K
            for k in 0..K              ->           for j in 0..N
                C[i, j] += A[i,k]*B[k,j]                C[i, j] += A[i, k]*B[k, j]
"""

from __future__ import annotations

from tdl.compiler.schedule.contiguity import prefers_inside
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.reorder import reorder
from tdl.compiler.schedule.start import start
from tdl.compiler.schedule.sweeps import loop_order
from tdl.compiler.schedule.tree import Loop, Nest, Stage, Update
from tdl.compiler.schedule.walk import leaves_of
from tdl.language.tree import Program, Reduce


def automatic_nest(program: Program) -> Nest:
    """The nest that runs a program where nobody says how."""
    nest = start(program)
    for stage in nest.stages.values():
        loops = _inner_loops(nest, stage)
        if loops:
            nest = _moved_inside(nest, loops)
    return nest


def _inner_loops(nest: Nest, stage: Stage) -> list[Loop]:
    """The loop over the last axis and those of the reduction, where the former had better be inside; else none."""
    definition = next((each for each in nest.program.definitions if each.number == stage.definition), None)
    if definition is None or not isinstance(stage.work, Update) or not isinstance(definition.value, Reduce):
        return []
    (path, leaf), *others = [(path, leaf) for path, leaf in leaves_of(nest.body) if leaf.stage == stage.name]
    own = [loop for loop in path if loop.stage == stage.name]
    last = len(own) - len(stage.reduction) - 1
    binders = loop_order(definition)
    if others or leaf.guards or last < 0 or own[last].name != binders[-1].index.name:
        return []
    return own[last:] if prefers_inside(definition, definition.value, binders) else []


def _moved_inside(nest: Nest, loops: list[Loop]) -> Nest:
    try:
        return reorder(nest, [*loops[1:], loops[0]])
    except Refusal:
        return nest
