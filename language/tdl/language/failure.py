"""What a program raises while it runs, in the evaluator and in compiled code alike."""

from __future__ import annotations

from tdl.language.source import NOWHERE, Span


class Failure(Exception):
    """A run-time error of a TDL program. `span` is relative to the op's item."""

    def __init__(self, message: str, op: str = "", span: Span = NOWHERE) -> None:
        super().__init__(message)
        self.op = op
        self.span = span


class OutOfBounds(Failure, IndexError):
    """A checked access landed outside its tensor."""


class DivisionByZero(Failure, ZeroDivisionError):
    """An integer was divided by zero."""
