"""Nothing outside a tensor is touched: each array ends (or begins) at a page that may not be read or written.

A kernel that strays kills the process, and the test with it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tdl.compiler import load, num_threads, set_num_threads
from tdl.language.binding import bind
from tdl.language.check import check_op
from tdl.language.samples import random_inputs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="mprotect is of POSIX")


def data(dtype: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(list(shape))
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, 5, shape).astype(dtype)


KERNELS = {
    "matrix product": (
        "op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }",
        [("f4", "MK"), ("f4", "KN")],
    ),
    "dot products": (
        "op f(A: u8[M, K], B: i8[N, K]) -> C: i32[M, N] { C[i, j] = sum(i32(A[i, k]) * i32(B[j, k]) for k) }",
        [("u1", "MK"), ("i1", "NK")],
    ),
    "padded convolution": (
        """op f(X: f32[M, N], F: f32[3, 3]) -> Y: f32[M, N] {
            Y[i, j] = sum(X[i + r - 1, j + s - 1 | 0] * F[r, s] for r, s) }""",
        [("f4", "MN"), ("f4", "33")],
    ),
    "edges": (
        """op f(X: f64[M, N]) -> Y: f64[M, N] {
            Y[i, j] = X[i - 1, j | edge] + X[i, j + 2 | mirror] + X[i + 3, j - 3 | wrap] }""",
        [("f8", "MN")],
    ),
    "gather with a boundary": (
        "op f(X: f32[M, N], k: i32[K]) -> Y: f32[K, N] { Y[n, j] = X[k[n], j | 0] }",
        [("f4", "MN"), ("i4", "K")],
    ),
    "branches": (
        """op f(X: f32[N], b: bool[N]) -> Y: f32[N] {
            Y[i] = (X[i - 1] if i > 0 else 0) + (X[i + 1] if i < N - 1 and b[i] else 1) }""",
        [("f4", "N"), ("?", "N")],
    ),
    "filtered reduction": (
        "op f(X: f32[N], b: bool[N]) -> y: f32 { y = sum(X[i + 1] for i in 0..N if i < N - 1 and b[i]) }",
        [("f4", "N"), ("?", "N")],
    ),
    "half floats": (
        "op f(X: f16[M, N], Y: f16[N]) -> Z: f16[M] { Z[i] = sum(X[i, j] * Y[j] for j) }",
        [("f2", "MN"), ("f2", "N")],
    ),
    "recurrence": (
        "op f(X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = X[i, j] + Y[i - 1, j + 1 | 0] }",
        [("f4", "MN")],
    ),
    "strided": (
        "op f(X: f32[2*N + 1]) -> Y: f32[N] { Y[i] = max(X[2*i + r] for r in 0..3) }",
        [("f4", "2N+1")],
    ),
    "first best": (
        "op f(X: f32[M, N]) -> (V: f32[M], I: i64[M]) { (V[i], I[i]) = argmax((X[i, j], j) for j) }",
        [("f4", "MN")],
    ),
}
SIZES = [(1, 1, 1), (3, 5, 7), (4, 16, 8), (2, 33, 65), (5, 64, 31), (7, 0, 9), (0, 3, 2)]


def shape_of(letters: str, sizes: dict[str, int]) -> tuple[int, ...]:
    if letters == "2N+1":
        return (2 * sizes["N"] + 1,)
    return tuple(sizes.get(letter, 3) for letter in letters)


@pytest.mark.parametrize("at_end", [True, False], ids=["end", "start"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_stay_inside(load_text, guarded, kernel, at_end):
    text, inputs = KERNELS[kernel]
    if kernel == "edges":
        text = text.replace("{\n", "where M >= 1, N >= 1 {\n", 1)
    function = load_text(text).f
    for m, k, n in SIZES:
        sizes = {"M": m, "K": k, "N": n}
        if kernel == "edges" and 0 in sizes.values():
            continue
        plain = [data(dtype, *shape_of(letters, sizes)) for dtype, letters in inputs]
        wanted = function(*plain)
        several = isinstance(wanted, tuple)
        out = tuple(guarded.place(np.asarray(each), at_end=at_end) for each in (wanted if several else (wanted,)))
        for each in out:
            each[...] = np.zeros((), each.dtype)
        function(*(guarded.place(each, at_end=at_end) for each in plain), out=out if several else out[0])
        for found, each in zip(out, wanted if several else (wanted,), strict=True):
            np.testing.assert_array_equal(found, each)


# ---- under schedules

PROGRAMS = Path(__file__).parents[2] / "programs"
SCHEDULED = {
    "matmul": [(6, 1, 64), (7, 19, 65), (13, 33, 129), (17, 1030, 70), (64, 64, 320)],
    "blur": [(3, 3), (4, 18), (35, 50), (36, 18), (70, 39)],
    "chain": [(1,), (31,), (33,), (96,)],
    "total": [(1,), (15,), (1000,)],
    "sum_mid": [(3, 5, 7), (70, 130, 65)],
    "window": [(1, 1), (11, 9)],
    "dot": [(7,), (64,)],
    "small": [(1,), (7,), (64,)],
    "bump": [(1, 2, 3, 5), (1, 14, 14, 1024)],
    "ragged": [(3, 2, 5), (4, 17, 3)],
}
"""Sizes for each scheduled op of the programs, in the order of its dimensions."""


@pytest.fixture(params=[1, 3])
def threads(request):
    before = num_threads()
    set_num_threads(request.param)
    yield
    set_num_threads(before)


@pytest.mark.parametrize("at_end", [True, False], ids=["end", "start"])
@pytest.mark.parametrize("name", SCHEDULED)
def test_scheduled_kernels_stay_inside(guarded, name, at_end, threads):
    path = PROGRAMS / ("schedules.tdl" if name in ("matmul", "blur") else "hard_schedules.tdl")
    function, plain = load(path)[name], load(path, schedules=False)[name]
    dims = check_op(function.declaration).program.dims
    for sizes in SCHEDULED[name]:
        bound = bind(function.declaration, {}, sizes=dict(zip([dim.name for dim in dims], sizes, strict=True)))
        inputs = random_inputs(bound.program, bound.sizes)
        wanted = np.asarray(plain(**inputs))
        out = guarded.place(np.zeros_like(wanted), at_end=at_end)
        function(*(guarded.place(each, at_end=at_end) for each in inputs.values()), out=out)
        np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4)
