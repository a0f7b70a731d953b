"""Forms and conditions made simpler by what is known where they stand.

min(64, N - 64*j)       becomes     64              in the loop over j in 0..N//64
(16*v + l)//64          becomes     0               with v in 0..4, l in 0..16
(64*j + r)//16          becomes     4*j + r//16
N - i - 1 >= 0          becomes     true            in the loop over i in 0..N
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import gcd

from tdl.compiler.kernel.tree import Checked, Guard, Kernel, Lanes, Loop, Node
from tdl.compiler.kernel.walk import Nodes, body_of, map_bodies, map_forms, substitute, with_body
from tdl.compiler.lower.known import Known
from tdl.language import forms
from tdl.language.conditions import formula_of
from tdl.language.dtypes import BOOL
from tdl.language.forms import Atom, Extreme, FloorDiv, Form, Opaque, Product, Symbol
from tdl.language.inequalities import linear
from tdl.language.tree import Binary, Compare, Expr, Integer, Number, Select, map_children
from tdl.language.witness import size_facts

TRUE, FALSE = Number(True, BOOL), Number(False, BOOL)


def simplify(kernel: Kernel) -> Kernel:
    """The kernel with every form, condition and range as simple as is known; what never runs is gone."""
    return replace(kernel, body=simplified_nodes(kernel.body, Known(size_facts(kernel.program))))


def simplified_nodes(nodes: Nodes, known: Known) -> Nodes:
    return map_bodies(nodes, lambda node: _node(node, known))


def _node(node: Node, known: Known) -> Nodes:
    node = map_forms(node, lambda form: simplified(form, known), lambda expr: simplified_expr(expr, known))
    match node:
        case Loop(symbol, lo, hi):
            if known.holds(lo - hi):
                return ()
            if hi - lo == forms.constant(1) and node.kind != "parallel":
                return simplified_nodes(substitute(node.body, {symbol: lo}), known)
            return with_body(node, simplified_nodes(node.body, known.inside(symbol, lo, hi)))
        case Lanes(symbol, count, active):
            if active is not None and known.holds(active - count):
                node = replace(node, active=None)
            hi = forms.constant(count) if node.active is None else node.active
            return with_body(node, simplified_nodes(node.body, known.inside(symbol, forms.ZERO, hi)))
        case Guard(condition):
            if condition == FALSE:
                return ()
            body = simplified_nodes(node.body, known.where(conditions_of(condition)))
            return body if condition == TRUE else with_body(node, body)
    return with_body(node, simplified_nodes(body_of(node), known)) if body_of(node) else (node,)


def conditions_of(condition: Expr) -> list[Form]:
    """The forms that are >= 0 where a condition holds."""
    return [form for form in linear((formula_of(condition),)) if form.is_affine]


def condition(of: Iterable[Form]) -> Expr | None:
    """That all forms are >= 0; None for no forms."""
    result: Expr | None = None
    for form in of:
        test = Compare("ge", Integer(form), Integer(forms.ZERO))
        result = test if result is None else Binary("and", result, test, BOOL)
    return result


# ---- forms


def simplified(form: Form, known: Known) -> Form:
    """An equal form, wherever what is known holds."""
    if all(isinstance(atom, Symbol) for atom, _ in form.terms):
        return form
    result = forms.constant(form.constant)
    for atom, coefficient in form.terms:
        result = result + _atom(atom, known) * coefficient
    return result


def _atom(atom: Atom, known: Known) -> Form:
    match atom:
        case Symbol():
            return forms.symbol(atom)
        case Extreme(kind, left, right):
            left, right = simplified(left, known), simplified(right, known)
            if known.holds(right - left):
                return left if kind == "min" else right
            if known.holds(left - right):
                return right if kind == "min" else left
            return forms.extreme(kind, left, right)
        case FloorDiv(dividend, divisor):
            return _quotient(simplified(dividend, known), simplified(divisor, known), known)
        case Product(left, right):
            return forms.product(simplified(left, known), simplified(right, known))
        case Opaque(expr):
            return forms.opaque(simplified_expr(expr, known))


def _quotient(dividend: Form, divisor: Form, known: Known) -> Form:
    whole = forms.floor_div(dividend, divisor)
    if not divisor.is_constant or divisor.constant <= 0:
        is_small = known.holds(dividend) and known.holds(divisor - dividend - 1)
        return forms.ZERO if is_small else whole
    result = forms.constant(whole.constant)
    for atom, coefficient in whole.terms:
        match atom:
            case FloorDiv(inner, by) if by.is_constant:
                result = result + _divided(inner, by.constant, known) * coefficient
            case _:
                result = result + Form(((atom, coefficient),), 0)
    return result


def _divided(dividend: Form, by: int, known: Known) -> Form:
    """`dividend // by` where no multiple of `by` can be taken out."""
    least, greatest = known.number(dividend, "least"), known.number(dividend, "greatest")
    if least is not None and greatest is not None and least // by == greatest // by:
        return forms.constant(least // by)
    return _without_small_part(dividend, by, known) or Form(((FloorDiv(dividend, forms.constant(by)), 1),), 0)


def _without_small_part(dividend: Form, by: int, known: Known) -> Form | None:
    """`(g*a + r)//(g*b)` is `a//b` where r is in 0..g."""
    for step in sorted({gcd(count, by) for _, count in dividend.terms} - {1}, reverse=True):
        multiples = Form(tuple(term for term in dividend.terms if term[1] % step == 0), 0)
        rest = dividend - multiples
        least = known.number(rest, "least")
        if least is None:
            continue
        base = least // step * step
        if known.holds(-(rest - base) + (step - 1)):
            inner = Form(tuple((atom, count // step) for atom, count in multiples.terms), base // step)
            return _quotient(inner, forms.constant(by // step), known)
    return None


# ---- expressions


def simplified_expr(expr: Expr, known: Known) -> Expr:
    """An expression with the same value; conditions that are decided take their branch."""
    match expr:
        case Select(test, then, other):
            test = simplified_expr(test, known)
            if test == TRUE:
                return simplified_expr(then, known)
            if test == FALSE:
                return simplified_expr(other, known)
            chosen = simplified_expr(then, known.where(conditions_of(test)))
            return replace(expr, condition=test, then=chosen, other=simplified_expr(other, known))
        case Compare(operator, Integer(left), Integer(right)):
            return _compared(expr, operator, simplified(left, known), simplified(right, known), known)
        case Binary("and", left, right):
            left = simplified_expr(left, known)
            if left == FALSE:
                return FALSE
            right = simplified_expr(right, known.where(conditions_of(left)))
            return right if left == TRUE else left if right == TRUE else replace(expr, left=left, right=right)
        case Binary("or", left, right):
            left, right = simplified_expr(left, known), simplified_expr(right, known)
            return TRUE if left == TRUE else right if left == FALSE else replace(expr, left=left, right=right)
        case Checked(args=(Integer(at), Integer(size))):
            if known.holds(at) and known.holds(size - at - 1):
                return Integer(at)
    made = map_children(expr, lambda each: simplified_expr(each, known), lambda form: simplified(form, known))
    if isinstance(made, Integer) and len(made.form.terms) == 1 and made.form.constant == 0:
        match made.form.terms[0]:
            case (Opaque(Integer() as inside), 1):
                return inside
    return made


_GAPS = {
    # operator: the form that is >= 0 where it holds, the one where it does not
    "lt": lambda a, b: (b - a - 1, a - b), "le": lambda a, b: (b - a, a - b - 1),
    "gt": lambda a, b: (a - b - 1, b - a), "ge": lambda a, b: (a - b, b - a - 1),
}  # fmt: skip


def _compared(expr: Compare, operator: str, left: Form, right: Form, known: Known) -> Expr:
    if operator in _GAPS:
        holds, fails = _GAPS[operator](left, right)
        if known.holds(holds):
            return TRUE
        if known.holds(fails):
            return FALSE
    elif left == right or known.holds(left - right - 1) or known.holds(right - left - 1):
        return TRUE if (left == right) == (operator == "eq") else FALSE
    return replace(expr, left=Integer(left), right=Integer(right))
