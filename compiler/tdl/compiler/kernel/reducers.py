"""Reducers in a kernel that is run: identities, combining, lanes that share an accumulator.

winner (argmax, argmin): its key, its payloads, and where it was found, an i64 for each reduced index; the first of
equal keys wins in whatever order they come. Nothing found yet is at the greatest i64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from tdl.language import arithmetic
from tdl.language.arrays import Array
from tdl.language.dtypes import I64, DType
from tdl.language.tree import BinaryOperator, Expr, Reducer

Value = Any
"""As in `expressions.py`."""

_OPERATORS: dict[str, BinaryOperator] = {
    "sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "or", "all": "and",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lane:
    """How many lanes there are, and which of them run."""

    count: int
    mask: Array


class Combines(Protocol):
    """What runs a reducer's expressions."""

    lane: Lane | None

    def expr(self, expr: Expr) -> Value: ...

    def combined(self, reducer: Reducer, old: list[Value], new: list[Value]) -> list[Value]: ...


def is_winner(reducer: Reducer) -> bool:
    return reducer.is_builtin and reducer.name in ("argmax", "argmin")


def identity(reducer: Reducer, count: int, value_of: Callable[[Expr], Value]) -> list[Value]:
    """The values of an accumulator that has seen nothing; `count` of them, more than values where a winner is kept."""
    if not reducer.is_builtin:
        return [value_of(each) for each in reducer.identity]
    first, *payloads = reducer.dtypes
    assert isinstance(first, DType)
    least = float("-inf") if first.is_float else first.least
    greatest = float("inf") if first.is_float else first.greatest
    name = reducer.name.removeprefix("arg")
    nothing = {"sum": 0, "prod": 1, "any": False, "all": True, "max": least, "min": greatest}[name]
    values = [arithmetic.number(nothing, first), *(arithmetic.number(0, each) for each in payloads)]
    return values + [np.int64(I64.greatest)] * (count - len(values))


def builtin_combined(reducer: Reducer, old: list[Value], new: list[Value]) -> list[Value]:
    if is_winner(reducer):
        wins = _wins(reducer, old, new)
        return [np.where(wins, *pair) if np.ndim(wins) else pair[0 if wins else 1] for pair in zip(new, old)]
    return [arithmetic.binary(_OPERATORS[reducer.name], old[0], new[0], reducer.dtypes[0])]


def _wins(reducer: Reducer, old: list[Value], new: list[Value]) -> Value:
    """Whether the new key is strictly better, is NaN against a number, or is as good and was found earlier."""
    is_nan, was_nan = new[0] != new[0], old[0] != old[0]
    better = new[0] > old[0] if reducer.name == "argmax" else new[0] < old[0]
    better = better | (is_nan & np.logical_not(was_nan))
    as_good = (new[0] == old[0]) | (is_nan & was_nan)
    earlier: Value = np.False_
    count = len(reducer.dtypes)
    for mine, theirs in reversed(list(zip(new[count:], old[count:]))):
        earlier = (mine < theirs) | ((mine == theirs) & earlier)
    return better | (as_good & earlier)


def across_lanes(reducer: Reducer, values: list[Value], mask: Array, runs: Combines) -> list[Value]:
    """One accumulator's values for all lanes that run: the upper half with the lower, until one is left."""
    nothing = identity(reducer, len(values), runs.expr)
    every = [np.where(mask, value, other) for value, other in zip(values, nothing)]
    before = runs.lane
    while len(every[0]) > 1:
        half = len(every[0]) // 2
        runs.lane = Lane(half, np.ones(half, np.bool_))
        every = runs.combined(reducer, [each[:half] for each in every], [each[half:] for each in every])
    runs.lane = before
    return [each[0] for each in every]
