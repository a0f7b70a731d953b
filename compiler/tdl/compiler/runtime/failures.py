"""A kernel's failure as the exception that the evaluator would raise."""

from __future__ import annotations

from typing import NoReturn

from tdl.compiler.backends.llvm.context import Code, Site
from tdl.language.failure import DivisionByZero, OutOfBounds


def raise_failure(op: str, sites: tuple[Site, ...], code: int, site: int, *details: int) -> NoReturn:
    """Raise what the error record says; `details` are of a failed access its axis, subscript and size."""
    place = sites[site]
    if code == Code.DIVISION_BY_ZERO:
        raise DivisionByZero(f"{op}: an integer is divided by zero", op, place.span)
    axis, subscript, size = details
    message = f"{op}: {place.tensor} has {size} elements along dimension {axis}, and is read at {subscript}"
    raise OutOfBounds(message, op, place.span)
