"""Reading tensors: subscripts checked where they must be, boundaries, and the gather.

A gather is done axis by axis where the subscripts vary along different axes of the lanes (`X[i, k]`, and also
`X[n, h*2 + r, w*2 + s]`): a slice where they are evenly spaced, so that no element is touched twice.
"""

from __future__ import annotations

from functools import reduce
from typing import Literal

import numpy as np
from tdl.language.arithmetic import Value
from tdl.language.arrays import Array
from tdl.language.evaluate.integers import Evaluator, form_value
from tdl.language.evaluate.lanes import Lanes
from tdl.language.failure import OutOfBounds
from tdl.language.tree import Access

Subscript = int | Array

_WHOLE = slice(None)


def read(access: Access, lanes: Lanes, evaluate: Evaluator) -> Value:
    """The accessed elements. Raises OutOfBounds for a checked subscript that is outside in an active lane."""
    tensor = lanes.memory.tensors[access.tensor]
    subscripts = [form_value(form, lanes, evaluate, access.span) for form in access.subscripts]
    if access.boundary is None:
        for axis, is_checked in enumerate(access.checked):
            if is_checked:
                _check(access, axis, subscripts[axis], tensor.shape[axis], lanes)
        if lanes.mask is not None:
            subscripts = [_clamp(each, size) for each, size in zip(subscripts, tensor.shape)]
        return _gather(tensor, subscripts)
    if access.boundary.mode != "constant":
        mode = access.boundary.mode
        return _gather(tensor, [_inside(each, size, mode) for each, size in zip(subscripts, tensor.shape)])
    outside = [_is_outside(each, size) for each, size in zip(subscripts, tensor.shape)]
    if not any(np.any(each) for each in outside):
        return _gather(tensor, subscripts)
    assert access.boundary.value is not None
    beyond = np.asarray(reduce(np.logical_or, outside))
    value = evaluate(access.boundary.value, lanes.where(beyond))
    return np.where(beyond, value, _gather(tensor, [_clamp(each, n) for each, n in zip(subscripts, tensor.shape)]))


def _check(access: Access, axis: int, subscript: Subscript, size: int, lanes: Lanes) -> None:
    outside = _is_outside(subscript, size)
    if not np.any(outside):
        return
    bad = lanes.active(outside)
    if bad is not None:
        found = lanes.at(subscript, lanes.first(bad))
        text = f"index {found} is outside {access.tensor}.{axis} of size {size}"
        raise lanes.failure(OutOfBounds, text, bad, [*access.subscripts[axis].symbols()], access.span)


def _is_outside(subscript: Subscript, size: int) -> Value | bool:
    if isinstance(subscript, int):
        return not 0 <= subscript < size
    return (subscript < 0) | (subscript >= size)


def _clamp(subscript: Subscript, size: int) -> Subscript:
    if isinstance(subscript, int):
        return min(max(subscript, 0), size - 1)
    return np.clip(subscript, 0, size - 1)


def _inside(subscript: Subscript, size: int, mode: Literal["edge", "wrap", "mirror"]) -> Subscript:
    """The subscript that a boundary reads instead. Of an empty axis there is none, and no active lane reads it."""
    if size <= 1:
        return subscript * 0
    match mode:
        case "edge":
            return _clamp(subscript, size)
        case "wrap":
            return subscript % size
        case "mirror":
            period = 2 * (size - 1)
            folded = subscript % period
            if isinstance(folded, int):
                return min(folded, period - folded)
            return np.asarray(np.minimum(folded, period - folded))


def _gather(tensor: Array, subscripts: list[Subscript]) -> Value:
    """`tensor[subscripts]`, broadcast; zero where the tensor has no element (no active lane reads it)."""
    if tensor.size == 0:
        return np.zeros((), tensor.dtype)
    varying = [each for each in subscripts if not isinstance(each, int) and each.size != 1]
    axes = [axis for each in varying for axis in _axes(each)]
    if len(set(axes)) < len(axes):
        return np.asarray(tensor[tuple(subscripts)])
    keys = [_key(each) for each in subscripts]
    part: Array = tensor[tuple(keys)]
    if not varying:
        return part
    for axis, (subscript, key) in enumerate(zip(varying, [key for key in keys if isinstance(key, slice)])):
        if key == _WHOLE:
            part = part.take(subscript.reshape(-1), axis=axis)
    lengths = [size for each in varying for size in each.shape if size != 1]
    return _placed(part.reshape(lengths), axes)


def _axes(subscript: Array) -> list[int]:
    """The axes along which a subscript varies, counted from the last: -1, -2, ..."""
    return [axis - subscript.ndim for axis, size in enumerate(subscript.shape) if size != 1]


def _key(subscript: Subscript) -> int | slice:
    """A basic index: a number, or a slice with even steps; otherwise the whole axis, still to be taken from."""
    if isinstance(subscript, int):
        return subscript
    flat = subscript.reshape(-1)
    if flat.size == 1:
        return int(flat[0])
    first, last, step = int(flat[0]), int(flat[-1]), int(flat[1] - flat[0])
    if step <= 0 or last - first != step * (flat.size - 1) or not (flat[1:] - flat[:-1] == step).all():
        return _WHOLE
    return slice(first, last + 1, step)


def _placed(part: Array, axes: list[int]) -> Array:
    """The array with its axes put where they belong among the axes of the lanes, the others of length 1."""
    order = sorted(range(len(axes)), key=lambda each: axes[each])
    shape = [1] * -min(axes)
    for axis, size in zip(axes, part.shape):
        shape[axis] = size
    placed: Array = part.transpose(order).reshape(shape)
    return placed
