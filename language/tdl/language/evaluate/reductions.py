"""Reductions: the binders run block by block, each block is reduced along its binder axes, and the results combined.

A float sum accumulates in the reduction's own type. Empty reductions give the identities. `argmax` and `argmin` keep
the first best key in binder order. These, and a reducer of the user's, are folded as a tree over each block, in order;
the user's promise of associativity allows that. An identity is used only where there is nothing to fold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from tdl.language.arithmetic import Value, convert, number, widen
from tdl.language.arrays import Array
from tdl.language.dtypes import F32, DType, Type
from tdl.language.evaluate.boxes import blocks
from tdl.language.evaluate.integers import Evaluator
from tdl.language.evaluate.lanes import Lanes
from tdl.language.tree import Reduce, Reducer

_UFUNCS: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "any": np.logical_or,
    "all": np.logical_and,
}


Merge: TypeAlias = Callable[[tuple[Array, ...], tuple[Array, ...], "Array | None"], tuple[Array, ...]]
"""Merges earlier values with later ones, in the lanes of a mask (None: all)."""


@dataclass(frozen=True, slots=True)
class Part:
    """Partial values of a reduction, one array each. `found` says in which lanes there is any (None: in all)."""

    values: tuple[Array, ...]
    found: Array | None


def reduced(node: Reduce, outer: Lanes, evaluate: Evaluator) -> tuple[Value, ...]:
    """The reduction's values in the outer lanes, as many as it has arguments."""
    if node.reducer.is_builtin and node.reducer.name in _UFUNCS:
        return (_accumulated(node, outer, evaluate),)
    merge = _BETTER[node.reducer.name] if node.reducer.is_builtin else _combine(node.reducer, outer, evaluate)
    whole: Part | None = None
    for lanes in _filtered(node, outer, evaluate):
        values = tuple(evaluate(each, lanes) for each in node.args)
        part = _folded(_flat(values, lanes, len(node.binders)), merge)
        whole = part if whole is None else _merged(whole, part, merge)
    identity = _identity(node.reducer, outer, evaluate)
    if whole is None:
        return identity
    if whole.found is None:
        return whole.values
    return tuple(np.where(whole.found, value, none) for value, none in zip(whole.values, identity))


def _filtered(node: Reduce, outer: Lanes, evaluate: Evaluator) -> Iterator[Lanes]:
    for lanes in blocks(node.binders, outer, evaluate):
        inside = lanes if node.filter is None else lanes.where(evaluate(node.filter, lanes))
        if inside.is_active:
            yield inside


# ---- sum, prod, max, min, any, all


def _accumulated(node: Reduce, outer: Lanes, evaluate: Evaluator) -> Value:
    dtype = node.reducer.dtypes[0]
    ufunc = _UFUNCS[node.reducer.name]
    wide = F32 if isinstance(dtype, DType) and dtype.is_half else dtype
    identity = number(_IDENTITIES[node.reducer.name](wide), wide)
    total: Value = identity
    for lanes in _filtered(node, outer, evaluate):
        value = widen(evaluate(node.args[0], lanes), dtype)
        if lanes.mask is not None:
            value = np.where(lanes.mask, value, identity)
        total = ufunc(total, _along_binders(ufunc, np.asarray(value), lanes.shape, len(node.binders)))
    return convert(total, wide, dtype)


def _along_binders(ufunc: np.ufunc, value: Array, shape: tuple[int, ...], binders: int) -> Array:
    """The value reduced along the first `binders` axes of the lanes, in its own dtype."""
    own = (1,) * (len(shape) - value.ndim) + value.shape
    spread = np.broadcast_to(value.reshape(own), shape[:binders] + own[binders:])
    if prod(shape[:binders]) == 1:
        return spread.reshape(own[binders:])
    reduced: Array = ufunc.reduce(spread, axis=tuple(range(binders)), dtype=value.dtype)
    return reduced


def _least(dtype: Type) -> Any:
    assert isinstance(dtype, DType)
    return -np.inf if dtype.is_float else dtype.least


def _greatest(dtype: Type) -> Any:
    assert isinstance(dtype, DType)
    return np.inf if dtype.is_float else dtype.greatest


_IDENTITIES: dict[str, Callable[[Type], Any]] = {
    "sum": lambda _: 0,
    "prod": lambda _: 1,
    "max": _least,
    "min": _greatest,
    "argmax": _least,
    "argmin": _greatest,
    "any": lambda _: False,
    "all": lambda _: True,
}


# ---- argmax, argmin, reducers of the user's


def _flat(values: tuple[Value, ...], lanes: Lanes, binders: int) -> Part:
    """The values with the binder axes in full and made one, in binder order."""
    outer = (1,) * (len(lanes.shape) - binders)
    shapes = [np.shape(value) for value in values] + ([] if lanes.mask is None else [lanes.mask.shape])
    shape = np.broadcast_shapes(lanes.shape[:binders] + outer, *shapes)

    def flat(value: Value) -> Array:
        return np.broadcast_to(value, shape).reshape(prod(shape[:binders]), *shape[binders:])

    return Part(tuple(map(flat, values)), None if lanes.mask is None else flat(lanes.mask))


def _folded(part: Part, merge: Merge) -> Part:
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


def _best(better: np.ufunc) -> Merge:
    """The merge of argmax and argmin: the later values win only with a better key; NaN is better than any number."""

    def merge(left: tuple[Array, ...], right: tuple[Array, ...], _: Array | None) -> tuple[Array, ...]:
        old, new = left[0], right[0]
        wins = better(new, old) | ((new != new) & (old == old))
        return tuple(np.where(wins, late, early) for early, late in zip(left, right))

    return merge


def _combine(reducer: Reducer, outer: Lanes, evaluate: Evaluator) -> Merge:
    """The merge of a user's reducer: its combine, where both sides have something."""

    def merge(left: tuple[Array, ...], right: tuple[Array, ...], both: Array | None) -> tuple[Array, ...]:
        names = dict(zip((*reducer.left, *reducer.right), (*left, *right)))
        shape = np.broadcast_shapes(*(value.shape for value in (*left, *right)), () if both is None else both.shape)
        lanes = Lanes(outer.memory, shape, both, outer.symbols, names)
        if not lanes.is_active:
            return left
        return tuple(np.broadcast_to(evaluate(each, lanes), shape) for each in reducer.combine)

    return merge


def _identity(reducer: Reducer, outer: Lanes, evaluate: Evaluator) -> tuple[Value, ...]:
    if not reducer.is_builtin:
        return tuple(evaluate(each, outer) for each in reducer.identity)
    key, *payloads = reducer.dtypes
    return (number(_IDENTITIES[reducer.name](key), key), *(number(0, each) for each in payloads))


_BETTER: dict[str, Merge] = {"argmax": _best(np.greater), "argmin": _best(np.less)}
