"""Kernels for open sizes: full tiles as for numbers, one body for what is left on each side, and not many more."""

from __future__ import annotations

import numpy as np
import pytest
from tdl.compiler.kernel.printing import print_kernel
from tdl.compiler.kernel.tree import Allocate, Lanes, Statement
from tdl.compiler.kernel.verify import verify
from tdl.compiler.kernel.walk import walk
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.runtime.compile import compile_nest

MATMUL = """op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
schedule f {
    split C.j by [64, 32] -> jp, jr, ji
    split C.k by 24 -> ko, ki
    split C.i by 3 balanced -> ir, ii
    reorder jp, ko, ir, jr, ki, ii, ji
    cache B at ko as Bp layout [jr, ki, ji]
    cache C at jr in register as Cr
    vectorize ji by 16
    unroll ii
    parallel jp
}
"""
BLUR = """op f(X: f32[H, W]) -> Y: f32[H, W] { Y[i, j] = X[i - 1, j | 0] + X[i + 1, j | 0] + X[i, j - 1 | edge] }
schedule f { split Y.i by 4 -> io, ii
    unroll ii
    vectorize Y.j by 16 }
"""


@pytest.fixture(scope="module")
def matmul(load_text):
    return load_text(MATMUL).f


@pytest.fixture(scope="module")
def kernel(matmul):
    return lower(matmul.nest(), lambda _, kernel: verify(kernel))


def test_the_code_stays_small(kernel):
    assert sum(isinstance(node, Statement) for node in walk(kernel.body)) < 80


def test_full_tiles_have_no_conditions(kernel):
    lines = print_kernel(kernel).splitlines()
    start = next(at for at, line in enumerate(lines) if "register Cr" in line)
    end = next(at for at in range(start + 1, len(lines)) if "for C.jr" in lines[at])
    full = "\n".join(lines[start:end])
    assert full.count("Cr[") >= 6
    assert "if " not in full
    assert "the first" not in full


def test_what_is_left_on_two_sides_is_kept_in_memory(kernel):
    kept = {node.buffer for node in walk(kernel.body) if isinstance(node, Allocate)}
    assert kept == {"Bp", "Cr", "Cr.rest"}
    assert kernel.buffers["Cr.rest"].memory == "stack"
    (tile,) = [node for node in walk(kernel.body) if isinstance(node, Allocate) and node.buffer == "Cr.rest"]
    assert sum(isinstance(node, Lanes) for node in walk(tile.body)) == 3


@pytest.mark.parametrize(("text", "sizes", "least"), [(MATMUL, "MKN", 0), (BLUR, "HW", 1)])
def test_results(load_text, guarded, monkeypatch, text, sizes, least):
    f = load_text(text).f
    kernel = compile_nest(f.nest())
    monkeypatch.setattr(f._kernels, "kernel", lambda bound: kernel)
    plain = load_text(text[: text.index("schedule")]).f
    random = np.random.default_rng(0)
    shapes = random.integers(least, 9, (9, len(sizes))).tolist()
    for shape in shapes + random.integers(1, 140, (24, len(sizes))).tolist():
        each_shape = [shape[:2], shape[1:]] if len(sizes) == 3 else [shape]
        inputs = [random.integers(-3, 4, each).astype(np.float32) for each in each_shape]
        arrays = [guarded.place(each, at_end=bool(sum(shape) % 2)) for each in inputs]
        np.testing.assert_array_equal(f(*arrays), plain(*inputs), err_msg=str(shape))
