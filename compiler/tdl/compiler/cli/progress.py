"""A progress bar or a spinner on standard error, for work of more than a second and a person who watches.

Nothing is shown where standard error is not a terminal. What the command prints meanwhile goes to standard output; the
bar is cleared before, so that the two do not mix where both are the same terminal.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from tdl.compiler.cli.screen import stderr
from tdl.language.frame import Fragment, Line

Item = TypeVar("Item")
PATIENCE = 1.0
"""Seconds before anything appears."""
_CELLS = 30
_CLEAR = "\r\x1b[K"


class Bar:
    """How many of some items are done. It appears when its patience ends, be it in the middle of an item."""

    def __init__(self, words: str, total: int) -> None:
        self._words = words
        self._total = total
        self._done = 0
        self._is_visible = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE, self._appear)
        self._timer.daemon = True

    def over(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items one by one; the bar moves after each, and is gone at the end."""
        if not sys.stderr.isatty():
            yield from items
            return
        self._timer.start()
        try:
            for item in items:
                yield item
                self._done += 1
                self._draw()
        finally:
            self._timer.cancel()
            self.clear()

    def clear(self) -> None:
        """Make room for a line of output."""
        with self._lock:
            if self._is_visible:
                sys.stderr.write(_CLEAR)
                sys.stderr.flush()

    def _appear(self) -> None:
        self._is_visible = True
        self._draw()

    def _draw(self) -> None:
        with self._lock:
            if self._is_visible:
                sys.stderr.write(_CLEAR)
                stderr().write_part(self._line())
                sys.stderr.flush()

    def _line(self) -> Line:
        full = _CELLS * self._done // self._total
        return (
            Fragment(f"{self._words} "),
            Fragment("━" * full, "good"),
            Fragment("─" * (_CELLS - full), "dim"),
            Fragment(f" {self._done}/{self._total}", "dim"),
        )


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
