"""Answers that take their time, made in slices: other messages are seen between them.

def code_action(snapshot, params) -> Slices[list[CodeAction]]:
    for each in ...:
        yield
        ...
    return found
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")

Slices = Generator[None, None, T]
"""Yields where it may be interrupted; returns the answer."""


def at_once(answer: Any) -> Any:
    """The answer, if need be after all slices."""
    if not isinstance(answer, Generator):
        return answer
    found: list[Any] = []
    for _ in _finding(answer, found):
        pass
    return found[0]


async def between_others(answer: Any, check: Callable[[], None]) -> Any:
    """The answer; before each slice others have their turn, and then `check` may raise."""
    if not isinstance(answer, Generator):
        return answer
    found: list[Any] = []
    for _ in _finding(answer, found):
        await asyncio.sleep(0)
        check()
    return found[0]


def _finding(answer: Slices[Any], found: list[Any]) -> Generator[None, None, None]:
    found.append((yield from answer))
