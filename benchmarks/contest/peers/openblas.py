"""NumPy's matrix product: OpenBLAS in its wheels. The build's name is in the report."""

from __future__ import annotations

import numpy as np

from contest.peers import Call
from contest.workloads import Array, Workload


def prepare(workload: Workload, inputs: list[Array], threads: int) -> list[Call]:
    if workload.is_blur:
        return []
    a, b = inputs
    out = np.matmul(a, b)
    return [Call("numpy", lambda: np.matmul(a, b, out=out), lambda: out)]
