"""A schedule line that is not applied: why, with a counterexample, and what would be legal there."""

from __future__ import annotations


class Refusal(Exception):
    """`code` is a key of the table of diagnostics; `notes` hold the counterexample and the alternatives."""

    def __init__(self, code: str, message: str, *notes: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.notes = notes


class NeedsSize(Refusal):
    """A refusal only for want of a number: with the sizes of a call the line may be legal."""

    def __init__(self, message: str, *notes: str, code: str = "schedule") -> None:
        super().__init__(code, message, *notes)
