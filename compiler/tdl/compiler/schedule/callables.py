"""Forms as Python functions of what symbols are worth, for runs that ask the same form thousands of times.

min(M, 4*io + 4)        lambda v: min(v[M], 4*v[io] + 4)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from tdl.language import forms
from tdl.language.failure import DivisionByZero
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Expr

Values = Mapping[Symbol, int]
FormFunction = Callable[[Values], int]


def form_function(form: Form, data: Callable[[Expr], Callable[[], Any]]) -> FormFunction:
    """The form's value, given those of its symbols; `data` makes functions of what is read from data."""
    try:
        return _without_data(form)
    except _HasData:
        return _made(form, data)


class _HasData(Exception):
    """A form is not decided by its symbols."""


def _no_data(_: Expr) -> Callable[[], Any]:
    raise _HasData


@lru_cache(maxsize=1 << 14)
def _without_data(form: Form) -> FormFunction:
    return _made(form, _no_data)


def _made(form: Form, data: Callable[[Expr], Callable[[], Any]]) -> FormFunction:
    named: dict[str, Any] = {"divided": _divided}
    text = _text(form, named, data)
    function: FormFunction = eval(f"lambda v: {text}", named)
    return function


def _text(form: Form, named: dict[str, Any], data: Callable[[Expr], Callable[[], Any]]) -> str:
    """The form in Python; what it speaks of by name is put into `named`."""

    def name(what: Any) -> str:
        made = f"n{len(named)}"
        named[made] = what
        return made

    def atom_text(atom: forms.Atom) -> str:
        match atom:
            case Symbol():
                return f"v[{name(atom)}]"
            case forms.FloorDiv(dividend, Form((), by)) if by:
                return f"({go(dividend)})//{by}"
            case forms.FloorDiv(dividend, divisor):
                return f"divided({go(dividend)}, {go(divisor)})"
            case forms.Extreme(kind, left, right):
                return f"{kind}({go(left)}, {go(right)})"
            case forms.Product(left, right):
                return f"({go(left)})*({go(right)})"
            case forms.Opaque(expr):
                return f"int({name(data(expr))}())"

    def go(form: Form) -> str:
        terms = [atom_text(atom) if count == 1 else f"{count}*({atom_text(atom)})" for atom, count in form.terms]
        return " + ".join([*terms, str(form.constant)] if form.constant or not terms else terms)

    return go(form)


def _divided(dividend: int, divisor: int) -> int:
    if divisor == 0:
        raise DivisionByZero("an integer is divided by zero", "")
    return dividend // divisor
