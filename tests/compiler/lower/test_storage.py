"""How much memory a buffer takes, and how long it is there."""

from __future__ import annotations

import numpy as np
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.runtime.compile import compile_nest

FUSED = """op f(X: f32[M, N]) -> Y: f32[M, N] {
    T[i, j] = X[i, j] * 2
    Y[i, j] = T[i, j] + 1
}
schedule f for cpu {
    fuse Y.i, Y.j -> p
    compute T at p
}
"""
RAGGED = """op f(X: f32[M], ends: i32[L + 1]) -> Y: f32[L] {
    T[i] = X[i] * 2
    Y[n] = sum(T[p] for p in ends[n]..ends[n + 1])
}
schedule f for cpu { compute T at Y.p }
"""
THEN_PARALLEL = """op f(X: f32[M, N]) -> (Y: f32[M], Z: f32[M]) {
    T[i, j] = X[i, j] * 2
    Y[i] = sum(T[i, j] for j)
    Z[i] = Y[i] + 1
}
schedule f for cpu {
    compute T at Y.i
    parallel Z.i
}
"""


def sizes_of(load_text, text: str, name: str) -> list[str]:
    return [str(factor) for factor in lower(load_text(text).f.nest()).buffers[name].factors]


def test_what_one_iteration_of_a_fused_loop_needs_is_one_element(load_text):
    assert sizes_of(load_text, FUSED, "T") == ["1", "1"]


def test_an_extent_at_a_place_that_is_data_is_seen_to_be_a_number(load_text):
    assert sizes_of(load_text, RAGGED, "T") == ["1"]


def test_a_buffer_that_is_gone_is_not_given_to_a_later_loop(load_text):
    f = load_text(THEN_PARALLEL).f
    assert compile_nest(f.nest()).is_parallel
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    y, z = f(x)
    np.testing.assert_array_equal(y, 2 * x.sum(axis=1))
    np.testing.assert_array_equal(z, y + 1)
