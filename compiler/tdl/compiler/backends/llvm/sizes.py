"""How a kernel finds the sizes: each dimension is solved from the shape of some input, in an order found here.

X: f32[M, 2*N + 1]      M = X.shape[0]      N = (X.shape[1] - 1) / 2
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.language.diagnostic import InternalError
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Program


@dataclass(frozen=True, slots=True)
class Solution:
    """`dim = (shape of tensor at axis - rest) / factor`; `rest` is of dimensions solved before."""

    dim: Symbol
    tensor: str
    axis: int
    factor: int
    rest: Form


def open_dims(program: Program) -> tuple[Symbol, ...]:
    """The dimensions that have no numbers yet: where sizes are bound, shapes no longer speak of them."""
    mentioned = {symbol for tensor in program.tensors.values() for form in tensor.shape for symbol in form.symbols()}
    return tuple(dim for dim in program.dims if dim in mentioned)


def solve_sizes(program: Program) -> tuple[Solution, ...]:
    """A solution for each dimension. The checker has made sure that there is one."""
    solved: dict[Symbol, Solution] = {}
    dims = open_dims(program)
    while len(solved) < len(dims):
        found = _next(program, solved)
        if found is None:
            missing = ", ".join(str(dim) for dim in dims if dim not in solved)
            raise InternalError(f"op {program.name}: no input's shape gives {missing}")
        solved[found.dim] = found
    return tuple(solved.values())


def _next(program: Program, solved: dict[Symbol, Solution]) -> Solution | None:
    for name in program.inputs:
        for axis, form in enumerate(program.tensors[name].shape):
            unknown = [each for each in form.symbols() if each.kind == "dim" and each not in solved]
            if len(unknown) != 1:
                continue
            factor = dict(form.terms).get(unknown[0], 0)
            if factor:
                rest = Form(tuple(term for term in form.terms if term[0] != unknown[0]), form.constant)
                return Solution(unknown[0], name, axis, factor, rest)
    return None
