"""Integer division as the language has it, and the values of integer forms.

Division rounds down, a zero divisor fails, and the least value divided by -1 wraps; LLVM's own division would be
undefined for the last two.
"""

from __future__ import annotations

from tdl.compiler.backends.llvm.context import Code, Context, Site
from tdl.compiler.backends.llvm.lowering import Lower
from tdl.compiler.backends.llvm.scalars import register_type
from tdl.language.dtypes import I64, DType
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Opaque, Product, Symbol


def floor_division(context: Context, left: str, right: str, dtype: DType, site: Site, *, want: str) -> str:
    """`left // right` or `left % right` (`want` is `quotient` or `remainder`) on registers of an integer dtype."""
    kind = register_type(dtype)
    constant = _constant(right)
    if constant is None or constant == 0:
        zero = context.block.value(f"icmp eq {kind} {right}, 0")
        context.fail_when(zero, Code.DIVISION_BY_ZERO, site)
    divide = context.block.divide if constant is None else context.block.value
    if dtype.kind == "unsigned":
        return divide(f"{'udiv' if want == 'quotient' else 'urem'} {kind} {left}, {right}")
    if constant == -1:
        return context.block.value(f"sub {kind} 0, {left}") if want == "quotient" else "0"
    if constant is not None:
        return _signed(context, left, right, kind, want)
    block = context.block
    negates = block.value(f"icmp eq {kind} {right}, -1")
    safe = block.value(f"select i1 {negates}, {kind} 1, {kind} {right}")
    plain = _signed(context, left, safe, kind, want)
    if want == "remainder":
        return plain  # by 1, and so 0, where the divisor is -1
    opposite = block.value(f"sub {kind} 0, {left}")
    return block.value(f"select i1 {negates}, {kind} {opposite}, {kind} {plain}")


def _signed(context: Context, left: str, right: str, kind: str, want: str) -> str:
    """Floor division by something that is neither 0 nor -1, from LLVM's division towards zero."""
    block = context.block
    divide = block.value if _constant(right) is not None else block.divide
    remainder = divide(f"srem {kind} {left}, {right}")
    inexact = block.value(f"icmp ne {kind} {remainder}, 0")
    mixed = block.value(f"xor {kind} {remainder}, {right}")
    opposed = block.value(f"icmp slt {kind} {mixed}, 0")
    adjust = block.value(f"and i1 {inexact}, {opposed}")
    if want == "quotient":
        quotient = divide(f"sdiv {kind} {left}, {right}")
        return block.value(f"add {kind} {quotient}, {block.value(f'sext i1 {adjust} to {kind}')}")
    moved = block.value(f"add {kind} {remainder}, {right}")
    return block.value(f"select i1 {adjust}, {kind} {moved}, {kind} {remainder}")


def form_value(context: Context, form: Form, lower: Lower, site: Site) -> str:
    """The i64 value of a form; sums and products wrap. `site` is blamed for a division by zero."""
    block = context.block
    total: str | None = None
    for atom, count in form.terms:
        value = _atom(context, atom, lower, site)
        if count == -1 and total is not None:
            total = block.value(f"sub i64 {total}, {value}")
            continue
        scaled = value if count == 1 else block.value(f"mul i64 {value}, {_wrapped(count)}")
        total = scaled if total is None else block.value(f"add i64 {total}, {scaled}")
    if total is None:
        return str(_wrapped(form.constant))
    return total if form.constant == 0 else block.value(f"add i64 {total}, {_wrapped(form.constant)}")


def _atom(context: Context, atom: Atom, lower: Lower, site: Site) -> str:
    match atom:
        case Symbol():
            return context.symbol(atom)
        case FloorDiv(dividend, divisor):
            left, right = (form_value(context, each, lower, site) for each in (dividend, divisor))
            return floor_division(context, left, right, I64, site, want="quotient")
        case Product(left_form, right_form):
            left, right = (form_value(context, each, lower, site) for each in (left_form, right_form))
            return context.block.value(f"mul i64 {left}, {right}")
        case Extreme(kind, left_form, right_form):
            left, right = (form_value(context, each, lower, site) for each in (left_form, right_form))
            return context.block.value(f"call i64 @llvm.s{kind}.i64(i64 {left}, i64 {right})")
        case Opaque(expr):
            return lower(context, expr)


def _wrapped(value: int) -> int:
    """An integer as the i64 it wraps to."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _constant(text: str) -> int | None:
    return None if text.startswith("%") else int(text)
