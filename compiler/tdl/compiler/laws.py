"""What a reducer promises, sampled: it is associative and commutative, and its identity changes nothing.

For each reducer a small op is written that combines random values in both ways, and the reference evaluator runs it:

    (ab[n]) = r(pair of a[n] and b[n])     left[n] = r(pair of ab[n] and c[n])     right[n] = r(pair of a[n] and bc[n])

A sample can refute a promise, and never proves one. Reducers of several values are sampled with positive numbers only,
since one of the values is often a count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse
from tdl.language.arrays import Array, dtype_of
from tdl.language.binding import ArrayType, Bound, bind
from tdl.language.check import check_op
from tdl.language.comparing import first_difference, magnitude_of, tolerances
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure
from tdl.language.samples import random_inputs
from tdl.language.source import Source

SAMPLES = 50
_CLASSES = {"float": "f32", "number": "f32", "dtype": "f32", "integer": "i32"}


@dataclass(frozen=True)
class Law:
    """Two ways of combining that must agree; the names are those of tensors in the op that tries them."""

    words: str
    left: str
    right: str
    formula: str


LAWS = (
    Law("is not associative", "ab_c", "a_bc", "combine(combine(a, b), c) is {0}, and combine(a, combine(b, c)) is {1}"),
    Law("is not commutative", "ab", "ba", "combine(a, b) is {0}, and combine(b, a) is {1}"),
    Law("has an identity that changes a value", "ea", "a", "combine(identity, a) is {0}, not {1}"),
)


@dataclass(frozen=True)
class Breach:
    """A broken promise: in words, and with the values that show it."""

    words: str
    example: str


def find_breach(reducer: syntax.Reducer, analysis: Analysis, seed: int = 0) -> Breach | None:
    """The first promise of a sound reducer that a sample breaks."""
    dtypes = _dtypes(reducer)
    name = f"laws_of_{reducer.name.text}"
    text = f"{analysis.source.text}\n{_op(reducer, dtypes, name)}"
    op = analyse(Source(analysis.source.path, text)).module.ops.get(name)
    if op is None or not check_op(op).is_sound:  # it has parameters that nobody but a user can give
        return None
    shapes = {f"{operand}{part}": (SAMPLES,) for operand in "abc" for part in range(len(dtypes))}
    bound = bind(op, {each: ArrayType(None, shape) for each, shape in shapes.items()})
    inputs = random_inputs(bound.program, bound.sizes, None, seed)
    if len(dtypes) > 1:
        inputs = {each: _positive(array) for each, array in inputs.items()}
    try:
        results = {**inputs, **evaluate(bound.program, inputs, bound.sizes)}
    except Failure as failure:
        return Breach("raises", str(failure))
    return next((breach for law in LAWS if (breach := _tried(law, len(dtypes), bound, results))), None)


def _positive(array: Array) -> Array:
    if dtype_of(array.dtype) is None or array.dtype.kind == "b":
        return array
    made: Array = (np.abs(array) + 1).astype(array.dtype)
    return made


def _tried(law: Law, parts: int, bound: Bound, tensors: dict[str, Array]) -> Breach | None:
    allowed = max(tolerances(bound.program, bound.sizes).values(), key=lambda each: each.accumulation)
    scale = magnitude_of(tensors)
    for part in range(parts):
        left, right = tensors[f"{law.left}{part}"], tensors[f"{law.right}{part}"]
        difference = first_difference(law.left, left, right, allowed, scale)
        if difference is not None:
            where = difference.index[0]
            values = [_value(tensors, operand, parts, where) for operand in (law.left, law.right)]
            given = ", ".join(f"{operand} = {_value(tensors, operand, parts, where)}" for operand in "abc")
            return Breach(law.words, f"{law.formula.format(*values)}, for {given}")
    return None


def _value(tensors: dict[str, Array], operand: str, parts: int, where: int) -> str:
    values = [f"{tensors[f'{operand}{part}'][where]:.6g}" for part in range(parts)]
    return values[0] if parts == 1 else f"({', '.join(values)})"


# ---- the op


def _dtypes(reducer: syntax.Reducer) -> list[str]:
    """Of each value, with the dtype parameters chosen."""
    chosen = {
        parameter.name.text: _CLASSES[parameter.kind.text]
        for parameter in reducer.params
        if parameter.kind is not None and parameter.kind.text in _CLASSES
    }
    return [chosen.get(result.dtype.text, result.dtype.text) for result in reducer.results]


def _op(reducer: syntax.Reducer, dtypes: list[str], name: str) -> str:
    inputs = ", ".join(f"{operand}{part}: {dtype}[N]" for operand in "abc" for part, dtype in enumerate(dtypes))
    results = [
        f"{result}{part}" for result in ("ab", "ba", "bc", "ab_c", "a_bc", "e", "ea") for part in range(len(dtypes))
    ]
    outputs = ", ".join(f"{each}: {dtypes[number % len(dtypes)]}[N]" for number, each in enumerate(results))
    return "\n".join([f"op {name}({inputs}) -> ({outputs}) {{", *_body(reducer.name.text, len(dtypes)), "}"])


def _body(reducer: str, parts: int) -> Iterator[str]:
    pairs = {
        "ab": ("a", "b"),
        "ba": ("b", "a"),
        "bc": ("b", "c"),
        "ab_c": ("ab", "c"),
        "a_bc": ("a", "bc"),
        "ea": ("e", "a"),
    }
    for result, operands in pairs.items():
        for part in range(parts):
            yield from (f"    {result}_of{part}[{row}, n] = {each}{part}[n]" for row, each in enumerate(operands))
        yield f"    {_reduction(reducer, parts, result, f'{result}_of', 2)}"
    yield f"    {_reduction(reducer, parts, 'e', 'ab_of', 0)}"


def _reduction(reducer: str, parts: int, result: str, pair: str, count: int) -> str:
    targets = ", ".join(f"{result}{part}[n]" for part in range(parts))
    values = ", ".join(f"{pair}{part}[k, n]" for part in range(parts))
    wrapped = (f"({targets})", f"({values})") if parts > 1 else (targets, values)
    return f"{wrapped[0]} = {reducer}({wrapped[1]} for k in 0..{count})"
