"""Answers that ask, on their way, whether changes of the text are legal.

    def code_action(snapshot, params) -> Asking[list[CodeAction]]:
        for choice in ...:
            found += yield from first_legal(choice)
        return found

Trying a change costs from a millisecond to a second, so the server asks a process beside it, and answers others
meanwhile; tests ask at once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable
from typing import Any, TypeVar

from tdl.lsp.actions.candidate import Candidate, Choice

T = TypeVar("T")

Objections = list["str | None"]
"""Why the changes of a choice may not be made, up to the first that may: None."""

Asking = Generator[Choice, Objections, T]
"""Yields changes to be tried, is sent the objections to them, and returns the answer."""


def first_legal(choice: Choice) -> Asking[list[Candidate]]:
    """The first change of a choice that is legal, if one is."""
    objections = (yield choice) if choice else []
    return [choice[len(objections) - 1]] if objections and objections[-1] is None else []


def each_legal(choices: Iterable[Choice]) -> Asking[list[Candidate]]:
    """The same of several choices."""
    found: list[Candidate] = []
    for choice in choices:
        found += yield from first_legal(choice)
    return found


def some_legal(candidates: Iterable[Candidate], most: int) -> Asking[list[Candidate]]:
    """The first so many changes that are legal."""
    found: list[Candidate] = []
    for candidate in candidates:
        if len(found) == most:
            break
        found += yield from first_legal((candidate,))
    return found


def at_once(answer: Any, ask: Callable[[Choice], Objections]) -> Any:
    """The answer, of a kind that asks or not."""
    if not isinstance(answer, Generator):
        return answer
    try:
        choice = next(answer)
        while True:
            choice = answer.send(ask(choice))
    except StopIteration as end:
        return end.value


async def meanwhile(answer: Any, ask: Callable[[Choice], Awaitable[Objections]]) -> Any:
    """The answer, with others answered while it asks."""
    if not isinstance(answer, Generator):
        return answer
    try:
        choice = next(answer)
        while True:
            choice = answer.send(await ask(choice))
    except StopIteration as end:
        return end.value
