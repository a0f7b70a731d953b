"""Halide, compiled in the process: products in register tiles, with B read in place, packed inside the call, and given
in panels; blur by its own automatic schedulers.

    C.tile(j, i, 64, 6)   B in panels [N/64, K, 64]   the tile in registers while k runs

Automatic schedules of products are far behind these, so they are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import halide as hl
import numpy as np

from contest.peers import Call, Column
from contest.workloads import Array, Workload

_TARGET = hl.get_jit_target_from_environment()
_PLUGINS = Path(hl.__file__).parent / "lib64"
_SCHEDULERS = ("Adams2019", "Mullapudi2016", "Li2018")
_MANY = 16
"""A parallelism to schedule for that leaves more tasks than threads, besides the threads there are."""
_TILE = (4, 6)
"""Vectors and rows of a tile in registers."""


def prepare(workload: Workload, inputs: list[Array], threads: int) -> list[Call]:
    if workload.is_blur:
        return _blurs(workload, inputs, threads)
    a, b = inputs
    if a.ndim == 3:
        return [_call("halide", _batched, inputs, (*a.shape[:-1], b.shape[-1]))]
    if b.shape[1] < 16:
        return [_call("halide", _narrow, inputs, (len(a), b.shape[1]))]
    return _products(a, b)


# ---- products


def _products(a: Array, b: Array) -> list[Call]:
    lanes = 64 // a.itemsize
    rows, (inner, columns) = len(a), b.shape
    width = lanes * _TILE[0]
    height = min(_TILE[1], rows)
    padded = np.zeros((inner, -(-columns // width) * width), b.dtype)
    padded[:, :columns] = b
    panels = np.ascontiguousarray(padded.reshape(inner, -1, width).swapaxes(0, 1))
    shape = (rows, columns)

    def in_place(A: Any, B: Any) -> hl.Func:
        return _tiled(A, lambda j, k: B[j, k], shape, inner, lanes, height, in_panels=False)

    def packing(A: Any, B: Any) -> hl.Func:
        panel, (p, k, q) = hl.Func("panel"), _variables("p", "k", "q")
        panel[p, k, q] = B[hl.min(q * width + p, columns - 1), k]
        panel.compute_root().bound(p, 0, width).vectorize(p, lanes).unroll(p).reorder(p, k, q).parallel(q)
        return _tiled(A, lambda j, k: panel[j % width, k, j // width], shape, inner, lanes, height, in_panels=True)

    def given(A: Any, P: Any) -> hl.Func:
        return _tiled(A, lambda j, k: P[j % width, k, j // width], shape, inner, lanes, height, in_panels=True)

    calls = [_call("halide in place", in_place, [a, b], shape)]
    if rows > _TILE[1]:
        calls.append(_call("halide packing", packing, [a, b], shape))
    return [*calls, _call("halide panels", given, [a, panels], shape, "packed")]


def _tiled(
    A: Any, b: Callable[[Any, Any], Any], shape: tuple[int, int], inner: int, lanes: int, height: int, in_panels: bool
) -> hl.Func:
    """Tiles of `height` rows and four vectors; some rows of tiles to a task, so that a panel stays near."""
    rows, columns = shape
    width = lanes * _TILE[0]
    total, out = hl.Func("total"), hl.Func("out")
    j, i, jo, ji, io, ii, ib, task = _variables("j", "i", "jo", "ji", "io", "ii", "ib", "task")
    k = hl.RDom([(0, inner)])
    total[j, i] += A[k.x, i] * b(j, k.x)
    out[j, i] = total[j, i]
    out.bound(j, 0, columns).bound(i, 0, rows)
    guard, shift = hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards
    is_ragged = columns % width != 0
    out.split(j, jo, ji, width, (guard if is_ragged else hl.TailStrategy.RoundUp) if in_panels else shift)
    out.split(i, io, ii, height, shift).split(io, io, ib, max(1, min(8, rows // height // 4)), guard)
    out.reorder(ji, ii, ib, io, jo).fuse(io, jo, task).parallel(task)
    out.vectorize(ji, lanes, guard if in_panels and is_ragged else hl.TailStrategy.Auto).unroll(ii)
    total.compute_at(out, ib).vectorize(j, lanes).unroll(j).unroll(i)
    update = total.update().reorder(j, i, k.x).vectorize(j, lanes).unroll(j).unroll(i)
    if inner % 4 == 0:
        update.unroll(k.x, 4)
    return out


def _narrow(A: Any, B: Any) -> hl.Func:
    """Eight columns are one vector; sixteen rows of it in registers."""
    total, out = hl.Func("total"), hl.Func("out")
    j, i, io, ii = _variables("j", "i", "io", "ii")
    k = hl.RDom([(0, A.dim(0).extent())])
    total[j, i] += A[k.x, i] * B[j, k.x]
    out[j, i] = total[j, i]
    out.split(i, io, ii, 16).vectorize(j, 8).unroll(ii).parallel(io, 8)
    total.compute_at(out, io).vectorize(j, 8).unroll(i)
    total.update().reorder(j, i, k.x).vectorize(j, 8).unroll(i).unroll(k.x, 2)
    return out


def _batched(A: Any, B: Any) -> hl.Func:
    total, out = hl.Func("total"), hl.Func("out")
    j, i, n, jo, io, ji, ii, task = _variables("j", "i", "n", "jo", "io", "ji", "ii", "task")
    k = hl.RDom([(0, A.dim(0).extent())])
    total[j, i, n] += A[k.x, i, n] * B[j, k.x, n]
    out[j, i, n] = total[j, i, n]
    out.tile(j, i, jo, io, ji, ii, 64, 6, hl.TailStrategy.ShiftInwards).reorder(ji, ii, io, jo, n)
    out.fuse(jo, n, task).parallel(task).vectorize(ji, 16).unroll(ii)
    total.compute_at(out, io).vectorize(j, 16).unroll(j).unroll(i)
    total.update().reorder(j, i, k.x).vectorize(j, 16).unroll(j).unroll(i).unroll(k.x, 2)
    return out


# ---- blur


def _blurs(workload: Workload, inputs: list[Array], threads: int) -> list[Call]:
    """For each automatic scheduler that comes with Halide, two: told of the threads there are, and of more."""
    height, width = workload.sizes

    def third(value: Any) -> Any:
        return value * hl.f32(1 / 3) if workload.variant == "* (1/3)" else value / hl.f32(3)

    def scheduled(scheduler: str, parallelism: int) -> Callable[[Any], hl.Func]:
        def algorithm(X: Any) -> hl.Func:
            rows, out = hl.Func("rows"), hl.Func("out")
            j, i = _variables("j", "i")
            rows[j, i] = third(X[j, i] + X[j + 1, i] + X[j + 2, i])
            out[j, i] = third(rows[j, i] + rows[j, i + 1] + rows[j, i + 2])
            X.dim(0).set_estimate(0, width)
            X.dim(1).set_estimate(0, height)
            out.set_estimates([(0, width - 2), (0, height - 2)])
            hl.load_plugin(str(_PLUGINS / f"libautoschedule_{scheduler.lower()}.so"))
            parameters = hl.AutoschedulerParams(scheduler, {"parallelism": str(parallelism)})
            hl.Pipeline(out).apply_autoscheduler(_TARGET, parameters)
            return out

        return algorithm

    shape = (height - 2, width - 2)
    few = [_call(f"halide {name}", scheduled(name, threads), inputs, shape) for name in _SCHEDULERS]
    return few + [_call(f"halide {name}/{_MANY}", scheduled(name, _MANY), inputs, shape) for name in _SCHEDULERS]


# ---- calls


def _call(
    name: str, algorithm: Callable[..., hl.Func], inputs: list[Array], shape: tuple[int, ...], column: Column = "plain"
) -> Call:
    out = np.empty(shape, inputs[0].dtype)
    parameters = [hl.ImageParam(hl.Buffer(each).type(), each.ndim, f"in{n}") for n, each in enumerate(inputs)]
    run = algorithm(*parameters).compile_to_callable(parameters, _TARGET)
    buffers = [hl.Buffer(each) for each in (*inputs, out)]
    return Call(name, lambda: run(*buffers), lambda: out, column)


def _variables(*names: str) -> list[Any]:
    return [hl.Var(name) for name in names]
