"""Numba's blur: loops as a person would write them, in strips with a ring of rows, and with all in one expression.

Reciprocals are not allowed, so that a division stays one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange, set_num_threads

from contest.peers import Call
from contest.workloads import Array, Workload

_FAST = {"nnan", "ninf", "nsz", "reassoc", "contract", "afn"}
_STRIPS = (32, 256)


def prepare(workload: Workload, inputs: list[Array], threads: int) -> list[Call]:
    if not workload.is_blur:
        return []
    set_num_threads(threads)
    (image,) = inputs
    third = _multiplied if workload.variant == "* (1/3)" else _divided
    strip, direct = _kernels(njit(third, fastmath=_FAST, error_model="numpy", inline="always"))
    out = np.empty((image.shape[0] - 2, image.shape[1] - 2), image.dtype)
    calls = [Call("numba direct", lambda: direct(image, out), lambda: out)]
    return calls + [Call(f"numba strip {n}", lambda n=n: strip(image, out, n), lambda: out) for n in _STRIPS]


def _divided(value: Any) -> Any:
    return value / np.float32(3)


def _multiplied(value: Any) -> Any:
    return value * np.float32(1 / 3)


def _kernels(third: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    compiled = njit(parallel=True, fastmath=_FAST, error_model="numpy")

    def strip(image: Any, out: Any, height: int) -> None:
        rows, columns = out.shape
        for part in prange((rows + height - 1) // height):
            ring = np.empty((3, columns), np.float32)
            low, high = part * height, min(rows, part * height + height)
            for i in range(low, low + 2):
                above, kept = image[i], ring[i % 3]
                for j in range(columns):
                    kept[j] = third(above[j] + above[j + 1] + above[j + 2])
            for i in range(low, high):
                below, newest, line = image[i + 2], ring[(i + 2) % 3], out[i]
                first, second = ring[i % 3], ring[(i + 1) % 3]
                for j in range(columns):
                    value = third(below[j] + below[j + 1] + below[j + 2])
                    newest[j] = value
                    line[j] = third(first[j] + second[j] + value)

    def direct(image: Any, out: Any) -> None:
        rows, columns = out.shape
        for i in prange(rows):
            a, b, c, line = image[i], image[i + 1], image[i + 2], out[i]
            for j in range(columns):
                first = third(a[j] + a[j + 1] + a[j + 2])
                second = third(b[j] + b[j + 1] + b[j + 2])
                line[j] = third(first + second + third(c[j] + c[j + 1] + c[j + 2]))

    return compiled(strip), compiled(direct)
