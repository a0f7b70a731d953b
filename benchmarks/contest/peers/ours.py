"""Ours: products.tdl and blur.tdl under the schedules in those files, blur also under the schedule of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tdl.compiler import load, set_num_threads

from contest.peers import Call
from contest.workloads import Array, Workload

_HERE = Path(__file__).parents[2]
_SHARED = _HERE.parent / "tests" / "programs" / "schedules.tdl"
_BLURS = {"/ 3": "blur", "* (1/3)": "blur_multiplied"}


def prepare(workload: Workload, inputs: list[Array], threads: int) -> list[Call]:
    set_num_threads(threads)
    return _blur(workload, inputs) if workload.is_blur else _product(inputs, threads)


def _blur(workload: Workload, inputs: list[Array]) -> list[Call]:
    (image,) = inputs
    name = _BLURS.get(workload.variant)
    op = load(_SHARED).blur if name is None else getattr(load(_HERE / "blur.tdl"), name)
    out = np.empty((image.shape[0] - 2, image.shape[1] - 2), image.dtype)
    return [Call("ours", lambda: op(image, out=out), lambda: out)]


def _product(inputs: list[Array], threads: int) -> list[Call]:
    """B as it is, and B packed where products.tdl has an op that takes it so. There is a part to each thread."""
    a, b = inputs
    module = load(_HERE / "products.tdl")
    name = "product" if a.ndim == 2 else "batched"
    op = getattr(module, name) if a.ndim == 3 else module.product.with_knobs(parts=threads)
    out = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype)
    calls = [Call("ours", lambda: op(a, b, out=out), lambda: out)]
    packed: Any = getattr(module, f"{name}_packed", None)
    if packed is not None:
        panels = packed.pack("B" if a.ndim == 2 else "W", b, M=a.shape[-2])
        calls.append(Call("ours packed", lambda: packed(a, panels, out=out), lambda: out, "packed"))
    return calls
