"""The value of an expression in lanes, as an array that broadcasts to them.

Branches are lazy: each side of `if`, `and` and `or` is evaluated with only those lanes active in which it runs, and not
at all where there are none.
"""

from __future__ import annotations

import numpy as np
from tdl.language import arithmetic
from tdl.language.arithmetic import Value
from tdl.language.evaluate.accesses import read
from tdl.language.evaluate.integers import form_value, refuse_zero
from tdl.language.evaluate.lanes import Lanes
from tdl.language.evaluate.reductions import reduced
from tdl.language.tree import (
    Access,
    Binary,
    Call,
    Compare,
    Convert,
    Expr,
    Integer,
    Let,
    Local,
    Number,
    Parameter,
    Reduce,
    Select,
    Unary,
    symbols_of,
)


def evaluate_in(expr: Expr, lanes: Lanes) -> Value:
    """The expression in each active lane. Raises OutOfBounds or DivisionByZero; computes anything in inactive lanes."""
    match expr:
        case Access():
            return read(expr, lanes, evaluate_in)
        case Binary():
            return _binary(expr, lanes)
        case Number(number, dtype):
            return arithmetic.number(number, dtype)
        case Integer(form):
            integer = form_value(form, lanes, evaluate_in, expr.span)
            return np.int64(integer) if isinstance(integer, int) else integer
        case Local(name):
            return lanes.locals[name]
        case Compare(operator, left, right):
            return arithmetic.compare(operator, evaluate_in(left, lanes), evaluate_in(right, lanes))
        case Select():
            return _select(expr, lanes)
        case Unary(operator, operand, dtype):
            return arithmetic.unary(operator, evaluate_in(operand, lanes))
        case Call(function, args):
            values = tuple(evaluate_in(each, lanes) for each in args)
            return arithmetic.call(function, values, args[0].dtype)
        case Convert(operand, dtype):
            return arithmetic.convert(evaluate_in(operand, lanes), operand.dtype, dtype)
        case Let(name, value, body):
            return evaluate_in(body, lanes.let(name, evaluate_in(value, lanes)))
        case Reduce():
            return reduced(expr, lanes, evaluate_in)[0]
        case Parameter(name, dtype):
            parameter = lanes.memory.program.parameters[name]
            assert isinstance(parameter, (int, float)), f"{name} has no value"
            return arithmetic.number(parameter, dtype)


def _binary(expr: Binary, lanes: Lanes) -> Value:
    left = evaluate_in(expr.left, lanes)
    match expr.operator:
        case "and":
            return _early(left, expr.right, lanes, until=False)
        case "or":
            return _early(left, expr.right, lanes, until=True)
    right = evaluate_in(expr.right, lanes)
    if expr.operator in ("floordiv", "mod") and expr.dtype.is_integer:
        right = refuse_zero(right, lanes, lambda: [*symbols_of(expr.right)], expr.span)
    return arithmetic.binary(expr.operator, left, right, expr.dtype)


def _early(left: Value, right: Expr, lanes: Lanes, until: bool) -> Value:
    """`and` (until false) or `or` (until true): the right side runs where the left does not decide."""
    going = lanes.where(left != until)
    if not going.is_active:
        return left
    other = evaluate_in(right, going)
    return left | other if until else left & other


def _select(expr: Select, lanes: Lanes) -> Value:
    condition = evaluate_in(expr.condition, lanes)
    then, other = lanes.where(condition), lanes.where(np.logical_not(condition))
    if not other.is_active:
        return evaluate_in(expr.then, then)
    if not then.is_active:
        return evaluate_in(expr.other, other)
    return np.where(condition, evaluate_in(expr.then, then), evaluate_in(expr.other, other))
