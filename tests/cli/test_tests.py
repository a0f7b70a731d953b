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
    assert "1 of 2 elements differ\n" in out
    assert f"         {program}:11\n" in out


def test_what_the_program_raises_is_a_failure(tdlc, program):
    assert "index 5 is outside X.0 of size 2" in tdlc("test", program, "-k", "off").out


def test_compiled_code_that_differs_is_caught(tdlc, program, monkeypatch):
    def wrong(case, inputs, schedules):
        shape = case.bound.output_shapes["Y"]
        return {"Y": np.zeros(shape, np.float32)}

    monkeypatch.setattr("tdl.compiler.trial.run_compiled", wrong)
    outcome = tdlc("test", program, "-k", "wide")
    assert outcome.code == 1
    assert "compiled code does not give what the reference evaluator gives" in outcome.out


def test_tests_run_under_schedules(tdlc, tmp_path):
    path = tmp_path / "scheduled.tdl"
    path.write_text(SCHEDULED + "test good: f(M=8)\n")
    assert tdlc("test", path).code == 0
    path.write_text(SCHEDULED + "test small: f(M=3)\n")
    outcome = tdlc("test", path)
    assert outcome.code == 1
    assert "scheduled.tdl:3:5\n" in outcome.out
    assert "         3 |     require M % 4 == 0\n" in outcome.out
    assert "`f` is called with M = 3\n" in outcome.out
    assert tdlc("test", path, "--no-schedule").code == 0


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


SCHEDULED = """\
op f(A: f32[M]) -> B: f32[M] { B[i] = A[i] + 1 }
schedule f for cpu {
    require M % 4 == 0
}
"""


REDUCERS = """\
reducer logsumexp[T: float](a: T, b: T) -> T {
    identity -inf
    combine  a if b == -inf else b if a == -inf else max(a, b) + log(1 + exp(-abs(a - b)))
}
reducer mean2[T: float]((s: T, n: T), (t: T, m: T)) -> (T, T) {
    identity (0, 0)
    combine  (s + t, n + m)
}
reducer xor[T: integer](a: T, b: T) -> T {
    identity 0
    combine  bit_xor(a, b)
}
reducer parity(a: bool, b: bool) -> bool {
    identity false
    combine  a != b
}
reducer power[k: int](a: f32, b: f32) -> f32 {
    identity f32(k)
    combine  a + b
}
"""


def test_reducers_keep_their_promises(tdlc, tmp_path):
    path = tmp_path / "r.tdl"
    path.write_text(REDUCERS)
    outcome = tdlc("test", path)
    assert outcome.code == 0
    assert outcome.out.endswith("5 passed\n")


@pytest.mark.parametrize(
    ("identity", "combine", "words"),
    [
        ("0", "a - b", "is not associative: combine(combine(a, b), c) is "),
        ("0", "a", "is not commutative: combine(a, b) is "),
        ("0", "max(abs(a), abs(b))", "has an identity that changes a value: combine(identity, a) is "),
        ("1", "a * 0.5 + b * 0.5", "is not associative: "),
        ("nan", "a + b", "has an identity that changes a value: combine(identity, a) is nan, not "),
    ],
)
def test_broken_promises_are_shown_with_values(tdlc, tmp_path, identity, combine, words):
    path = tmp_path / "r.tdl"
    path.write_text(f"reducer r[T: float](a: T, b: T) -> T {{ identity {identity}\n combine {combine} }}\n")
    outcome = tdlc("test", path)
    assert outcome.code == 1
    head, example = words.split(": ", 1)
    assert f"the reducer `r` {head}\n" in outcome.out
    assert example in outcome.out
    assert f"{path}:1" in outcome.out


def test_a_reducer_of_several_values_shows_tuples(tdlc, tmp_path):
    path = tmp_path / "r.tdl"
    path.write_text(
        "reducer r((a: i32, n: i32), (b: i32, m: i32)) -> (i32, i32) { identity (0, 0)\n combine (a - b, n + m) }\n"
    )
    assert "combine(a, b) is (" in tdlc("test", path).out or "combine(combine(a, b), c) is (" in tdlc("test", path).out


def test_a_reducer_that_raises(tdlc, tmp_path):
    path = tmp_path / "r.tdl"
    path.write_text("reducer r(a: i32, b: i32) -> i32 { identity 0\n combine a // b }\n")
    out = tdlc("test", path).out
    assert "the reducer `r` raises" in out
    assert "division by zero" in out
