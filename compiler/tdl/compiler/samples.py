"""Random inputs, and when two results count as equal: what tests, benches and `tdlc run` share.

Floats are normal, integers from -9 to 9 clipped to their type, bools even. The numbers depend only on the seed, the
name of the input and its shape, so that adding an input changes no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any
from zlib import crc32

import numpy as np
from tdl.language import forms
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.binding import Bound
from tdl.language.dtypes import BOOL, DType, Type
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Reduce, Step, Sweep, walk

_EPSILON = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}


def random_array(name: str, dtype: Type, shape: tuple[int, ...], seed: int = 0) -> Array:
    """The random values of one input."""
    assert isinstance(dtype, DType)
    generator = np.random.default_rng([seed, crc32(name.encode("utf-8")), *shape])
    if dtype == BOOL:
        return generator.integers(0, 2, shape).astype(np.bool_)
    if dtype.is_float:
        return generator.standard_normal(shape).astype(numpy_dtype(dtype))
    return generator.integers(max(-9, dtype.least), min(9, dtype.greatest) + 1, shape).astype(numpy_dtype(dtype))


def complete_inputs(bound: Bound, given: Mapping[str, Array], seed: int = 0) -> dict[str, Array]:
    """All inputs of an op in order: those given, and random ones for the rest."""
    return {
        name: given[name]
        if name in given
        else random_array(name, bound.program.tensors[name].dtype, bound.shape(name), seed)
        for name in bound.program.inputs
    }


def given_array(value: Any, bound: Bound, name: str) -> Array:
    """Data written in a test, as the array of an input or output."""
    dtype = numpy_dtype(bound.program.tensors[name].dtype)
    shape = bound.shape(name)
    return np.array(value, dtype).reshape(shape) if 0 in shape else np.array(value, dtype)


# ---- equality


@dataclass(frozen=True)
class Difference:
    """How two arrays differ: how many elements, the first of them, and what was allowed (0 for exact)."""

    tensor: str
    count: int
    size: int
    index: tuple[int, ...]
    found: Any
    wanted: Any
    tolerance: float


def first_difference(name: str, found: Array, wanted: Array, tolerance: float) -> Difference | None:
    """None where the arrays are equal: integers and bools exactly, floats within `tolerance`, NaN equal to NaN.

    The tolerance is relative to the greatest finite number in `wanted`, and at least to 1: a sum of large terms that
    cancel is no more exact than its terms.
    """
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise ValueError(f"{name} is {found.dtype}{[*found.shape]}, not {wanted.dtype}{[*wanted.shape]}")
    if wanted.dtype.kind in "iub":
        allowed, wrong = 0.0, np.asarray(found != wanted)
    else:
        allowed, wrong = _apart(found.astype(np.float64), wanted.astype(np.float64), tolerance)
    if not wrong.any():
        return None
    index = tuple(int(each) for each in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return Difference(name, int(wrong.sum()), wrong.size, index, found[index], wanted[index], allowed)


def _apart(found: Array, wanted: Array, tolerance: float) -> tuple[float, Array]:
    finite = np.isfinite(wanted)
    allowed = tolerance * max(1.0, float(np.abs(wanted[finite]).max(initial=0.0)))
    with np.errstate(all="ignore"):
        near = (found == wanted) | (np.abs(found - wanted) <= allowed) | (np.isnan(found) & np.isnan(wanted))
    return allowed, ~near


def tolerances(bound: Bound) -> dict[str, float]:
    """What may separate two right results of each float output, by its dtype and the number of terms behind it."""
    terms = _terms(bound)
    least = max((_EPSILON.get(tensor.dtype.name, 0.0) for tensor in bound.program.tensors.values()), default=0.0)
    return {name: 8 * least * (1 + sqrt(terms)) for name in bound.program.outputs}


def _terms(bound: Bound) -> int:
    """How many values are combined one after another at most, in a reduction or along a recurrence."""
    values: dict[Symbol, int] = {
        Symbol(name, "param"): value for name, value in bound.program.parameters.items() if isinstance(value, int)
    }
    values.update(bound.sizes)
    largest = max((size for name in bound.program.tensors for size in bound.shape(name)), default=1)
    lengths = [
        prod(_extent(binder.lo, binder.hi, values, largest) for binder in node.binders)
        for definition in bound.program.definitions
        for node in walk(definition.value)
        if isinstance(node, Reduce)
    ]
    swept = [_extent(sweep.lo, sweep.hi, values, largest) for sweep in _sweeps(bound.program.steps)]
    return max(lengths, default=1) * prod(swept)


def _sweeps(steps: tuple[Step, ...]) -> Iterator[Sweep]:
    for step in steps:
        if isinstance(step, Sweep):
            yield step
            yield from _sweeps(step.body)


def _extent(lo: Form, hi: Form, values: Mapping[Symbol, int], otherwise: int) -> int:
    """The length of a range, or a guess where it depends on indices or data."""
    try:
        return max(1, forms.evaluate(hi, values) - forms.evaluate(lo, values))
    except (KeyError, ZeroDivisionError):
        return max(1, otherwise)
