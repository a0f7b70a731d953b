"""`stream`, `prefetch`, `double_buffer` and `fast_math` in code: the results, and that it is there at all."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tdl.compiler.backends.llvm.kernel import kernel_text
from tdl.compiler.backends.llvm.target import Target
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.schedule.apply import apply_schedule
from tdl.language.check import check_op
from tdl.language.scope import Declaration

X86 = Target("x86_64-unknown-linux-gnu", "", "", "")
ARM = Target("aarch64-unknown-linux-gnu", "", "", "")
PRODUCT = "op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"
SCALE = "op f(X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = 2 * X[i, j] }\n"
STREAM = "schedule f { vectorize Y.j by 16\n parallel Y.i\n stream Y }\n"
DOUBLE = """schedule f {
    split C.i by 4 -> io, ii
    split C.j by 16 -> jo, ji
    split C.k by 8 -> ko, ki
    reorder io, jo, ko, ii, ki, ji
    cache B at ko in MEMORY as Bp
    cache A at ko in MEMORY as Ap
    double_buffer Bp, Ap
    prefetch A at ko ahead 2
    vectorize ji
    parallel io
}
"""
SIZES = [(0, 3, 4), (1, 1, 1), (3, 0, 5), (4, 8, 16), (5, 17, 33), (9, 24, 64)]


@pytest.fixture
def text_of(load_text):
    """The LLVM text of `f` under its schedule."""

    def make(text: str, target: Target = X86) -> str:
        op = load_text(text).f
        schedule: Declaration = op._kernels.schedules[0]
        applied = apply_schedule(check_op(op.declaration).program, schedule)
        assert not applied.errors
        return kernel_text(lower(applied.nest), target).ir

    return make


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(-4, 5, shape).astype(np.float32)


# ---- stream


def test_stores_past_the_caches_are_for_aligned_results(text_of):
    text = text_of(SCALE + STREAM)
    past = [line for line in text.splitlines() if "!nontemporal" in line]
    assert past
    assert all("store <16 x float>" in line and "align 64" in line for line in past)
    assert all(f"call i32 @f.kernel.{which}(" in text for which in ("stream", "body"))  # of which a call takes one
    assert text.count("call void @llvm.x86.sse.sfence()") == 2  # of the task and of the whole
    assert "sfence" not in text_of(SCALE + STREAM, ARM)
    assert "nontemporal" in text_of(SCALE + STREAM, ARM)


def test_without_the_line_there_is_nothing_of_it(text_of):
    text = text_of(SCALE + "schedule f { vectorize Y.j by 16 }\n")
    assert not re.search(r"nontemporal|sfence|\.stream", text)


@pytest.mark.parametrize("shift", [0, 1, 4])
@pytest.mark.parametrize("shape", [(3, 64), (5, 33), (0, 16), (1, 1)])
def test_streamed_results(load_text, guarded, shape, shift):
    f = load_text(SCALE + STREAM).f
    x = guarded.place(numbers(*shape), at_end=True)
    np.testing.assert_array_equal(f(x), 2 * x)
    rows = guarded.place(np.zeros(x.size + shift, np.float32), at_end=shift % 2 == 0)
    out = rows[shift:].reshape(shape)
    f(x, out=out)
    np.testing.assert_array_equal(out, 2 * x)
    assert not rows[:shift].any()


def test_results_are_made_aligned(load_text):
    f = load_text(SCALE + STREAM).f
    made = [f(numbers(size, 16)) for size in (1, 3, 3, 400) for _ in range(3)]
    assert [each.ctypes.data % 64 for each in made] == [0] * len(made)


# ---- prefetch and double_buffer


@pytest.mark.parametrize("memory", ["stack", "arena"])
@pytest.mark.parametrize("order", ["constant", "open"])
def test_copies_made_ahead(load_text, text_of, guarded, memory, order):
    f = load_text(PRODUCT + DOUBLE.replace("MEMORY", memory)).f
    if order == "open":
        f._kernels._exact = _Full()
    for rows, inner, columns in SIZES:
        a = guarded.place(numbers(rows, inner), at_end=True)
        b = guarded.place(numbers(inner, columns), at_end=True)
        np.testing.assert_array_equal(f(a, b), a @ b)
    text = text_of(PRODUCT + DOUBLE.replace("MEMORY", memory))
    assert "@llvm.prefetch.p0(ptr" in text


class _Full(dict):
    """So many kernels that calls get the one for open sizes."""

    def __len__(self) -> int:
        return 99


def test_a_copy_of_a_descending_loop(check_both):
    text = """op f(X: f32[N, 8]) -> S: f32[N, 8] where N >= 1 {
    S[N - 1, j] = X[N - 1, j]
    S[i, j] = S[i + 1, j] + X[i, j] * X[i, j] for i in 0..N - 1
}
schedule f { cache X at S.1.i in stack as Xp
    double_buffer Xp }
"""
    for size in (1, 2, 3, 8):
        check_both(text, numbers(size, 8), exact=True)


# ---- fast_math


def test_fast_math_keeps_nan_and_infinity(load_text, text_of):
    op = "op f(X: f32[N]) -> (Y: f32[N], s: f32) {\n Y[i] = X[i] / 3 if X[i] == X[i] else 7\n s = sum(Y[k] for k) }\n"
    text = text_of(op + "schedule f { fast_math }\n")
    flagged = [line for line in text.splitlines() if re.search(r"= f(add|mul|div) ", line)]
    assert flagged
    assert all("reassoc contract arcp afn nsz float" in line for line in flagged)
    assert not re.search(r"\b(nnan|ninf|fast)\b", text)
    assert "arcp" not in text_of(op + "schedule f { parallel Y.i }\n")
    y, s = load_text(op + "schedule f { fast_math }\n").f(np.array([np.nan, np.inf, 3], np.float32))
    assert y.tolist() == [7, np.inf, 1]
    assert s == np.inf
