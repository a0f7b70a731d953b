"""Integer division as the language has it, and the values of integer forms.

Division rounds down, a zero divisor fails, and the least value divided by -1 wraps; LLVM's own division would be
undefined for the last two, also in lanes that do not run.
"""

from __future__ import annotations

from tdl.compiler.backends.llvm.context import Code, Context, Site
from tdl.compiler.backends.llvm.lowering import Lower
from tdl.compiler.backends.llvm.values import Value, cast, divide, integer, intrinsic, operate, select, test
from tdl.language.dtypes import I64, DType
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Opaque, Product, Symbol


def floor_division(context: Context, left: Value, right: Value, dtype: DType, site: Site, *, want: str) -> Value:
    """`left // right` or `left % right` (`want` is `quotient` or `remainder`) of an integer dtype."""
    block = context.block
    constant = int(right.text) if right.is_constant and not right.lanes else None
    if constant is None or constant == 0:
        zero = test(block, "icmp eq", right, integer(0, right.kind))
        context.fail_when(zero, Code.DIVISION_BY_ZERO, site)
        if context.mask is not None:
            right = select(block, zero, integer(1, right.kind), right)
    if dtype.kind == "unsigned":
        return divide(block, "udiv" if want == "quotient" else "urem", left, right)
    if constant == -1:
        nothing = integer(0, right.kind)
        return operate(block, "sub", nothing, left) if want == "quotient" else nothing
    if constant is not None:
        return _signed(context, left, right, want)
    negates = test(block, "icmp eq", right, integer(-1, right.kind))
    safe = select(block, negates, integer(1, right.kind), right)
    plain = _signed(context, left, safe, want)
    if want == "remainder":
        return plain  # by 1, and so 0, where the divisor is -1
    return select(block, negates, operate(block, "sub", integer(0, right.kind), left), plain)


def _signed(context: Context, left: Value, right: Value, want: str) -> Value:
    """Floor division by something that is neither 0 nor -1, from LLVM's division towards zero."""
    block, nothing = context.block, integer(0, right.kind)
    if right.is_constant and not right.lanes and int(right.text) > 0 and int(right.text).bit_count() == 1:
        shift = int(right.text).bit_length() - 1
        if want == "quotient":
            return operate(block, "ashr", left, integer(shift, right.kind))
        return operate(block, "and", left, integer(int(right.text) - 1, right.kind))
    remainder = divide(block, "srem", left, right)
    inexact = test(block, "icmp ne", remainder, nothing)
    opposed = test(block, "icmp slt", operate(block, "xor", remainder, right), nothing)
    adjust = operate(block, "and", inexact, opposed)
    if want == "quotient":
        quotient = divide(block, "sdiv", left, right)
        return operate(block, "add", quotient, cast(block, "sext", adjust, right.kind))
    return select(block, adjust, operate(block, "add", remainder, right), remainder)


def form_value(context: Context, form: Form, lower: Lower, site: Site) -> Value:
    """The i64 value of a form; sums and products wrap. `site` is blamed for a division by zero.

    What all lanes share is added up first.
    """
    block = context.block
    shared: Value | None = None
    varying: Value | None = None
    for atom, count in form.terms:
        value = _atom(context, atom, lower, site)
        total = varying if value.lanes else shared
        if count == -1 and total is not None:
            total = operate(block, "sub", total, value)
        else:
            scaled = value if count == 1 else operate(block, "mul", value, integer(_wrapped(count)))
            total = scaled if total is None else operate(block, "add", total, scaled)
        shared, varying = (shared, total) if value.lanes else (total, varying)
    if shared is None:
        shared = integer(_wrapped(form.constant))
    elif form.constant:
        shared = operate(block, "add", shared, integer(_wrapped(form.constant)))
    if varying is None:
        return shared
    return varying if shared.text == "0" else operate(block, "add", varying, shared)


def _atom(context: Context, atom: Atom, lower: Lower, site: Site) -> Value:
    match atom:
        case Symbol():
            return context.symbol(atom)
        case FloorDiv(dividend, divisor):
            left, right = (form_value(context, each, lower, site) for each in (dividend, divisor))
            return floor_division(context, left, right, I64, site, want="quotient")
        case Product(left_form, right_form):
            left, right = (form_value(context, each, lower, site) for each in (left_form, right_form))
            return operate(context.block, "mul", left, right)
        case Extreme(kind, left_form, right_form):
            left, right = (form_value(context, each, lower, site) for each in (left_form, right_form))
            return intrinsic(context.block, f"s{kind}", left, right)
        case Opaque(expr):
            return lower(context, expr)


def _wrapped(value: int) -> int:
    """An integer as the i64 it wraps to."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
