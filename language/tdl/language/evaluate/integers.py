"""Values of integer forms in lanes: subscripts, range ends, and arithmetic on indices. They wrap as `i64`.

A form of sizes and fixed indices gives a plain int, which keeps recurrences that run element by element quick.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from tdl.language.arithmetic import Value
from tdl.language.arrays import Array
from tdl.language.evaluate.lanes import Lanes
from tdl.language.failure import DivisionByZero
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Opaque, Product, Symbol
from tdl.language.source import Span
from tdl.language.tree import Expr

Evaluator: TypeAlias = Callable[[Expr, Lanes], Value]


def form_value(form: Form, lanes: Lanes, evaluate: Evaluator, span: Span) -> int | Array:
    """The form's value: an int where it is the same in all lanes for certain, else an array of i64."""
    total: int | Array = wrapped(form.constant)
    for atom, coefficient in form.terms:
        value = _atom_value(atom, lanes, evaluate, span)
        total = total + (value if coefficient == 1 else wrapped(coefficient) * value)
    return wrapped(total) if isinstance(total, int) else total


def wrapped(value: int) -> int:
    """An int brought into the range of i64."""
    return value if -(1 << 63) <= value < 1 << 63 else (value + (1 << 63)) % (1 << 64) - (1 << 63)


def refuse_zero(divisor: Value, lanes: Lanes, symbols: Callable[[], list[Symbol]], span: Span) -> Value:
    """The divisor with 1 in place of zeros; raises DivisionByZero if a zero is in an active lane."""
    zero = divisor == 0
    if not zero.any():
        return divisor
    bad = lanes.active(zero)
    if bad is not None:
        raise lanes.failure(DivisionByZero, "integer division by zero", bad, symbols(), span)
    return np.where(zero, divisor.dtype.type(1), divisor)


def _atom_value(atom: Atom, lanes: Lanes, evaluate: Evaluator, span: Span) -> int | Array:
    match atom:
        case Symbol():
            return lanes.symbols[atom]
        case FloorDiv(dividend, divisor):
            top = form_value(dividend, lanes, evaluate, span)
            by = form_value(divisor, lanes, evaluate, span)
            if isinstance(top, int) and isinstance(by, int) and by != 0:
                return wrapped(top // by)
            return np.asarray(top // refuse_zero(np.asarray(by), lanes, lambda: [*divisor.symbols()], span))
        case Extreme(kind, left, right):
            first = form_value(left, lanes, evaluate, span)
            second = form_value(right, lanes, evaluate, span)
            if isinstance(first, int) and isinstance(second, int):
                return min(first, second) if kind == "min" else max(first, second)
            return np.asarray(np.minimum(first, second) if kind == "min" else np.maximum(first, second))
        case Product(left, right):
            return form_value(left, lanes, evaluate, span) * form_value(right, lanes, evaluate, span)
        case Opaque(expr):
            value = evaluate(expr, lanes)
            return int(value) if value.ndim == 0 else np.asarray(value)
