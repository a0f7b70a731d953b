"""Expressions to C text. What text cannot say (a name for a value, a loop, a check) becomes lines before it.

    t*t if x > 0 else 0, with t = f(x)          float chosen;
                                                if (x > 0.0f) {
                                                    const float t = f(x);
                                                    chosen = t * t;
                                                } else ...

A branch that needs no lines of its own is `? :`, of which C too evaluates one side.
"""

from __future__ import annotations

from tdl.compiler.backends.c import functions
from tdl.compiler.backends.c.block import Line
from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.conversion import convert
from tdl.compiler.backends.c.integers import floor_division, form_value
from tdl.compiler.backends.c.memory import loaded
from tdl.compiler.backends.c.operators import binary, compare, unary
from tdl.compiler.backends.c.reduction import lower_reduce, named
from tdl.compiler.backends.c.values import AND, CHOICE, FALSE, OR, TRUE, Value, element, number, operation, value_type
from tdl.compiler.backends.llvm.context import Code as Failure
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.kernel.tree import Checked
from tdl.language.diagnostic import InternalError
from tdl.language.forms import Form
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
)


def lower_expr(code: Code, expr: Expr) -> Value:
    """The expression's value as text, after the lines that it needs."""
    match expr:
        case Number(value, dtype):
            return number(value, dtype)
        case Integer(form):
            return form_value(code, form, lower_expr, Site(expr.span), wraps=True)
        case Parameter(name, dtype):
            given = code.parameters.get(name)
            if not isinstance(given, bool | int | float):
                raise InternalError(f"parameter {name} has no value when code is made")
            return number(given, dtype)
        case Access(name, (offset,)):
            return read(code, name, offset, Site(expr.span, name))
        case Unary(operator, operand):
            return unary(code, operator, lower_expr(code, operand), concrete(expr.dtype))
        case Binary():
            return _binary(code, expr)
        case Compare(operator, left, right):
            values = lower_expr(code, left), lower_expr(code, right)
            return compare(operator, *values)
        case Select(condition, then, other):
            return _chosen(code, lower_expr(code, condition), then, other, value_type(expr.dtype))
        case Checked():
            return _checked(code, expr)
        case Call(function, (arg,)):
            return functions.function(code, function, lower_expr(code, arg), concrete(arg.dtype))
        case Convert(operand):
            return convert(code, lower_expr(code, operand), concrete(operand.dtype), concrete(expr.dtype))
        case Local(name):
            return code.locals[name]
        case Let(name, value, body):
            with code.bound(name, named(code, name, value_type(value.dtype), lower_expr(code, value), (body,))):
                return lower_expr(code, body)
        case Reduce():
            return lower_reduce(code, expr, lower_expr)
    raise InternalError(f"{type(expr).__name__} in a kernel")


def read(code: Code, name: str, offset: Form, site: Site) -> Value:
    """An element of a buffer, as a value."""
    array = code.array(name)
    raw = element(array.name, form_value(code, offset, lower_expr, site))
    return loaded(code, raw, array.dtype)


def _binary(code: Code, expr: Binary) -> Value:
    dtype = concrete(expr.dtype)
    left = lower_expr(code, expr.left)
    if expr.operator in ("and", "or"):
        return _early(code, expr.operator, left, expr.right)
    right = lower_expr(code, expr.right)
    if expr.operator in ("floordiv", "mod") and not dtype.is_float:
        want = "floor_div" if expr.operator == "floordiv" else "mod"
        return floor_division(code, left, right, dtype, Site(expr.span), want=want)
    return binary(code, expr.operator, left, right, dtype)


def _early(code: Code, operator: str, left: Value, right: Expr) -> Value:
    """`and` and `or`, whose right side may be one that only runs where the left does not decide."""
    with code.block.aside() as lines:
        value = lower_expr(code, right)
    if not lines:
        return operation(left, "&&" if operator == "and" else "||", value, AND if operator == "and" else OR)
    runs = (lines, value)
    return _branches(code, left, *((runs, ([], FALSE)) if operator == "and" else (([], TRUE), runs)), "bool")


def _chosen(code: Code, condition: Value, then: Expr, other: Expr, type_: str) -> Value:
    """The side that the condition chooses; only that runs."""
    with code.block.aside() as first:
        one = lower_expr(code, then)
    with code.block.aside() as second:
        two = lower_expr(code, other)
    if first or second:
        return _branches(code, condition, (first, one), (second, two), type_)
    return Value(f"{condition.within(OR)} ? {one.within(OR)} : {two.within(CHOICE)}", CHOICE)


Side = tuple[list[Line], Value]


def _branches(code: Code, condition: Value, then: Side, other: Side, type_: str) -> Value:
    block = code.block
    name = block.fresh("chosen", *then[0], *other[0])
    block.put(f"{type_} {name};")
    for head, (lines, value) in ((f"if ({condition.text}) {{", then), ("} else {", other)):
        block.put(head)
        block.lines += lines
        with block.inside():
            block.put(f"{name} = {value.text};")
    block.put("}")
    return Value(name)


def _checked(code: Code, expr: Checked) -> Value:
    """The subscript, which is in 0..size from here on."""
    subscript, size = (lower_expr(code, arg) for arg in expr.args)
    kept = code.temporary("int64_t", subscript, "at")
    outside = Value(f"{kept.text} < 0 || {kept.text} >= {size.within(OR)}")
    code.fail_when(
        outside, Failure.OUT_OF_BOUNDS, Site(expr.span, expr.tensor), number(expr.axis, expr.dtype), kept, size
    )
    return kept
