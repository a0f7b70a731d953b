"""Comprehensions over packs: as many indices as the tensor read has dimensions for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tdl.language.analysis import Analysis

Marked = Callable[..., Analysis]
Run = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("shape", [(), (5,), (0,), (2, 3), (2, 0, 3), (2, 3, 4)])
def test_a_sum_over_all_indices_of_any_rank(shape: tuple[int, ...], run: Run) -> None:
    x = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    text = "op f(X: i32[..S]) -> s: i32 { s = sum(X[..i] for ..i) }"
    assert run(text, X=x)["s"] == x.sum()


def test_a_filter_and_several_tensors_share_the_pack(run: Run) -> None:
    text = "op f(X: i32[..S], W: i32[..S]) -> s: i32 { s = sum(X[..i] * W[..i] for ..i if W[..i] > 0) }"
    assert run(text, X=[[1, 2], [3, 4]], W=[[1, -1], [0, 2]])["s"] == 9


def test_a_pack_beside_other_indices_takes_the_dimensions_that_are_left(run: Run) -> None:
    x = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
    rows = run("op f(X: i64[M, N, K]) -> s: i64[M] { s[i] = sum(X[i, ..j] for ..j) }", X=x)
    np.testing.assert_array_equal(rows["s"], x.sum(axis=(1, 2)))
    last = run("op f(X: i64[..S, K]) -> s: i64[K] { s[k] = sum(X[..i, k] for ..i) }", X=x)
    np.testing.assert_array_equal(last["s"], x.sum(axis=(0, 1)))


def test_one_pack_on_the_left_and_one_in_the_comprehension(run: Run) -> None:
    x = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
    text = "op f(X: i64[..S, K]) -> Y: i64[..S] { Y[..i] = sum(X[..i, ..k] for ..k) }"
    np.testing.assert_array_equal(run(text, X=x)["Y"], x.sum(axis=2))


def test_a_pack_in_a_reduction_of_several_values(run: Run) -> None:
    text = """
        reducer both(s: i32, n: i32), (t: i32, m: i32)) -> (i32, i32) { identity (0, 0)
            combine (s + t, n + m) }
        op f(X: i32[..S]) -> (s: i32, n: i32) { (s, n) = both((X[..i], 1) for ..i) }
    """.replace("both(s", "both((s")
    found = run(text, X=[[1, 2, 3], [4, 5, 6]])
    assert (found["s"], found["n"]) == (21, 6)


def test_a_pack_needs_a_tensor_read_with_it_and_a_name_of_its_own(marked: Marked) -> None:
    marked("""
        op a(X: f32[..S]) -> s: f32 { s = sum(1.0 for ..i) }  # error: [definition] <..i> read a tensor with it
        op b(X: f32[..S]) -> Y: f32[..S] { Y[..i] = sum(X[..i] for ..i) }  # error: [duplicate-name] <i> already names
        op c(X: f32[M, N]) -> s: f32 { s = sum(X[..i, ..j] for ..i, ..j) }  # error: [definition] how many indices `..i`
        op d(X: f32[M, N], v: f32[N]) -> s: f32 { s = sum(X[..i] * v[..i] for ..i) }  # error: [rank] <v[..i]> `v` has 1
    """)
