"""`tdlc schedule`."""

from __future__ import annotations

import pytest

PROGRAM = """\
op row_sums(X: f32[M, N]) -> s: f32[M] { s[i] = sum(X[i, j] for j) }
op relu[T: float](X: T[..S]) -> Y: T[..S] { Y[..i] = max(X[..i], 0) }
bench large: row_sums(M=1000, N=2000)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "p.tdl"
    path.write_text(PROGRAM)
    return path


def test_a_block_with_reasons(tdlc, program):
    assert tdlc("schedule", program, "row_sums").out == (
        """\
## Automatic, for all sizes, its numbers chosen at M = 1000, N = 2000.
schedule row_sums for cpu {
    vectorize s.j by 64  # 4 vectors of partial results along j, which lies in order
    parallel s.i         # 1000 parts of about 4,000 operations
}
"""
    )


def test_it_can_be_pasted(tdlc, program):
    program.write_text(PROGRAM + tdlc("schedule", program, "row_sums").out)
    assert tdlc("check", program).code == 0
    assert "parallel for" in tdlc("show", program, "row_sums").out


def test_sizes_that_are_set_become_its_condition(tdlc, program):
    out = tdlc("schedule", program, "row_sums", "--set", "M=8").out
    assert out.startswith("## Automatic, for M = 8, its numbers chosen at N = 2000.\n")
    assert "schedule row_sums for cpu when M == 8 {" in out


def test_colours(tdlc, program):
    assert "\x1b[36mvectorize\x1b[0m" in tdlc("schedule", program, "row_sums", "--color", "always").out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["relus"], 2, "did you mean `relu`?"),
        (["relu", "--set", "Q=8"], 1, "Q"),
        (["relu", "--set", "S=x"], 2, "a size is an integer"),
    ],
)
def test_what_cannot_be(tdlc, program, arguments, code, said):
    result = tdlc("schedule", program, *arguments)
    assert result.code == code
    assert said in result.err
