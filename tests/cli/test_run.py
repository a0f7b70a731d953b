"""`tdlc run`."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

PROGRAM = """\
op scale[by: int = 2](X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = X[i, j] * f32(by) }
op both(X: f32[N]) -> (lo: f32, Y: f32[N]) {
    lo   = min(X[i] for i)
    Y[i] = -X[i]
}
op clamp(X: f32[N], lo: f32) -> Y: f32[N] { Y[i] = max(X[i], lo) }
op gather[T: dtype](X: T[V], I: i32[N]) -> Y: T[N] { Y[i] = X[I[i]] }
op relu[T: float](X: T[..S]) -> Y: T[..S] { Y[..i] = max(X[..i], 0) }
op invert(X: u8[H, W, 3]) -> Y: u8[H, W, 3] { Y[i, j, c] = 255 - X[i, j, c] }
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.tdl").write_text(PROGRAM)
    np.save("x.npy", np.arange(6, dtype=np.float32).reshape(2, 3))


def test_from_file_to_file(tdlc):
    outcome = tdlc("run", "p.tdl", "scale", "X=x.npy", "-o", "y.npy")
    assert outcome.code == 0
    np.testing.assert_array_equal(np.load("y.npy"), 2 * np.load("x.npy"))
    assert outcome.out.splitlines()[0] == "X  f32[2, 3]  x.npy"
    assert "-> y.npy" in outcome.out.splitlines()[1]


def test_summary_without_output(tdlc):
    lines = tdlc("run", "p.tdl", "scale", "X=x.npy", "--set", "by=3").out.splitlines()
    assert lines[1] == "Y  f32[2, 3]  min 0  mean 7.5  max 15"
    assert lines[2].split() == ["[[", "0.", "3.", "6.]"]
    assert lines[-1].startswith("ran in ")


def test_numbers_and_scalars(tdlc):
    out = tdlc("run", "p.tdl", "clamp", "X=[1, -2, 3]", "lo=0").out
    assert "Y   f32[3]  min 0  mean 1.333  max 3" in out


def test_a_schedule_that_is_refused_at_these_sizes(tdlc, tmp_path):
    text = "op f(A: f32[M]) -> B: f32[M] { B[i] = A[i] + 1 }\nschedule f for cpu {\n    require M % 4 == 0\n}\n"
    (tmp_path / "s.tdl").write_text(text)
    assert tdlc("run", "s.tdl", "f", "--set", "M=8").code == 0
    outcome = tdlc("run", "s.tdl", "f", "--set", "M=3")
    assert (outcome.code, outcome.out) == (1, "")
    assert "error[fact]" in outcome.err
    assert "s.tdl:3:5" in outcome.err
    assert "`f` is called with M = 3" in outcome.err
    assert tdlc("run", "s.tdl", "f", "--set", "M=3", "--no-schedule").code == 0


def test_random_inputs_are_seeded(tdlc):
    def result(*more):
        assert tdlc("run", "p.tdl", "scale", "--set", "M=3", "--set", "N=4", "-o", "y.npy", *more).code == 0
        return np.load("y.npy")

    first = result()
    assert first.shape == (3, 4)
    np.testing.assert_array_equal(first, result())
    assert not np.array_equal(first, result("--seed", "1"))


def test_several_outputs(tdlc):
    assert tdlc("run", "p.tdl", "both", "X=[3, 1]", "-o", "Y=y.csv", "-o", "lo=lo.npy").code == 0
    assert np.load("lo.npy") == 1
    np.testing.assert_array_equal(np.loadtxt("y.csv"), [-3, -1])
    assert tdlc("run", "p.tdl", "both", "X=[3, 1]", "-o", "all.npz").code == 0
    assert set(np.load("all.npz").files) == {"lo", "Y"}
    outcome = tdlc("run", "p.tdl", "both", "X=[3, 1]", "-o", "y.npy")
    assert outcome.code == 2
    assert "several outputs: lo, Y" in outcome.err


def test_pictures(tdlc):
    pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    Image.fromarray(pixels).save("in.png")
    assert tdlc("run", "p.tdl", "invert", "X=in.png", "-o", "out.png").code == 0
    np.testing.assert_array_equal(np.asarray(Image.open("out.png")), 255 - pixels)


