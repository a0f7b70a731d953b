"""`tdlc show`."""

from __future__ import annotations

import pytest

PROGRAM = """\
op double(X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = X[i, j] * 2 }
op matmul(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
op relu[T: float](X: T[..S]) -> Y: T[..S] { Y[..i] = max(X[..i], 0) }
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "p.tdl"
    path.write_text(PROGRAM)
    return path


def test_nest(tdlc, program):
    assert tdlc("show", program, "double").out == (
        """\
op double(X: f32[M, N]) -> Y: f32[M, N]
for i in 0..M        # Y.i
    for j in 0..N    # Y.j
        Y[i, j] = X[i, j] * 2
"""
    )


def test_sizes_are_put_in(tdlc, program):
    out = tdlc("show", program, "matmul", "--set", "M=8").out
    assert "for i in 0..8 " in out
    assert "for j in 0..N " in out


def test_packs_take_their_rank(tdlc, program):
    out = tdlc("show", program, "relu", "--set", "S=[2,3]", "--set", "T=f64").out
    assert "X: f64[2, 3]" in out


@pytest.mark.parametrize(("at", "mark"), [("llvm-made", "define "), ("llvm", "define "), ("asm", "ret")])
def test_code(tdlc, program, at, mark):
    plain = tdlc("show", program, "matmul", "--at", at)
    assert plain.code == 0
    assert mark in plain.out
    assert "\x1b[" in tdlc("show", program, "matmul", "--at", at, "--color", "always").out


def test_colours_of_a_nest(tdlc, program):
    assert "\x1b[36mfor\x1b[0m" in tdlc("show", program, "matmul", "--color", "always").out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["relu", "--at", "llvm"], 2, "`relu` needs a value for T to become code"),
        (["relu", "--at", "llvm", "--set", "T=i32"], 1, "`T` takes a dtype of class float"),
        (["matmul", "--set", "Q=1"], 1, "no dimension `Q`"),
        (["matmull"], 2, "did you mean `matmul`?"),
        (["matmul", "--at", "machine"], 2, "nest"),
    ],
)
def test_what_does_not_fit(tdlc, program, arguments, code, said):
    outcome = tdlc("show", program, *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
