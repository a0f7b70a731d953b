"""When two results of a program count as equal.

Integers and bools must be equal, NaN equals NaN, infinities equal themselves. Finite floats `found` and `wanted` may be
apart by

    (rounding + accumulation) * (|wanted| + rms(wanted)) + accumulation * magnitude

where `rounding` covers a few roundings of the type, `accumulation` grows with the root of the number of terms that are
added up one after another (a sum may be reassociated), and `magnitude` is how large the inputs are: where large terms
cancel, the error is as large as theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod, sqrt
from typing import Any

import numpy as np
from tdl.language import forms
from tdl.language.arrays import Array
from tdl.language.dtypes import DType
from tdl.language.forms import Form, Symbol
from tdl.language.tree import (
    Access,
    Binary,
    Binder,
    Call,
    Convert,
    Definition,
    Expr,
    Program,
    Reduce,
    Run,
    Step,
    Sweep,
    walk,
)

_EPSILON = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
_ROUNDINGS = 4
_TERM_ROUNDINGS = 32


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What two right results may be apart by, relative to their size."""

    rounding: float
    accumulation: float


EXACT = Tolerance(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Difference:
    """How two arrays differ: how many of their elements, and the first of these, with what it was allowed."""

    tensor: str
    count: int
    size: int
    index: tuple[int, ...]
    found: Any
    wanted: Any
    tolerance: float

    def __str__(self) -> str:
        element = f"{self.tensor}[{', '.join(map(str, self.index))}]" if self.index else self.tensor
        allowed = f" within {self.tolerance:.3g}" if self.tolerance else ""
        return f"{element} is {self.found}, not {self.wanted}{allowed} ({self.count} of {self.size} elements differ)"


def first_difference(
    name: str, found: Array, wanted: Array, tolerance: Tolerance = EXACT, magnitude: float = 1.0
) -> Difference | None:
    """The first element that is not what is wanted, or None. Raises ValueError for another shape or type."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise ValueError(f"{name} is {found.dtype}{[*found.shape]}, not {wanted.dtype}{[*wanted.shape]}")
    if wanted.dtype.kind in "iub":
        allowed, wrong = np.zeros(wanted.shape), np.asarray(found != wanted)
    else:
        allowed, wrong = _apart(found, wanted, tolerance, magnitude)
    if not wrong.any():
        return None
    index = tuple(int(each) for each in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return Difference(name, int(wrong.sum()), wrong.size, index, found[index], wanted[index], float(allowed[index]))


def magnitude_of(arrays: Mapping[str, Array]) -> float:
    """The greatest root mean square of any float array; 1 where there is none."""
    with np.errstate(all="ignore"):
        floats = [array.astype(np.float64) for array in arrays.values() if array.dtype.kind not in "iub"]
        return max((_rms(array) for array in floats), default=1.0)


def tolerances(program: Program, sizes: Mapping[Symbol, int]) -> dict[str, Tolerance]:
    """The tolerance of each output of a concrete program, from the types and reductions of all that it depends on."""
    return {name: _tolerance(program, sizes, name) for name in program.outputs}


def _apart(found: Array, wanted: Array, tolerance: Tolerance, magnitude: float) -> tuple[Array, Array]:
    """What each element is allowed, and whether it is further away than that."""
    relative = tolerance.rounding + tolerance.accumulation
    with np.errstate(all="ignore"):
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
        allowed = relative * (np.abs(wanted) + _rms(wanted)) + tolerance.accumulation * magnitude
        near = np.isfinite(wanted) & (np.abs(found - wanted) <= allowed)
    return allowed, ~(near | (found == wanted) | (np.isnan(found) & np.isnan(wanted)))


def _rms(values: Array) -> float:
    finite = values[np.isfinite(values)]
    largest = float(np.abs(finite).max(initial=0.0))
    return largest * sqrt(float(np.square(finite / largest).mean())) if largest else 0.0


# ---- how exact a program is


def _tolerance(program: Program, sizes: Mapping[Symbol, int], output: str) -> Tolerance:
    definitions = [*_behind(program, output)]
    swept = _swept(program.steps, sizes)
    epsilon = max((_epsilon(definition.value) for definition in definitions), default=0.0)
    if not epsilon:
        return EXACT
    largest = _largest_size(program, sizes)
    terms = sum(_terms(each.value, sizes, largest) * swept.get(each.number, 1) for each in definitions)
    steps = max(swept.get(definition.number, 1) for definition in definitions)
    accumulated = min(epsilon, _EPSILON["f32"])  # halves are added up in f32
    return Tolerance(epsilon * (_ROUNDINGS + sqrt(steps)), accumulated * (_TERM_ROUNDINGS + 8 * sqrt(terms)))


def _behind(program: Program, output: str) -> Iterator[Definition]:
    """The definitions that an output depends on."""
    needed, seen = [output], {output}
    while needed:
        name = needed.pop()
        for definition in program.definitions:
            if any(target.tensor == name for target in definition.targets):
                yield definition
                read = {node.tensor for node in walk(definition.value) if isinstance(node, Access)}
                needed += read - seen
                seen |= read


def _epsilon(value: Expr) -> float:
    """The greatest relative rounding error of any operation in an expression."""
    rounding = (node.dtype for node in walk(value) if isinstance(node, (Binary, Call, Convert, Reduce)))
    return max((_EPSILON.get(dtype.name, 0.0) for dtype in rounding if isinstance(dtype, DType)), default=0.0)


def _terms(value: Expr, sizes: Mapping[Symbol, int], otherwise: int) -> int:
    """How many values the largest reduction in an expression combines."""
    reductions = (node for node in walk(value) if isinstance(node, Reduce))
    return max((prod(_extent(each, sizes, otherwise) for each in node.binders) for node in reductions), default=1)


def _extent(binder: Binder, sizes: Mapping[Symbol, int], otherwise: int) -> int:
    """The length of a range; where it depends on indices or data, no more than the longest axis is assumed."""
    try:
        return max(1, forms.evaluate(binder.hi - binder.lo, sizes))
    except (KeyError, ZeroDivisionError):
        return otherwise


def _largest_size(program: Program, sizes: Mapping[Symbol, int]) -> int:
    axes: list[Form] = [axis for tensor in program.tensors.values() for axis in tensor.shape]
    return max((forms.evaluate(axis, sizes) for axis in axes), default=1)


def _swept(steps: tuple[Step, ...], sizes: Mapping[Symbol, int], times: int = 1) -> dict[int, int]:
    """How often each definition runs one after another."""
    found: dict[int, int] = {}
    for step in steps:
        match step:
            case Run(definition):
                found[definition] = times
            case Sweep():
                length = max(1, forms.evaluate(step.hi - step.lo, sizes))
                found.update(_swept(step.body, sizes, times * length))
    return found
