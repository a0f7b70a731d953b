"""`sum`, `prod`, `max`, `min`, `any`, `all`: one value, no order, a NumPy ufunc each.

A float sum accumulates in the reduction's own type, f16 and bf16 in f32. Sums of products are contracted, so that a
matrix product makes no array of the products.
"""

from __future__ import annotations

from math import prod

import numpy as np
from tdl.language.arithmetic import Value, convert, number, widen
from tdl.language.arrays import Array
from tdl.language.dtypes import F32, DType, Type
from tdl.language.evaluate.boxes import binder_blocks
from tdl.language.evaluate.integers import Evaluator
from tdl.language.evaluate.lanes import Lanes
from tdl.language.tree import Binary, Reduce

UFUNCS: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,  # these two propagate NaN
    "min": np.minimum,
    "any": np.logical_or,
    "all": np.logical_and,
}


def accumulated(node: Reduce, outer: Lanes, evaluate: Evaluator) -> Value:
    """The reduction's value in the outer lanes."""
    dtype = node.reducer.dtypes[0]
    wide = F32 if isinstance(dtype, DType) and dtype.is_half else dtype
    identity = identity_of(node.reducer.name, wide)
    ufunc = UFUNCS[node.reducer.name]
    total = identity
    for lanes in binder_blocks(node, outer, evaluate):
        total = ufunc(total, _block(node, lanes, evaluate, identity))
    return convert(total, wide, dtype)


def identity_of(reducer: str, dtype: Type) -> Value:
    """What an empty built-in reduction gives; for argmax and argmin the key."""
    assert isinstance(dtype, DType)
    match reducer:
        case "max" | "argmax":
            return number(-np.inf if dtype.is_float else dtype.least, dtype)
        case "min" | "argmin":
            return number(np.inf if dtype.is_float else dtype.greatest, dtype)
    return number(int(reducer in ("prod", "all")), dtype)


def _block(node: Reduce, lanes: Lanes, evaluate: Evaluator, identity: Value) -> Array:
    """One block, reduced along the binder axes."""
    binders = len(node.binders)
    match node.reducer.name, node.args[0]:
        case "sum", Binary("mul", left, right, DType(is_half=False)) if lanes.mask is None:
            return _contracted(evaluate(left, lanes), evaluate(right, lanes), lanes.shape, binders)
    value = widen(evaluate(node.args[0], lanes), node.reducer.dtypes[0])
    if lanes.mask is not None:
        value = np.where(lanes.mask, value, identity)
    return _along_binders(UFUNCS[node.reducer.name], value, lanes.shape, binders)


def _along_binders(ufunc: np.ufunc, value: Value, shape: tuple[int, ...], binders: int) -> Array:
    """The value reduced along the first `binders` axes of the lanes, in its own dtype."""
    full = _full_rank(value, len(shape))
    spread = np.broadcast_to(full, shape[:binders] + full.shape[binders:])
    if prod(shape[:binders]) == 1:
        return spread.reshape(spread.shape[binders:])
    reduced: Array = ufunc.reduce(spread, axis=tuple(range(binders)), dtype=value.dtype)
    return reduced


def _contracted(left: Value, right: Value, shape: tuple[int, ...], binders: int) -> Array:
    """`left * right` summed along the first `binders` axes of the lanes."""
    rank = len(shape)
    factors = [_full_rank(left, rank), _full_rank(right, rank)]
    sizes = np.broadcast_shapes(*(factor.shape for factor in factors))
    if sizes[:binders] != shape[:binders]:
        return _along_binders(np.add, left * right, shape, binders)
    axes = [[axis for axis in range(rank) if factor.shape[axis] != 1] for factor in factors]
    kept = sorted({axis for each in axes for axis in each if axis >= binders})
    operands = [factor.reshape([factor.shape[axis] for axis in each]) for factor, each in zip(factors, axes)]
    summed: Array = np.einsum(operands[0], axes[0], operands[1], axes[1], kept)
    return np.asarray(summed).reshape(sizes[binders:])


def _full_rank(value: Value, rank: int) -> Array:
    return np.asarray(value).reshape((1,) * (rank - value.ndim) + value.shape)
