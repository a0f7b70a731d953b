"""Runs `tdlc` in this process, and shows what it printed and how it ended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tdl.compiler.cli.main import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Tdlc = Callable[..., Outcome]


@pytest.fixture
def tdlc(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tdlc:
    for name in ("NO_COLOR", "FORCE_COLOR", "TDL_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["tdlc", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return run
