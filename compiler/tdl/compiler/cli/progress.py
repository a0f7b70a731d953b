"""A progress bar or a spinner on standard error, for work of more than a second and a person who watches."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE = 1.0
"""Seconds before the bar appears."""


def track(items: Sequence[Item], words: str) -> Iterable[Item]:
    """The items, one by one; nothing is shown where standard error is not a terminal, or all is done at once."""
    return _watched(items, words) if sys.stderr.isatty() else items


def _watched(items: Sequence[Item], words: str) -> Iterator[Item]:
    start = time.monotonic()
    remaining = iter(items)
    for done, item in enumerate(remaining, 1):
        yield item
        if time.monotonic() - start > PATIENCE:
            yield from _with_bar(remaining, len(items), done, words)


def _with_bar(remaining: Iterator[Item], total: int, done: int, words: str) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=True) as progress:
        task = progress.add_task(words, total=total, completed=done)
        for item in remaining:
            yield item
            progress.advance(task)


@contextmanager
def waiting(words: str) -> Iterator[None]:
    """A spinner while one thing of unknown length is done."""
    if not sys.stderr.isatty():
        yield
        return
    finished = threading.Event()
    spinner = threading.Thread(target=_spin, args=(words, finished), daemon=True)
    spinner.start()
    try:
        yield
    finally:
        finished.set()
        spinner.join()


def _spin(words: str, finished: threading.Event) -> None:
    if finished.wait(PATIENCE):
        return
    from rich.console import Console

    with Console(stderr=True).status(words):
        finished.wait()
