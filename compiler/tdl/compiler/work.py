"""How much an op does at given sizes: arithmetic operations, and bytes that must move at least once.

    C[i, j] = sum(A[i, k] * B[k, j] for k)        2*M*N*K operations, 4*(M*K + K*N + M*N) bytes

An addition, a comparison of `max`, a function count one each, whatever the hardware makes of them; conversions, index
arithmetic and choices count nothing. Inputs count once and outputs once, as if caches held the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tdl.language import forms, tree
from tdl.language.dtypes import DType
from tdl.language.forms import Symbol
from tdl.language.tree import Binder, Expr, Program


@dataclass(frozen=True, slots=True)
class Work:
    """`operations` are those on elements; `bytes` are of inputs and outputs."""

    operations: int
    bytes: int


def work_of(program: Program, sizes: Mapping[Symbol, int]) -> Work:
    """The work of an op. A range that depends on data counts as one iteration."""
    total = 0
    for definition in program.definitions:
        times = _iterations(definition.indices, sizes)
        total += times * _operations(definition.value, sizes)
    moved = 0
    for name in (*program.inputs, *program.outputs):
        tensor = program.tensors[name]
        count = tensor.dtype.bytes if isinstance(tensor.dtype, DType) else 0
        for form in tensor.shape:
            count *= max(forms.evaluate(form, sizes), 0)
        moved += count
    return Work(total, moved)


def _iterations(binders: Sequence[Binder], sizes: Mapping[Symbol, int]) -> int:
    """The points of nested ranges; where one depends on another, those at the middle of the outer one."""
    known = dict(sizes)
    total = 1
    for binder in binders:
        try:
            lo, hi = forms.evaluate(binder.lo, known), forms.evaluate(binder.hi, known)
        except (KeyError, ZeroDivisionError):
            continue
        total *= max(hi - lo, 0)
        known[binder.index] = (lo + hi) // 2
    return total


def _operations(expr: Expr, sizes: Mapping[Symbol, int]) -> int:
    """What evaluating an expression once costs."""
    match expr:
        case tree.Reduce(reducer, binders, condition, args):
            combine = sum(_operations(each, sizes) for each in reducer.combine) if reducer.combine else 1
            each_time = combine + sum(_operations(arg, sizes) for arg in args)
            each_time += 0 if condition is None else _operations(condition, sizes)
            return _iterations(binders, sizes) * each_time
        case tree.Integer():
            return 0
        case tree.Select(condition, then, other):
            return _operations(condition, sizes) + max(_operations(then, sizes), _operations(other, sizes))
    own = isinstance(expr, tree.Binary | tree.Call) or (isinstance(expr, tree.Unary) and expr.operator == "neg")
    return own + sum(_operations(child, sizes) for child in tree.children(expr))
