"""Integer forms and division as C text.

    N*(i//2) + j        N * tdl_floor_div_i64(i, 2) + j

Offsets, sizes and ends of loops stay far from the ends of 64 bits. What a program computes from indices and data may
not: it is added and multiplied by helpers that wrap.
"""

from __future__ import annotations

from tdl.compiler.backends.c.context import Code
from tdl.compiler.backends.c.lowering import Lower
from tdl.compiler.backends.c.values import PRODUCT, SUM, UNARY, Value, call, cast, operation, size
from tdl.compiler.backends.c.values import integer as constant
from tdl.compiler.backends.llvm.context import Code as Failure
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.kernel.tree import Checked
from tdl.language.dtypes import I64, DType
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Opaque, Product, Symbol

_SMALL = 1 << 15
"""Sizes and indices are below 2**47, what a machine can address: times this, they do not reach the ends of 64 bits."""


def form_value(code: Code, form: Form, lower: Lower, site: Site, *, wraps: bool = False) -> Value:
    """The `int64_t` value of a form; `site` is blamed for a division by zero. `wraps`: it may leave 64 bits."""
    if wraps and not _is_small(form):
        return _wrapping(code, form, lower, site)
    positive = [term for term in form.terms if term[1] > 0]
    negative = [term for term in form.terms if term[1] < 0]
    total: Value | None = None
    for atom, count in (*positive, *negative):
        value = _atom(code, atom, lower, site, wraps=wraps)
        scaled = value if abs(count) == 1 else operation(size(abs(count)), "*", value, PRODUCT)
        if total is not None:
            total = operation(total, "+" if count > 0 else "-", scaled, SUM)
        elif count > 0:
            total = scaled
        elif form.constant > 0:
            total = operation(size(form.constant), "-", scaled, SUM)
        else:
            total = Value(f"-{scaled.within(UNARY - 1)}", UNARY)
    if total is None:
        return size(form.constant)
    if not form.constant or (form.constant > 0 and not positive):
        return total
    return operation(total, "+" if form.constant > 0 else "-", size(abs(form.constant)), SUM)


def _wrapping(code: Code, form: Form, lower: Lower, site: Site) -> Value:
    """What may leave 64 bits is added to the rest by helpers."""
    small = tuple(term for term in form.terms if _is_small(Form((term,), 0)))
    total = form_value(code, Form(small, form.constant), lower, site) if small or form.constant else None
    for atom, count in (term for term in form.terms if term not in small):
        value = _atom(code, atom, lower, site, wraps=True)
        is_taken = count == -1 and total is not None
        scaled = value if count == 1 or is_taken else call(code.unit.helper("tdl_mul_i64"), size(count), value)
        operator = code.unit.helper(f"tdl_{'sub' if is_taken else 'add'}_i64") if total is not None else ""
        total = scaled if total is None else call(operator, total, scaled)
    assert total is not None
    return total


def _is_small(form: Form) -> bool:
    return abs(form.constant) < 1 << 47 and all(
        abs(count) < _SMALL and _is_small_atom(atom) for atom, count in form.terms
    )


def _is_small_atom(atom: Atom) -> bool:
    match atom:
        case Symbol():
            return True
        case FloorDiv(left, right) | Extreme(_, left, right):
            return _is_small(left) and _is_small(right)
        case Product():
            return False
        case Opaque(expr):
            return isinstance(expr, Checked)


def _atom(code: Code, atom: Atom, lower: Lower, site: Site, *, wraps: bool) -> Value:
    match atom:
        case Symbol():
            return code.symbol(atom)
        case FloorDiv(dividend, divisor):
            left, right = (form_value(code, each, lower, site, wraps=wraps) for each in (dividend, divisor))
            return floor_division(code, left, right, I64, site, want="floor_div")
        case Product(left_form, right_form):
            left, right = (form_value(code, each, lower, site, wraps=wraps) for each in (left_form, right_form))
            if wraps:
                return call(code.unit.helper("tdl_mul_i64"), left, right)
            return operation(left, "*", right, PRODUCT)
        case Extreme(kind, left_form, right_form):
            left, right = (form_value(code, each, lower, site, wraps=wraps) for each in (left_form, right_form))
            return call(code.unit.helper(f"tdl_{kind}_i64"), left, right)
        case Opaque(expr):
            return lower(code, expr)


def floor_division(code: Code, left: Value, right: Value, dtype: DType, site: Site, *, want: str) -> Value:
    """`left // right` or `left % right` (`want` is `floor_div` or `mod`) of an integer dtype."""
    if not _is_number(right):
        right = code.temporary(f"{_type(dtype)}", right, "divisor")
        code.fail_when(Value(f"{right.text} == 0"), Failure.DIVISION_BY_ZERO, site)
    elif right.text.rstrip("u") in ("0", "UINT64_C(0)"):
        code.fail_when(Value("true"), Failure.DIVISION_BY_ZERO, site)
        return constant(0, dtype)
    if dtype.kind == "unsigned":
        made = operation(left, "/" if want == "floor_div" else "%", right, PRODUCT)
        return cast(_type(dtype), made) if dtype.bits < 32 else made
    return call(code.unit.helper(f"tdl_{want}_{dtype}"), left, right)


def _is_number(value: Value) -> bool:
    return value.text.lstrip("-")[:1].isdigit() or value.text.lstrip("-").startswith(("INT", "UINT"))


def _type(dtype: DType) -> str:
    return f"{'u' if dtype.kind == 'unsigned' else ''}int{dtype.bits}_t"
