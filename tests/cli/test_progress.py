"""The progress bar: only for a person, only after a while, and never between the lines of a result."""

from __future__ import annotations

import io
import sys
import time

import pytest
from tdl.compiler.cli import progress
from tdl.compiler.cli.progress import Bar, waiting


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def watch(monkeypatch):
    """Puts a terminal in the place of standard error, in the test itself: before it, pytest puts its own there."""

    def put(patience=0.0):
        monkeypatch.setattr(progress, "PATIENCE", patience)
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("TERM", "xterm")
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        return terminal

    return put


def wait_for(condition):
    for _ in range(10_000):
        if condition():
            return
        time.sleep(0.001)
    raise TimeoutError


def test_nothing_where_nobody_watches(capsys):
    assert list(Bar("testing", 2).over("ab")) == ["a", "b"]
    with waiting("running"):
        pass
    assert capsys.readouterr().err == ""


def test_the_bar_moves_and_goes(watch):
    terminal = watch()
    bar = Bar("testing", 2)
    for done, _ in enumerate(bar.over("ab")):
        wait_for(lambda done=done: f" {done}/2" in terminal.getvalue())
    assert terminal.getvalue().split("\r\x1b[K")[1:] == [
        "testing " + "─" * 30 + " 0/2",
        "testing " + "━" * 15 + "─" * 15 + " 1/2",
        "testing " + "━" * 30 + " 2/2",
        "",
    ]


def test_it_makes_room(watch):
    terminal = watch()
    bar = Bar("testing", 1)
    for _ in bar.over("a"):
        wait_for(terminal.getvalue)
        bar.clear()
        assert terminal.getvalue().endswith("\r\x1b[K")


def test_it_goes_when_the_work_fails(watch):
    terminal = watch()
    bar = Bar("testing", 2)

    def work():
        for _ in bar.over("ab"):
            wait_for(terminal.getvalue)
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 (raised here)
        work()
    assert terminal.getvalue().endswith("\r\x1b[K") or "0/2" in terminal.getvalue()


def test_quick_work_shows_nothing(watch):
    terminal = watch(patience=100.0)
    assert list(Bar("testing", 1).over("a")) == ["a"]
    with waiting("running"):
        pass
    assert terminal.getvalue() == ""


def test_the_spinner_says_what_is_done(watch):
    terminal = watch()
    with waiting("running"):
        wait_for(lambda: "running" in terminal.getvalue())