def test_packs_and_dtype_parameters(tdlc):
    assert "Y  bf16[2, 1, 3]" in tdlc("run", "p.tdl", "relu", "--set", "S=[2,1,3]", "--set", "T=bf16").out
    np.save("i.npy", np.array([1, 0], np.int32))
    assert "Y  u8[2]" in tdlc("run", "p.tdl", "gather", "X=[7, 8]", "I=i.npy", "--set", "T=u8").out


def test_cast(tdlc):
    np.save("d.npy", np.ones((1, 2)))
    outcome = tdlc("run", "p.tdl", "scale", "X=d.npy")
    assert outcome.code == 1
    assert outcome.err == (
        "error: scale: `X` is f64, and is declared as f32\n  = help: --cast converts arrays to the declared dtypes\n"
    )
    assert tdlc("run", "p.tdl", "scale", "X=d.npy", "--cast").code == 0


def test_a_failure_is_shown_in_the_program(tdlc):
    outcome = tdlc("run", "p.tdl", "gather", "X=[1, 2]", "I=[0, 5]", "--set", "T=f32")
    assert outcome.code == 1
    assert outcome.err.startswith("error: gather: X has 2 elements along dimension 0, and is read at 5\n")
    assert " 7 | op gather" in outcome.err
    assert "^^^^^^^" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code", "said", "hint"),
    [
        (["scal"], 2, "p.tdl has no op `scal`", "did you mean `scale`?"),
        (["xyzzy"], 2, "p.tdl has no op `xyzzy`", "it has scale, both"),
        (["scale", "Q=1"], 2, "`scale` has no input `Q`", "sizes are given by --set"),
        (["scale", "X"], 2, "an input is written NAME=VALUE, not X", ""),
        (["scale", "X=1", "X=2"], 2, "X is given twice", ""),
        (["scale", "X=nope.npy"], 2, "no such file: nope.npy", ""),
        (["scale", "X=x.npy", "-o", "y.xyz"], 2, "cannot write y.xyz", ".npy"),
        (["scale", "X=x.npy", "-o", "Z=y.npy"], 2, "`scale` has no output `Z`", "it has Y"),
        (["scale", "X=x.npy", "-o", "d/y.npy"], 2, "there is no directory d", ""),
        (["scale"], 1, "the dimension `M` of `scale` is not known", "--set M=..."),
        (["scale", "X=[1, 2]"], 1, "scale: `X` has 2 dimensions", ""),
        (["scale", "X=x.npy", "--set", "M=7"], 1, "`X` is 2, and should be M = 7", ""),
        (["scale", "X=x.npy", "--set", "Q=7"], 1, "no dimension `Q`", ""),
        (["scale", "X=x.npy", "--set", "by=x"], 1, "`by` takes an integer", ""),
        (["scale", "X=x.npy", "--set", "M=x"], 2, "a size is an integer", ""),
        (["scale", "--set", "M=-1", "--set", "N=1"], 1, "the dimension `M` would be -1", ""),
        (["gather", "--set", "V=1", "--set", "N=1"], 1, "the dtype `T` is not fixed", "--set T=..."),
        (["scale", "X=3+4"], 2, "X: 3+4 is not a number", ""),
    ],
)
def test_what_does_not_fit(tdlc, arguments, code, said, hint):
    outcome = tdlc("run", "p.tdl", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
    assert hint in outcome.err


def test_complex_arrays_have_no_dtype(tdlc):
    np.save("c.npy", np.ones((1, 1), complex))
    assert "X is complex128, which TDL does not have" in tdlc("run", "p.tdl", "scale", "X=c.npy").err


def test_a_size_too_large_for_memory(tdlc):
    outcome = tdlc("run", "p.tdl", "scale", "--set", "M=1000000000", "--set", "N=1000000000")
    assert outcome.code == 1
    assert "memory" in outcome.err


def test_special_values_in_the_summary(tdlc):
    out = tdlc("run", "p.tdl", "clamp", "X=[nan, inf, 1]", "lo=0").out
    assert "1 NaN" in out
    assert "max inf" in out
    assert "empty" in tdlc("run", "p.tdl", "clamp", "lo=0", "--set", "N=0").out
