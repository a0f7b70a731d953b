"""Reductions with several values or an order: `argmax`, `argmin`, and reducers of the user's.

Each block is folded as a tree of neighbours, then the blocks in order: the first best key in binder order wins, and the
user's promise of associativity allows any tree. An identity is used only where there is nothing to fold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from tdl.language.arithmetic import Value
from tdl.language.arrays import Array
from tdl.language.evaluate.boxes import binder_blocks
from tdl.language.evaluate.integers import Evaluator
from tdl.language.evaluate.lanes import Lanes
from tdl.language.tree import Reduce, Reducer

Merge: TypeAlias = Callable[[tuple[Array, ...], tuple[Array, ...], "Array | None"], tuple[Array, ...]]
"""Merges earlier values with later ones, in the lanes of a mask (None: all)."""


@dataclass(frozen=True, slots=True)
class Part:
    """Partial values of a reduction, one array each. `found` says in which lanes there is any (None: in all)."""

    values: tuple[Array, ...]
    found: Array | None


def folded(
    node: Reduce, outer: Lanes, evaluate: Evaluator, merge: Merge, identity: tuple[Value, ...]
) -> tuple[Value, ...]:
    """The reduction's values in the outer lanes; the identity where nothing is reduced."""
    whole: Part | None = None
    for lanes in binder_blocks(node, outer, evaluate):
        values = tuple(evaluate(each, lanes) for each in node.args)
        part = _tree(_flat(values, lanes, len(node.binders)), merge)
        whole = part if whole is None else _merged(whole, part, merge)
    if whole is None:
        return identity
    if whole.found is None:
        return whole.values
    return tuple(np.where(whole.found, value, none) for value, none in zip(whole.values, identity))


def best(better: np.ufunc) -> Merge:
    """The merge of argmax and argmin: the later values win only with a better key; NaN is better than any number."""

    def merge(left: tuple[Array, ...], right: tuple[Array, ...], _: Array | None) -> tuple[Array, ...]:
        old, new = left[0], right[0]
        wins = better(new, old) | ((new != new) & (old == old))
        return tuple(np.where(wins, late, early) for early, late in zip(left, right))

    return merge


def combine(reducer: Reducer, outer: Lanes, evaluate: Evaluator) -> Merge:
    """The merge of a user's reducer: its combine, where both sides have something."""

    def merge(left: tuple[Array, ...], right: tuple[Array, ...], both: Array | None) -> tuple[Array, ...]:
        names = dict(zip((*reducer.left, *reducer.right), (*left, *right)))
        shape = np.broadcast_shapes(*(value.shape for value in (*left, *right)), () if both is None else both.shape)
        lanes = Lanes(outer.memory, shape, both, outer.symbols, names)
        if not lanes.is_active:
            return left
        return tuple(np.broadcast_to(evaluate(each, lanes), shape) for each in reducer.combine)

    return merge


def _flat(values: tuple[Value, ...], lanes: Lanes, binders: int) -> Part:
    """The values with the binder axes in full and made one, in binder order."""
    outer = (1,) * (len(lanes.shape) - binders)
    shapes = [np.shape(value) for value in values] + ([] if lanes.mask is None else [lanes.mask.shape])
    shape = np.broadcast_shapes(lanes.shape[:binders] + outer, *shapes)

    def flat(value: Value) -> Array:
        return np.broadcast_to(value, shape).reshape(prod(shape[:binders]), *shape[binders:])

    return Part(tuple(map(flat, values)), None if lanes.mask is None else flat(lanes.mask))


def _tree(part: Part, merge: Merge) -> Part:
    """The part folded along its first axis: neighbours are merged until one is left."""
    while (length := len(part.values[0])) > 1:
        last = length - length % 2
        merged = _merged(_at(part, slice(0, last, 2)), _at(part, slice(1, last, 2)), merge)
        part = merged if last == length else _joined(merged, _at(part, slice(last, None)))
    return _at(part, 0)


def _at(part: Part, key: int | slice) -> Part:
    return Part(tuple(value[key] for value in part.values), None if part.found is None else part.found[key])


def _joined(first: Part, second: Part) -> Part:
    values = tuple(np.concatenate(pair) for pair in zip(first.values, second.values))
    if first.found is None or second.found is None:
        return Part(values, None)
    return Part(values, np.concatenate((first.found, second.found)))


def _merged(left: Part, right: Part, merge: Merge) -> Part:
    """Both parts as one, the left one earlier in order; merged only in lanes where both have something."""
    if left.found is None and right.found is None:
        return Part(merge(left.values, right.values, None), None)
    has_left = np.True_ if left.found is None else left.found
    has_right = np.True_ if right.found is None else right.found
    both = np.asarray(has_left & has_right)
    merged = merge(left.values, right.values, both)
    chosen = (
        np.where(both, new, np.where(has_left, old, late)) for new, old, late in zip(merged, left.values, right.values)
    )
    return Part(tuple(chosen), np.asarray(has_left | has_right))
