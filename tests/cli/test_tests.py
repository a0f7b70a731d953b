"""`tdlc test`."""

from __future__ import annotations

import numpy as np
import pytest

PROGRAM = """\
op softmax(X: f32[M, N]) -> Y: f32[M, N] {
    m[i]    = max(X[i, j] for j)
    e[i, j] = exp(X[i, j] - m[i])
    s[i]    = sum(e[i, j] for j)
    Y[i, j] = e[i, j] / s[i]
}
op gather[T: float = f32](X: T[V], I: i32[..S]) -> Y: T[..S] { Y[..i] = X[I[..i]] }

test golden: softmax(X=[[0, 0]]) expect Y = [[0.5, 0.5]]
test wide:   softmax(M=3, N=100)
test wrong:  softmax(X=[[0, 0]]) expect Y = [[0.5, 0.75]]
test pack:   gather(X=[1, 2], I=[[0, 1], [1, 0]]) expect Y = [[1, 2], [2, 1]]
test half:   gather[T=f16](X=[1, 2], I=[1])
test off:    gather(X=[1, 2], I=[0, 5])
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "p.tdl"
    path.write_text(PROGRAM)
    return path


def test_lines_and_summary(tdlc, program):
    outcome = tdlc("test", program)
    lines = outcome.out.splitlines()
    assert outcome.code == 1
    assert lines[0] == str(program)
    assert [line.split()[:3] for line in lines if line.startswith(("  ok", "  FAIL"))] == [
        ["ok", "golden", "softmax"],
        ["ok", "wide", "softmax"],
        ["FAIL", "wrong", "softmax"],
        ["ok", "pack", "gather"],
        ["ok", "half", "gather"],
        ["FAIL", "off", "gather"],
    ]
    assert lines[-1] == "4 passed, 2 failed"


def test_a_failure_shows_the_first_element_and_the_place(tdlc, program):
    out = tdlc("test", program, "-k", "wrong").out
    assert "the reference evaluator does not give what is expected" in out
    assert "Y[0, 1] is 0.5, not 0.75" in out
    assert f"1 of 2 elements differ   {program}:11" in out


def test_what_the_program_raises_is_a_failure(tdlc, program):
    assert "index 5 is outside X.0 of size 2" in tdlc("test", program, "-k", "off").out


def test_compiled_code_that_differs_is_caught(tdlc, program, monkeypatch):
    def wrong(case, inputs):
        shape = case.bound.output_shapes["Y"]
        return {"Y": np.zeros(shape, np.float32)}

    monkeypatch.setattr("tdl.compiler.trial.run_compiled", wrong)
    outcome = tdlc("test", program, "-k", "wide")
    assert outcome.code == 1
    assert "compiled code does not give what the reference evaluator gives" in outcome.out


def test_arguments_column(tdlc, program):
    out = tdlc("test", program).out
    assert "M=3 N=100" in out
    assert "V=2 S=[2, 2] T=f32" in out
    assert "T=f16" in out


def test_selection(tdlc, program):
    assert tdlc("test", program, "-k", "golden").out.endswith("1 passed\n")
    outcome = tdlc("test", program, "-k", "nope")
    assert (outcome.code, outcome.err) == (2, "error: there is no test with `nope` in its name\n")


def test_files_with_errors_are_not_run(tdlc, tmp_path):
    path = tmp_path / "bad.tdl"
    path.write_text("op f(X: f32[N]) -> Y: f32[N] { Y[i] = Z[i] }\ntest t: f(N=3)\n")
    outcome = tdlc("test", path)
    assert (outcome.code, outcome.out) == (1, "")
    assert "error[unknown-name]" in outcome.err


def test_colours(tdlc, program):
    drawn = tdlc("test", program, "--color", "always").out
    assert "✓" in drawn
    assert "✗" in drawn


def test_another_seed(tdlc, program):
    assert tdlc("test", program, "-k", "wide", "--seed", "7").code == 0
