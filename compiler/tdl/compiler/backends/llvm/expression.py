"""Expressions to registers. What may not run where it is not chosen is put behind a real branch.

A branch that only computes is evaluated on both sides and selected, which vectorises; one that reads memory, reduces or
may fail runs only where it is chosen, since its accesses were proved in bounds only there.
"""

from __future__ import annotations

from tdl.compiler.backends.llvm import arithmetic, functions
from tdl.compiler.backends.llvm.access import lower_access
from tdl.compiler.backends.llvm.context import Context, Register, Site
from tdl.compiler.backends.llvm.conversion import convert
from tdl.compiler.backends.llvm.integers import floor_division, form_value
from tdl.compiler.backends.llvm.reduction import lower_reduce
from tdl.compiler.backends.llvm.scalars import concrete, number, register_type
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


def lower_expr(context: Context, expr: Expr) -> str:
    """The register (or constant) that holds the expression's value."""
    block = context.block
    match expr:
        case Number(value, dtype):
            return number(value, dtype)
        case Integer(form):
            return form_value(context, form, lower_expr, Site(expr.span))
        case Parameter(name, dtype):
            return _parameter(context, name, expr)
        case Access():
            return lower_access(context, expr, lower_expr)
        case Unary(operator, operand):
            return arithmetic.unary(block, operator, lower_expr(context, operand), concrete(expr.dtype))
        case Binary():
            return _binary(context, expr)
        case Compare(operator, left, right):
            values = lower_expr(context, left), lower_expr(context, right)
            return arithmetic.compare(block, operator, *values, concrete(left.dtype))
        case Select():
            return _select(context, expr)
        case Call(function, args):
            return _call(context, function, args)
        case Convert(operand):
            return convert(block, lower_expr(context, operand), concrete(operand.dtype), concrete(expr.dtype))
        case Local(name):
            return _local(context, name, expr)
        case Let(name, value, body):
            with context.bound(name, lower_expr(context, value)):
                return lower_expr(context, body)
        case Reduce():
            return lower_reduce(context, expr, lower_expr)


def _local(context: Context, name: str, expr: Local) -> str:
    value = context.values[name]
    if isinstance(value, Register):
        return context.block.value(f"load {register_type(expr.dtype)}, ptr {value.slot}")
    return value


def _parameter(context: Context, name: str, expr: Parameter) -> str:
    value = context.parameters.get(name)
    if not isinstance(value, (bool, int, float)):
        raise InternalError(f"parameter {name} has no value when code is made")
    return number(value, expr.dtype)


def _binary(context: Context, expr: Binary) -> str:
    dtype = concrete(expr.dtype)
    left = lower_expr(context, expr.left)
    if expr.operator == "and" and must_branch(expr.right):
        return context.block.choose(left, "i1", lambda: lower_expr(context, expr.right), lambda: "false")
    if expr.operator == "or" and must_branch(expr.right):
        return context.block.choose(left, "i1", lambda: "true", lambda: lower_expr(context, expr.right))
    right = lower_expr(context, expr.right)
    if expr.operator in ("floordiv", "mod"):
        want = "quotient" if expr.operator == "floordiv" else "remainder"
        if dtype.is_float:
            return functions.float_division(context.block, left, right, dtype, want=want)
        return floor_division(context, left, right, dtype, Site(expr.span), want=want)
    if expr.operator == "pow":
        return functions.power(context.block, left, right, dtype)
    return arithmetic.binary(context.block, expr.operator, left, right, dtype)


def _select(context: Context, expr: Select) -> str:
    kind = register_type(expr.dtype)
    condition = lower_expr(context, expr.condition)
    if must_branch(expr.then) or must_branch(expr.other):
        return context.block.choose(
            condition, kind, lambda: lower_expr(context, expr.then), lambda: lower_expr(context, expr.other)
        )
    then, other = lower_expr(context, expr.then), lower_expr(context, expr.other)
    return context.block.value(f"select i1 {condition}, {kind} {then}, {kind} {other}")


def _call(context: Context, function: str, args: tuple[Expr, ...]) -> str:
    (value,) = (lower_expr(context, arg) for arg in args)
    return functions.call(context.block, function, value, concrete(args[0].dtype))


def must_branch(expr: Expr) -> bool:
    """Whether an expression may only run where it is chosen: it reads, loops, or can fail."""
    return any(_is_guarded(node) for node in walk(expr))


def _is_guarded(node: Expr) -> bool:
    match node:
        case Access() | Reduce():
            return True
        case Binary("floordiv" | "mod", _, right, dtype) if not concrete(dtype).is_float:
            return not (isinstance(right, Number) and right.value)
        case Integer(form):
            return not form.is_affine
    return False
