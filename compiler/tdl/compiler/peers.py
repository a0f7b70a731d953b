"""What a user would otherwise call: the same op in NumPy.

A sum of products is `numpy.einsum` with its best path, which comes to BLAS where it can; other ops are evaluated by the
reference evaluator, which is NumPy over whole boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from tdl.language.arrays import Array
from tdl.language.binding import Bound
from tdl.language.evaluate import evaluate
from tdl.language.forms import Symbol
from tdl.language.tree import Access, Binary, Expr, Reduce


def numpy_call(bound: Bound, inputs: Mapping[str, Array]) -> Callable[[], object]:
    """A call that gives the op's results by NumPy."""
    spec = contraction(bound)
    if spec is None:
        return lambda: evaluate(bound.program, inputs, bound.sizes)
    text, names = spec
    operands = [inputs[name] for name in names]
    if text == "ab,bc->ac":
        out = np.empty((operands[0].shape[0], operands[1].shape[1]), operands[0].dtype)
        return lambda: np.matmul(operands[0], operands[1], out=out)
    path = np.einsum_path(text, *operands, optimize="optimal")[0]
    return lambda: np.einsum(text, *operands, optimize=path)


def contraction(bound: Bound) -> tuple[str, list[str]] | None:
    """The einsum of an op that is one sum of products of inputs read at plain indices, and its operands."""
    program = bound.program
    if len(program.definitions) != 1:
        return None
    (definition,) = program.definitions
    value = definition.value
    if not isinstance(value, Reduce) or value.reducer.name != "sum" or value.filter is not None:
        return None
    factors = list(_factors(value.args[0]))
    letters: dict[Symbol, str] = {}
    operands: list[str] = []
    for factor in factors:
        if not isinstance(factor, Access) or factor.boundary is not None or factor.tensor not in program.inputs:
            return None
        indices = [form.symbol for form in factor.subscripts]
        if any(index is None or index.kind != "index" for index in indices):
            return None
        operands.append("".join(letters.setdefault(index, chr(97 + len(letters))) for index in indices if index))
    outer = [form.symbol for form in definition.targets[0].coordinates]
    if any(index is None or index not in letters for index in outer):
        return None
    result = "".join(letters[index] for index in outer if index)
    return f"{','.join(operands)}->{result}", [f.tensor for f in factors if isinstance(f, Access)]


def _factors(expr: Expr) -> list[Expr]:
    if isinstance(expr, Binary) and expr.operator == "mul":
        return [*_factors(expr.left), *_factors(expr.right)]
    return [expr]
