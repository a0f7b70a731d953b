"""Expressions to registers. What may not run where it is not chosen is put behind a branch, or under a mask of lanes.

A branch that only computes is evaluated on both sides and selected; one that reads memory, reduces or may fail runs
only where it is chosen, since its accesses are in bounds only there.
"""

from __future__ import annotations

from tdl.compiler.backends.llvm import arithmetic, functions
from tdl.compiler.backends.llvm.context import Code, Context, Site
from tdl.compiler.backends.llvm.conversion import convert
from tdl.compiler.backends.llvm.integers import floor_division, form_value
from tdl.compiler.backends.llvm.memory import locate, read
from tdl.compiler.backends.llvm.reduction import lower_reduce
from tdl.compiler.backends.llvm.scalars import concrete, number, register_type
from tdl.compiler.backends.llvm.values import FALSE, TRUE, Value, operate, select, spread, test, vector_type
from tdl.compiler.kernel.tree import Checked
from tdl.language.diagnostic import InternalError
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
    walk,
)


def lower_expr(context: Context, expr: Expr) -> Value:
    """The register (or constant) that holds the expression's value, or those of the lanes."""
    block = context.block
    match expr:
        case Number(value, dtype):
            return number(value, dtype)
        case Integer(form):
            return form_value(context, form, lower_expr, Site(expr.span))
        case Parameter(name, dtype):
            return _parameter(context, name, expr)
        case Access(name, (offset,)):
            return read(context, locate(context, name, offset, lower_expr, expr.span))
        case Unary(operator, operand):
            return arithmetic.unary(block, operator, lower_expr(context, operand), concrete(expr.dtype))
        case Binary():
            return _binary(context, expr)
        case Compare(operator, left, right):
            values = lower_expr(context, left), lower_expr(context, right)
            return arithmetic.compare(block, operator, *values, concrete(left.dtype))
        case Select():
            return _select(context, expr)
        case Checked():
            return _checked(context, expr)
        case Call(function, (arg,)):
            return functions.call(block, function, lower_expr(context, arg), concrete(arg.dtype))
        case Convert(operand):
            return convert(block, lower_expr(context, operand), concrete(operand.dtype), concrete(expr.dtype))
        case Local(name):
            return context.values[name]
        case Let(name, value, body):
            with context.bound(name, lower_expr(context, value)):
                return lower_expr(context, body)
        case Reduce():
            return lower_reduce(context, expr, lower_expr)
    raise InternalError(f"{type(expr).__name__} in a kernel")


def _parameter(context: Context, name: str, expr: Parameter) -> Value:
    value = context.parameters.get(name)
    if not isinstance(value, (bool, int, float)):
        raise InternalError(f"parameter {name} has no value when code is made")
    return number(value, expr.dtype)


def _binary(context: Context, expr: Binary) -> Value:
    dtype = concrete(expr.dtype)
    if expr.operator in ("and", "or") and must_branch(expr.right):
        if expr.operator == "and":
            return _chosen(context, expr.left, expr.right, FALSE, "i1")
        return _chosen(context, expr.left, TRUE, expr.right, "i1")
    left, right = lower_expr(context, expr.left), lower_expr(context, expr.right)
    if expr.operator in ("floordiv", "mod"):
        want = "quotient" if expr.operator == "floordiv" else "remainder"
        if dtype.is_float:
            return functions.float_division(context.block, left, right, dtype, want=want)
        return floor_division(context, left, right, dtype, Site(expr.span), want=want)
    if expr.operator == "pow":
        return functions.power(context.block, left, right, dtype)
    return arithmetic.binary(context.block, expr.operator, left, right, dtype)


def _select(context: Context, expr: Select) -> Value:
    if must_branch(expr.then) or must_branch(expr.other):
        return _chosen(context, expr.condition, expr.then, expr.other, register_type(expr.dtype))
    condition = lower_expr(context, expr.condition)
    return select(context.block, condition, lower_expr(context, expr.then), lower_expr(context, expr.other))


def _chosen(context: Context, test_: Expr, then: Expr | Value, other: Expr | Value, kind: str) -> Value:
    """The side that the condition chooses. Only that runs, or in lanes that differ, only its lanes do."""
    block = context.block
    condition = lower_expr(context, test_)
    if condition.lanes:
        opposite = operate(block, "xor", condition, TRUE)
        sides = []
        for where, side in ((condition, then), (opposite, other)):
            with context.where(where):
                sides.append(side if isinstance(side, Value) else lower_expr(context, side))
        return select(block, condition, *sides)
    varies = any(not isinstance(side, Value) and context.varies(side) for side in (then, other))
    lanes = context.lanes if varies else 0

    def run(side: Expr | Value) -> str:
        return spread(block, side if isinstance(side, Value) else lower_expr(context, side), lanes).text

    text = block.choose(condition.text, vector_type(kind, lanes), lambda: run(then), lambda: run(other))
    return Value(text, kind, lanes)


def _checked(context: Context, expr: Checked) -> Value:
    """The subscript, which is in 0..size from here on."""
    subscript, size = (lower_expr(context, arg) for arg in expr.args)
    outside = test(context.block, "icmp uge", subscript, size)
    site = Site(expr.span, expr.tensor)
    context.fail_when(outside, Code.OUT_OF_BOUNDS, site, number(expr.axis, expr.dtype), subscript, size)
    return subscript


def must_branch(expr: Expr) -> bool:
    """Whether an expression may only run where it is chosen: it reads, loops, or can fail."""
    return any(_is_guarded(node) for node in walk(expr))


def _is_guarded(node: Expr) -> bool:
    match node:
        case Access() | Reduce() | Checked():
            return True
        case Binary("floordiv" | "mod", _, right, dtype) if not concrete(dtype).is_float:
            return not (isinstance(right, Number) and right.value)
        case Integer(form):
            return not form.is_affine
    return False
