"""Numbers as the text writes them, and whether a type can hold them."""

from __future__ import annotations

from tdl.language import forms, tree
from tdl.language.dtypes import BF16, F16, F32, I64, DType, Type
from tdl.language.scope import Scope, Typed
from tdl.language.source import Span
from tdl.language.types import Open, settle

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_GREATEST = {F16: 65520.0, BF16: 3.3961775292304957e38, F32: 3.4028235677973366e38}
"""Where rounding to nearest first gives infinity."""


def parse_number(text: str) -> int | float:
    """The value of a number token, or of one with a sign."""
    if text.startswith("-"):
        return -parse_number(text[1:])
    plain = text.replace("_", "")
    if plain[:2] in ("0x", "0X"):
        return int(plain, 16)
    for unit, factor in _UNITS.items():
        if plain.endswith(unit):
            return int(plain[: -len(unit)]) * factor
    if any(mark in plain for mark in ".eE"):
        return float(plain)
    return _integer(plain)


def _integer(digits: str) -> int:
    """Longer than any type holds is as good as the first such number (and Python limits what it converts)."""
    return int(digits) if len(digits) <= 400 else 10**400


def literal(value: int | float, span: Span, scope: Scope) -> Typed:
    """A literal of open type; that its final type holds it is checked when it is built."""
    open_type = Open("number" if isinstance(value, int) else "float")
    return Typed(open_type, scope.at(span), lambda: build_literal(value, settle(open_type), span, scope))


def build_literal(value: int | float, dtype: Type, span: Span, scope: Scope) -> tree.Expr:
    place = scope.at(span)
    if isinstance(dtype, DType) and not holds(dtype, value):
        limits = (
            f"{dtype} holds {dtype.least} to {dtype.greatest}" if dtype.is_integer else f"it is infinite in {dtype}"
        )
        scope.error("literal", f"{dtype} cannot hold {shorten(value)}", span, limits)
    if dtype == I64:
        return tree.Integer(forms.constant(int(value)), span=place)
    if isinstance(dtype, DType) and dtype.is_integer:
        return tree.Number(int(value), dtype, span=place)
    return tree.Number(_as_float(value), dtype, span=place)


def holds(dtype: DType, value: int | float) -> bool:
    """Whether a literal fits: integers exactly, floats without becoming infinite."""
    if dtype.is_integer:
        return isinstance(value, int) and dtype.least <= value <= dtype.greatest
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return True
    size = abs(_as_float(value))
    return size < _GREATEST.get(dtype, float("inf"))


def shorten(value: int | float) -> str:
    if isinstance(value, int) and abs(value) >= 10**40:
        return "an integer of so many digits"
    return str(value)


def _as_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
