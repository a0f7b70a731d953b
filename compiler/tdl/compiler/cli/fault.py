"""What a command raises when it cannot go on: a message for people, perhaps a hint, and the exit code."""

from __future__ import annotations

ERRORS = 1
USAGE = 2


class Fault(Exception):
    """`message` names the file or argument; `hint` says what would work."""

    def __init__(self, message: str, hint: str = "", exit_code: int = USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
