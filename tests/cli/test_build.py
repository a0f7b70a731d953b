"""`tdlc build`: which files it writes, what it says, and what it refuses."""

from __future__ import annotations

import pytest

PROGRAM = """
## Twice each element.
op twice[T: number = f32](X: T[N]) -> Y: T[N] { Y[i] = 2 * X[i] }
op relu[T: float](X: T[..S]) -> Y: T[..S] { Y[..i] = max(X[..i], 0) }
op pick(X: f32[N], I: i64[K]) -> Y: f32[K] where N >= 1 { Y[k] = X[I[k]] }

test whole: twice(N=5, T=i32)
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "ops.tdl"
    path.write_text(PROGRAM)
    return path


def test_c_and_its_header(tdlc, program, tmp_path):
    done = tdlc("build", program, "-o", tmp_path / "out", "--emit", "c")
    assert done.code == 0
    assert done.out.split() == [str(tmp_path / "out" / name) for name in ("ops.c", "ops.h")]
    header = (tmp_path / "out" / "ops.h").read_text()
    assert "int32_t ops_twice(int64_t N, const float *X, float *Y);" in header
    assert "int32_t ops_twice_i32(int64_t N, const int32_t *X, int32_t *Y);" in header
    assert "Twice each element." in header
    assert "requires N >= 1" in header
    assert "`relu` is left out" in done.err
    assert 'ops.tdl:5: X[I[k]]"' in (tmp_path / "out" / "ops.c").read_text()


def test_instances_and_ops(tdlc, program, tmp_path):
    options = ("--op", "relu", "--instance", "relu T=f64 S=[0, 0]", "--name", "kept")
    done = tdlc("build", program, "-o", tmp_path, "--emit", "header", *options)
    assert (done.code, done.err) == (0, "")
    header = (tmp_path / "kept.h").read_text()
    assert "int32_t kept_relu_f64_2d(int64_t S_0, int64_t S_1, const double *X, double *Y);" in header
    assert "twice" not in header


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--emit", "so", "--linker", "no-such-linker"], "there is no linker `no-such-linker`"),
        (["--emit", "so", "--target", "armv7-m"], "load no libraries"),
        (["--emit", "exe"], "--emit has no `exe`"),
        (["--emit", ","], "--emit names nothing"),
        (["--target", "x86-64-v9"], "did you mean `x86-64-v"),
        (["--target", "pdp11"], "there is no target `pdp11`"),
        (["--op", "thrice"], "did you mean `twice`?"),
        (["--instance", "twice T=f99"], "dtype of class number"),
        (["--instance", "relu"], "`relu` is left out"),
        (["--name", "a-b"], "a name is letters"),
    ],
)
def test_refusals(tdlc, program, tmp_path, options, words):
    done = tdlc("build", program, "-o", tmp_path, *options, *([] if "--emit" in options else ["--emit", "c"]))
    assert words in done.err
    assert "internal" not in done.err
    assert done.code in (1, 2) or "left out" in words


def test_a_directory_that_is_a_file(tdlc, program, tmp_path):
    done = tdlc("build", program, "-o", program, "--emit", "c")
    assert done.code == 2
    assert "that is a file" in done.err


def test_a_file_with_errors_or_without_ops(tdlc, tmp_path):
    path = tmp_path / "bad.tdl"
    path.write_text("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i + 1] }\n")
    assert tdlc("build", path, "-o", tmp_path, "--emit", "c").code == 1
    path.write_text("const A = 1\n")
    done = tdlc("build", path, "-o", tmp_path, "--emit", "c")
    assert done.code == 1
    assert "has no op that a library can hold" in done.err
