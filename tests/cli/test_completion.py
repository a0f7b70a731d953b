"""What the shell is told when Tab is pressed."""

from __future__ import annotations

import pytest


@pytest.fixture
def complete(tdlc, monkeypatch):
    def run(*words):
        monkeypatch.setenv("_TDLC_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", " ".join(["tdlc", *map(str, words)]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        return tdlc().out.split()

    return run


def test_commands(complete):
    assert complete("ex") == ["explain"]


def test_codes(complete):
    assert complete("explain", "un") == [
        "unknown-name",
        "unsolved-dimension",
        "unbounded-index",
        "uncovered",
        "undecided",
        "unknown-loop",
    ]


def test_ops_of_the_file(complete, tmp_path):
    path = tmp_path / "p.tdl"
    path.write_text("## Twice.\nop double(X: f32) -> Y: f32 { Y = 2 * X }\nop halve(X: f32) -> Y: f32 { Y = X / 2 }\n")
    assert complete("run", path, "do") == ["double"]
    assert complete("show", path, "") == ["double", "halve"]
    assert complete("run", tmp_path / "nope.tdl", "do") == []
