"""Formulas over integer forms: what is known where an expression runs.

    i > 0 and mask[i] and not (j == 2 or f(j))      becomes     i - 1 >= 0  and  (j - 3 >= 0 or 1 - j >= 0)

A condition becomes a formula that holds wherever the condition does: what cannot be said about forms is taken to be
true. So a formula may be assumed in a proof; only one whose condition `is_exact` may be denied as well.
Opaque data and products are variables without meaning here, the same one wherever the same form stands.
It does not decide anything: that is `sets.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tdl.language import forms
from tdl.language.dtypes import I64
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Binary, Binder, Compare, Expr, Integer, Local, Number, Select, Unary, form_of


@dataclass(frozen=True, slots=True)
class AtLeast:
    """`form >= 0`."""

    form: Form


@dataclass(frozen=True, slots=True)
class Equal:
    """`form == 0`."""

    form: Form


@dataclass(frozen=True, slots=True)
class Every:
    """All of the parts hold; no parts is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of the parts holds; no parts is false."""

    parts: tuple[Formula, ...]


Formula = AtLeast | Equal | Every | Some

TRUE = Every(())
FALSE = Some(())

Nature = Literal["affine", "deferred", "data"]


def at_least(left: Form, right: Form | int) -> Formula:
    """`left >= right`."""
    return _atom(AtLeast(left - right))


def less(left: Form, right: Form) -> Formula:
    """`left < right`."""
    return _atom(AtLeast(right - left - 1))


def equal(left: Form, right: Form) -> Formula:
    return _atom(Equal(left - right))


def every(parts: Iterable[Formula]) -> Formula:
    flat: list[Formula] = []
    for part in parts:
        if part == FALSE:
            return FALSE
        flat.extend(part.parts if isinstance(part, Every) else (part,))
    return flat[0] if len(flat) == 1 else Every(tuple(flat))


def some(parts: Iterable[Formula]) -> Formula:
    flat: list[Formula] = []
    for part in parts:
        if part == TRUE:
            return TRUE
        flat.extend(part.parts if isinstance(part, Some) else (part,))
    return flat[0] if len(flat) == 1 else Some(tuple(flat))


def negation(formula: Formula) -> Formula:
    """The formula that holds exactly where this one does not."""
    match formula:
        case AtLeast(form):
            return _atom(AtLeast(-form - 1))
        case Equal(form):
            return some((_atom(AtLeast(form - 1)), _atom(AtLeast(-form - 1))))
        case Every(parts):
            return some(negation(part) for part in parts)
        case Some(parts):
            return every(negation(part) for part in parts)


def substituted(formula: Formula, values: Mapping[Symbol, Form]) -> Formula:
    match formula:
        case AtLeast(form):
            return _atom(AtLeast(forms.substitute(form, values)))
        case Equal(form):
            return _atom(Equal(forms.substitute(form, values)))
        case Every(parts):
            return every(substituted(part, values) for part in parts)
        case Some(parts):
            return some(substituted(part, values) for part in parts)


def forms_of(formula: Formula) -> Iterator[Form]:
    match formula:
        case AtLeast(form) | Equal(form):
            yield form
        case Every(parts) | Some(parts):
            for part in parts:
                yield from forms_of(part)


def within(binder: Binder) -> tuple[Formula, ...]:
    """`lo <= index < hi`."""
    index = forms.symbol(binder.index)
    return (AtLeast(index - binder.lo), AtLeast(binder.hi - index - 1))


def nature(form: Form) -> Nature:
    """Whether a form is quasi-affine, will be once sizes have numbers, or is neither (data, products of indices)."""
    found: Nature = "affine"
    for atom, _ in form.terms:
        match _nature_of_atom(atom):
            case "data":
                return "data"
            case "deferred":
                found = "deferred"
    return found


def formula_of(condition: Expr, holds: bool = True, lets: Mapping[str, Expr] | None = None) -> Formula:
    """What follows about forms where `condition` is true (or, with `holds=False`, where it is false).

    `lets` are the values of the enclosing `Let`s by name.
    """
    match condition:
        case Number(value):
            return TRUE if bool(value) == holds else FALSE
        case Unary("not", operand):
            return formula_of(operand, not holds, lets)
        case Binary("and" | "or" as operator, left, right):
            parts = (formula_of(left, holds, lets), formula_of(right, holds, lets))
            return every(parts) if (operator == "and") == holds else some(parts)
        case Compare(operator, left, right):
            return _comparison(operator, left, right, holds, lets or {})
        case Select(test, then, other):
            chosen = every((formula_of(test, True, lets), formula_of(then, holds, lets)))
            return some((chosen, every((formula_of(test, False, lets), formula_of(other, holds, lets)))))
        case Local(name) if lets and name in lets:
            return formula_of(lets[name], holds, lets)
    return TRUE


def nature_of_condition(condition: Expr) -> Nature:
    """`affine` where its formula says exactly the condition, `deferred` where it will once sizes have numbers."""
    match condition:
        case Number():
            return "affine"
        case Unary("not", operand):
            return nature_of_condition(operand)
        case Binary("and" | "or", left, right):
            return _worse(nature_of_condition(left), nature_of_condition(right))
        case Compare(_, Integer(left), Integer(right)):
            return _worse(nature(left), nature(right))
        case Select(test, then, other):
            return _worse(nature_of_condition(test), _worse(nature_of_condition(then), nature_of_condition(other)))
    return "data"


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def _comparison(operator: str, left: Expr, right: Expr, holds: bool, lets: Mapping[str, Expr]) -> Formula:
    if left.dtype != I64:
        return TRUE
    a, b = _form(left, lets), _form(right, lets)
    match operator if holds else _OPPOSITE[operator]:
        case "eq":
            return equal(a, b)
        case "ne":
            return negation(Equal(a - b))
        case "lt":
            return less(a, b)
        case "le":
            return at_least(b, a)
        case "gt":
            return less(b, a)
    return at_least(a, b)


def _form(expr: Expr, lets: Mapping[str, Expr]) -> Form:
    """The form of an i64 expression."""
    while isinstance(expr, Local) and expr.name in lets:
        expr = lets[expr.name]
    return form_of(expr)


def _atom(atom: AtLeast | Equal) -> Formula:
    if not atom.form.is_constant:
        return atom
    value = atom.form.constant
    return TRUE if (value >= 0 if isinstance(atom, AtLeast) else value == 0) else FALSE


def _nature_of_atom(atom: forms.Atom) -> Nature:
    match atom:
        case Symbol():
            return "affine"
        case forms.Opaque():
            return "data"
        case forms.FloorDiv(dividend, divisor):
            if divisor.is_constant:
                return nature(dividend) if divisor.constant > 0 else "data"
            return _deferred(dividend) if _is_of_sizes(divisor) else "data"
        case forms.Extreme(_, left, right):
            return _worse(nature(left), nature(right))
        case forms.Product(left, right):
            if _is_of_sizes(left):
                return _deferred(right)
            return _deferred(left) if _is_of_sizes(right) else "data"


def _deferred(form: Form) -> Nature:
    return "data" if nature(form) == "data" else "deferred"


def _is_of_sizes(form: Form) -> bool:
    return nature(form) != "data" and all(symbol.kind != "index" for symbol in form.symbols())


def _worse(left: Nature, right: Nature) -> Nature:
    order: tuple[Nature, ...] = ("affine", "deferred", "data")
    return max(left, right, key=order.index)
