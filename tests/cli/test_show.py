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


@pytest.mark.parametrize(
    ("at", "mark"), [("c", "int64_t "), ("llvm-made", "define "), ("llvm", "define "), ("asm", "ret")]
)
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


# ---- under a schedule

SCHEDULED = """\
op double(X: f32[M, N]) -> Y: f32[M, N] {
    Y[i, j] = X[i, j] * 2
}
schedule double for cpu {
    knob tile = 8 in [4, 8]
    split Y.j by tile -> jo, ji
    unroll ji
}
"""


@pytest.fixture
def scheduled(tmp_path):
    path = tmp_path / "s.tdl"
    path.write_text(SCHEDULED)
    return path


def test_the_schedule_is_applied(tdlc, scheduled):
    assert tdlc("show", scheduled, "double", "--set", "N=16").out == (
        """\
op double(X: f32[M, 16]) -> Y: f32[M, 16]
for i in 0..M                      # Y.i
    for jo in 0..2                 # Y.jo
        unrolled for ji in 0..8    # Y.ji
            j = 8*jo + ji
            Y[i, j] = X[i, j] * 2
"""
    )


def test_knobs_are_set(tdlc, scheduled):
    assert "for ji in 0..4 " in tdlc("show", scheduled, "double", "--set", "N=16", "--set", "tile=4").out


def test_steps(tdlc, scheduled):
    assert "for j in 0..N " in tdlc("show", scheduled, "double", "--step", "0").out
    assert "unrolled" not in tdlc("show", scheduled, "double", "--step", "2").out
    assert "for j in 0..N " in tdlc("show", scheduled, "double", "--no-schedule").out


def test_what_a_line_changed(tdlc, scheduled):
    assert tdlc("show", scheduled, "double", "--diff", "--set", "N=16").out == (
        """\
s.tdl:7: unroll ji
  op double(X: f32[M, 16]) -> Y: f32[M, 16]
  for i in 0..M                      # Y.i
      for jo in 0..2                 # Y.jo
-         for ji in 0..8    # Y.ji
+         unrolled for ji in 0..8    # Y.ji
              j = 8*jo + ji
              Y[i, j] = X[i, j] * 2
"""
    )
    assert "\x1b[32m+ " in tdlc("show", scheduled, "double", "--diff", "--color", "always").out


def test_where_lines_come_from(tdlc, scheduled):
    assert tdlc("show", scheduled, "double", "--lines", "--set", "N=16").out == (
        """\
     | op double(X: f32[M, 16]) -> Y: f32[M, 16]
   2 | for i in 0..M                      # Y.i
2, 6 |     for jo in 0..2                 # Y.jo
2, 7 |         unrolled for ji in 0..8    # Y.ji
   2 |             j = 8*jo + ji
   2 |             Y[i, j] = X[i, j] * 2
"""
    )
    other = scheduled.with_name("t.tdl")
    other.write_text("from s import double\n")
    assert "s.tdl:2, s.tdl:7 | " in tdlc("show", other, "double", "--lines").out
    assert "\x1b[36munrolled" in tdlc("show", scheduled, "double", "--lines", "--color", "always").out


def test_refused_lines_are_shown_behind_the_loops(tdlc, scheduled):
    scheduled.write_text(SCHEDULED.replace("unroll ji", "unroll Y.i"))
    outcome = tdlc("show", scheduled, "double")
    assert outcome.code == 1
    assert "for jo in" in outcome.out
    assert "s.tdl:7:" in outcome.err
    assert tdlc("show", scheduled, "double", "--no-schedule").code == 0


@pytest.mark.parametrize("at", ["kernel", "c", "llvm-made", "llvm", "asm"])
def test_code_of_a_scheduled_op(tdlc, scheduled, at):
    plain = tdlc("show", scheduled, "double", "--at", at, "--set", "M=5", "--set", "N=16")
    assert (plain.code, plain.err) == (0, "")
    assert plain.out != tdlc("show", scheduled, "double", "--at", at, "--no-schedule").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--step", "4"], "there is no step 4: the schedule of `double` has 3 lines"),
        (["--step", "-1"], "there is no step -1"),
        (["--step", "1", "--no-schedule"], "no schedule of `double` holds"),
        (["--step", "0", "--diff"], "--diff shows what a line changed"),
        (["--set", "tile=[1]"], "a knob is an integer"),
    ],
)
def test_steps_that_are_not_there(tdlc, scheduled, arguments, said):
    outcome = tdlc("show", scheduled, "double", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


# ---- passes


def test_the_kernel_after_a_pass(tdlc, scheduled):
    before = tdlc("show", scheduled, "double", "--after", "partition_loops", "--set", "N=16")
    assert "unrolled for Y.ji in 0..8" in before.out
    assert "unrolled" not in tdlc("show", scheduled, "double", "--dump-after", "unroll_loops", "--set", "N=16").out
    coloured = tdlc("show", scheduled, "double", "--after", "simplify", "--color", "always").out
    assert "\x1b[36mfor\x1b[0m" in coloured


def test_what_a_line_changed_after_a_pass(tdlc, scheduled):
    out = tdlc("show", scheduled, "double", "--after", "unroll_loops.2", "--diff", "--set", "N=16").out
    assert "-         for Y.ji in 0..8" in out
    assert "+         Y[16*Y.i + 8*Y.jo + 7] = " in out


def test_an_unknown_pass(tdlc, scheduled):
    outcome = tdlc("show", scheduled, "double", "--after", "unroll")
    assert (outcome.code, outcome.out) == (2, "")
    assert "there is no pass `unroll`" in outcome.err
    assert "unroll_loops, vectorize_loops, unroll_loops.2" in outcome.err


def test_times_of_passes(tdlc, scheduled):
    lines = tdlc("show", scheduled, "double", "--time-passes", "--verify").out.splitlines()
    names = [line.split("  ")[0] for line in lines]
    assert names[:4] == ["parse", "check", "schedule", "build_kernel"]
    assert names[-6:] == ["verify", "LLVM text", "LLVM parse", "LLVM optimise", "LLVM codegen", "all"]
    assert all(" ms" in line for line in lines)
    assert len({line.index(" ms") for line in lines}) == 1


def test_verified(tdlc, scheduled, monkeypatch):
    plain = tdlc("show", scheduled, "double", "--at", "kernel")
    assert tdlc("show", scheduled, "double", "--at", "kernel", "--verify").out == plain.out
    monkeypatch.setattr("tdl.compiler.lower.pipeline.PASSES", (_broken,))
    assert tdlc("show", scheduled, "double", "--at", "kernel", "--verify").code == 3


def _broken(kernel):
    """A pass that forgets the loops."""
    from dataclasses import replace

    (loop,) = kernel.body
    return replace(kernel, body=loop.body)


def test_lines_of_code(tdlc, scheduled):
    out = tdlc("show", scheduled, "double", "--at", "asm", "--lines", "--set", "N=16").out
    assert "# s.tdl:2:5" in out
    assert "s.tdl" not in tdlc("show", scheduled, "double", "--at", "asm", "--set", "N=16").out
