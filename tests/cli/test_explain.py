"""`tdlc explain`."""

from __future__ import annotations

import pytest
from tdl.compiler.cli.explain import page
from tdl.language.codes import CODES


@pytest.mark.parametrize("spelling", ["out-of-bounds", "error[out-of-bounds]", "[out-of-bounds]", "OUT-OF-BOUNDS"])
def test_prints_the_page(tdlc, spelling):
    outcome = tdlc("explain", spelling)
    assert outcome.code == 0
    assert outcome.out == page("out-of-bounds")
    assert outcome.out.startswith("# out-of-bounds\n")


def test_colours_are_markdown_drawn(tdlc):
    drawn = tdlc("explain", "dtype", "--color", "always").out
    assert "\x1b[" in drawn
    assert "```" not in drawn


def test_without_a_code_lists_all(tdlc):
    lines = tdlc("explain").out.splitlines()
    assert [line.split()[0] for line in lines] == list(CODES)
    assert all(meaning in line for meaning, line in zip(CODES.values(), lines))


def test_misspelt_code(tdlc):
    outcome = tdlc("explain", "out-of-bound")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: there is no error code `out-of-bound`\n  = help: did you mean `out-of-bounds`?\n"
    assert "see `tdlc explain`" in tdlc("explain", "xyzzy").err
