"""Loops of one iteration: those that vanish change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize("depth", [4, 8, 10, 3])
def test_a_reduction_in_parts_begins_once(check_both: Any, depth: int) -> None:
    """The part that was peeled off has one iteration, and goes on with what the other gathered."""
    text = "op f(A: i32[M, K], B: i32[K, N]) -> C: i32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"
    text += "schedule f { split C.k by 4 -> ko, ki\n reorder ko, C.j, ki\n peel ko }\n"
    check_both(text, np.ones((3, depth), np.int32), np.ones((depth, 5), np.int32), exact=True)
