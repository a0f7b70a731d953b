"""The C interface: codes, places, the caller's memory and threads, calls from several threads; the Python package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tdl.compiler.library.build import build_files
from tdl.compiler.library.plan import plan_library
from tdl.compiler.library.target import find_target
from tdl.language.analysis import analyse
from tdl.language.source import Source

from tests.compiler.backends.c.native import COMPILER, WARNINGS
from tests.compiler.library.harness import run, write

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler: install gcc or clang, or name one in CC")

PROGRAM = """
## Elements by their numbers.
op pick(X: f32[N], I: i64[K]) -> Y: f32[K] where N >= 1 { Y[k] = X[I[k]] }
op divide(X: i32[N], d: i32) -> Y: i32[N] { Y[i] = X[i] // d }
op scaled(X: f32[M, N]) -> Y: f32[M, N] {
    s[i] = sum(X[i, j] for j)
    Y[i, j] = X[i, j] / s[i]
}
schedule scaled for cpu {
    parallel Y.i
}
op product(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
schedule product for cpu when M % 4 == 0 and N >= 8 {
    split C.i by 4 -> io, ii
    parallel io
}
op tall(X: bf16[2*N, M]) -> (Y: bf16[M], n: i64) {
    Y[j] = max(X[i, j] for i)
    n = sum(i64(1) for i in 0..N)
}
bench exact: product(M=8, K=8, N=8)
test half: tall(N=3, M=2)
"""

MAIN = r"""
#include "ops.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tasks = 0;

static void backwards(void *state, void (*task)(void *closure, int64_t index, int32_t thread), void *closure,
                      int64_t count) {
    *(int64_t *)state += count;
    for (int64_t index = count - 1; index >= 0; --index) {
        ++tasks;
        task(closure, index, 0);
    }
}

static float X[64 * 48];

static void *call_often(void *unused) {
    float *const Y = malloc(sizeof X);
    for (int each = 0; each < 100; ++each) {
        memset(Y, 0, sizeof X);
        assert(ops_scaled(64, 48, X, Y) == OPS_OK);
        for (int i = 0; i < 64 * 48; ++i) {
            assert(Y[i] == 1.0f / 48);
        }
    }
    free(Y);
    return unused;
}

int main(void) {
    const float x[3] = {1, 2, 3};
    float y[2] = {0, 0};
    int64_t I[2] = {2, 0};
    assert(ops_pick(3, 2, x, I, y) == OPS_OK && y[0] == 3 && y[1] == 1);
    assert(ops_pick(0, 2, x, I, y) == OPS_BAD_SIZES);
    assert(ops_pick(3, -1, x, I, y) == OPS_BAD_SIZES);
    assert(ops_pick(INT64_MAX, 2, x, I, y) == OPS_BAD_SIZES);
    assert(ops_pick(3, 2, NULL, I, y) == OPS_BAD_BUFFER);
    assert(ops_pick(3, 2, (const float *)((const char *)x + 1), I, y) == OPS_BAD_BUFFER);
    assert(ops_pick(3, 0, x, NULL, NULL) == OPS_OK);
    I[1] = 3;
    assert(ops_pick(3, 2, x, I, y) == OPS_OUT_OF_BOUNDS);
    ops_run run = {0};
    assert(ops_pick_run(&run, 3, 2, x, I, y) == OPS_OUT_OF_BOUNDS);
    assert(run.error.code == OPS_OUT_OF_BOUNDS);
    assert(run.error.details[0] == 0 && run.error.details[1] == 3 && run.error.details[2] == 3);
    assert(strcmp(ops_place(&run.error), "ops.tdl:3: X[I[k]]") == 0);
    assert(strcmp(ops_message(run.error.code), "an index that was read from data is out of bounds") == 0);
    assert(ops_pick_run(&run, 0, 2, x, I, y) == OPS_BAD_SIZES && ops_place(&run.error)[0] == 0);

    const int32_t whole[3] = {-7, 7, INT32_MIN};
    int32_t part[3];
    int32_t d = 2;
    assert(ops_divide(3, whole, &d, part) == OPS_OK && part[0] == -4 && part[1] == 3);
    d = -1;
    assert(ops_divide(3, whole, &d, part) == OPS_OK && part[2] == INT32_MIN);
    d = 0;
    assert(ops_divide_run(&run, 3, whole, &d, part) == OPS_DIVISION_BY_ZERO);
    assert(strcmp(ops_place(&run.error), "ops.tdl:4: X[i] // d") == 0);

    for (int i = 0; i < 64 * 48; ++i) {
        X[i] = 2;
    }
    float Y[64 * 48];
    int64_t calls = 0;
    const int64_t bytes = ops_scaled_workspace(64, 48, 1);
    assert(bytes > 0 && bytes % 64 == 0);
    assert(ops_scaled_workspace(-1, 48, 1) == -1 && ops_scaled_workspace(64, 48, 0) == -1);
    memset(&run, 0, sizeof run);
    run.workspace = aligned_alloc(64, (size_t)bytes);
    run.parallel_for = backwards;
    run.state = &calls;
    assert(ops_scaled_run(&run, 64, 48, X, Y) == OPS_OK);
    assert(calls == 64 && tasks == 64 && Y[5] == 1.0f / 48);
    free(run.workspace);

    float A[64], B[64], C[64];
    for (int i = 0; i < 64; ++i) {
        A[i] = 1;
        B[i] = 2;
    }
    assert(ops_product(8, 8, 8, A, B, C) == OPS_OK && C[63] == 16);
    assert(ops_product(4, 2, 16, A, B, C) == OPS_OK && C[63] == 4);
    assert(ops_product(3, 4, 5, A, B, C) == OPS_OK && C[14] == 8);

    const uint16_t bits[] = {0x3f80, 0x4000, 0xbf80, 0x4040};
    uint16_t most[2];
    int64_t n = 0;
    assert(ops_tall(1, 2, bits, most, &n) == OPS_OK && most[0] == 0x3f80 && most[1] == 0x4040 && n == 1);

    pthread_t threads[4];
    for (int each = 0; each < 4; ++each) {
        pthread_create(&threads[each], NULL, call_often, NULL);
    }
    for (int each = 0; each < 4; ++each) {
        pthread_join(threads[each], NULL);
    }
    puts("done");
    return 0;
}
"""


def built(folder: Path, *emits: str) -> None:
    target = find_target("host")
    path = folder / "ops.tdl"
    path.write_text(PROGRAM)
    library = plan_library("ops", analyse(Source(str(path), PROGRAM)), target)
    assert library.notes == ()
    write(build_files(library, target, list(emits)), folder)
    (folder / "main.c").write_text(MAIN)


@pytest.mark.parametrize("emit", ["c", "obj"])
def test_a_program_that_calls_it(emit: str, tmp_path: Path) -> None:
    built(tmp_path, emit)
    code = "ops.c" if emit == "c" else "ops.o"
    run([COMPILER, *WARNINGS, "-O1", "-g", "main.c", code, "-lm", "-lpthread", "-o", "main"], tmp_path)
    assert run(["./main"], tmp_path, TDL_NUM_THREADS="3") == b"done\n"


def test_the_header_is_for_cpp_as_well(tmp_path: Path) -> None:
    built(tmp_path, "header")
    run([COMPILER, "-x", "c++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "ops.h"], tmp_path)


PYTHON = """
import sys
assert not any(name.startswith(("tdl", "llvmlite")) for name in sys.modules)
import numpy as np
import ops
ops.set_threads(2)
X = np.arange(12, dtype=np.float32).reshape(3, 4)
np.testing.assert_allclose(ops.scaled(X), X / X.sum(1, keepdims=True), rtol=1e-6)
Y = np.empty((3, 4), np.float32)
assert ops.scaled(X, out=Y) is Y
assert (ops.pick([1, 2, 3], [2, 0]) == [3, 1]).all()
assert (ops.divide(np.array([-7, 7], np.int32), 2) == [-4, 3]).all()
most, n = ops.tall(np.ones((6, 2), np.float32).astype("bfloat16"))
assert most.shape == (2,) and n == 3
for wrong, error, words in (
    (lambda: ops.pick([1, 2, 3], [3]), IndexError, "ops.tdl:3: X[I[k]]"),
    (lambda: ops.divide([1], 0), ZeroDivisionError, "ops.tdl:4"),
    (lambda: ops.pick([], [0]), ValueError, "sizes are not"),
    (lambda: ops.scaled(X.astype(np.float64)), TypeError, "X is float64, and should be float32"),
    (lambda: ops.scaled(X[0]), ValueError, "has 1 dimensions"),
    (lambda: ops.product(X, X), ValueError, "B has shape (3, 4), and should have (4, 4)"),
    (lambda: ops.scaled(X, out=X), ValueError, "overlaps"),
    (lambda: ops.scaled(X, out=np.empty((4, 3), np.float32)), ValueError, "should be an array of float32[3, 4]"),
):
    try:
        wrong()
    except error as found:
        assert words in str(found), found
    else:
        raise AssertionError(words)
"""


def test_the_python_package(tmp_path: Path) -> None:
    built(tmp_path, "python")
    done = subprocess.run(
        [sys.executable, "-c", PYTHON], cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": ""}
    )
    assert done.returncode == 0, done.stderr
