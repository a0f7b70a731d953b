"""Matrix products under the schedules of products.tdl, against what a user would call instead.

    python benchmarks/products.py [--threads 1] [--pairs 30] [--only 1024x1024x1024] [--json]

Every contender gets A and B as they are and packs what it likes inside the call, but those marked `prepacked`, whose
B was prepared before (oneDNN through torch, onnxruntime with a constant B). Contenders take turns; the best peer is
chosen in one run and timed against ours again in another; a ratio is the median over pairs, with the interval that
holds 95% of medians of resampled pairs. Every result is checked. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from quiet import refuse_if_busy
from rich.console import Console
from rich.table import Table
from tdl.compiler import load, set_num_threads

Call = Callable[[], Any]

SHAPES = [
    *((n, n, n, "f32") for n in (256, 512, 1000, 1023, 1024, 2048)),
    *((1, n, n, "f32") for n in (1024, 4096)),
    *((4, n, n, "f32") for n in (1024, 4096)),
    *((n, n, 8, "f32") for n in (1024, 4096)),
    (128, 768, 3072, "f32"),
    (128, 3072, 768, "f32"),
    (1024, 1024, 1024, "f64"),
    (12, 512, 64, 512, "f32"),
]


def main() -> None:
    """Measure, print the table, and end with 0 where ours is at least as fast as OpenBLAS on average."""
    parser = argparse.ArgumentParser(description="Time matrix products against NumPy, oneDNN and onnxruntime.")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--only", help="one shape, as MxKxN or BxMxKxN")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--force", action="store_true", help="measure on a busy machine too")
    options = parser.parse_args()
    refuse_if_busy(options.force)
    set_num_threads(options.threads)
    _limit_others(options.threads)
    rows = []
    for *sizes, dtype in SHAPES:
        name = "x".join(map(str, sizes))
        if options.only in (None, name):
            rows.append(measure(name, sizes, dtype, options.threads, options.pairs))
            print(f"{len(rows)} of {len(SHAPES)}: {name} {dtype}", file=sys.stderr)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        Console().print(_table(rows, options.threads))
    mean = statistics.geometric_mean(row["openblas"][1] for row in rows)
    raise SystemExit(0 if mean >= 1 else 1)


def measure(name: str, sizes: list[int], dtype: str, threads: int, pairs: int) -> dict[str, Any]:
    """One row: GFLOP/s of ours, and ratios against OpenBLAS and against the best peer."""
    rng = np.random.default_rng(0)
    kind = np.float64 if dtype == "f64" else np.float32
    *batch, m, k, n = sizes
    a, b = (rng.standard_normal((*batch, *shape)).astype(kind) for shape in ((m, k), (k, n)))
    calls = contenders(a, b, threads)
    wanted = a.astype(np.float64) @ b
    for contender, call in calls.items():
        error = float(np.max(np.abs(call() - wanted))) / max(float(np.max(np.abs(wanted))), 1.0)
        if error > 1e-3:
            raise SystemExit(f"{contender} is wrong on {name}: {error}")
    pause = 0.13 if threads > 1 else 0.0  # OpenBLAS' threads spin that long
    first = _turns(calls, 5, pause)
    best = min((each for each in calls if each != "tdl"), key=lambda each: statistics.median(first[each]))
    again = _turns({each: calls[each] for each in dict.fromkeys(("tdl", "numpy", best))}, pairs, pause)
    work = 2 * m * k * n * int(np.prod(batch))
    return {
        "shape": f"{name} {dtype}",
        "gflops": work / statistics.median(again["tdl"]) / 1e9,
        "openblas": _ratio(again["numpy"], again["tdl"]),
        "best": best,
        "against_best": _ratio(again[best], again["tdl"]),
    }


def contenders(a: np.ndarray, b: np.ndarray, threads: int) -> dict[str, Call]:
    """Calls that give the product, by name."""
    module = load(Path(__file__).with_name("products.tdl"))
    op = module.product if a.ndim == 2 else module.batched
    ours, theirs = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype), np.empty((*a.shape[:-1], b.shape[-1]), a.dtype)
    found: dict[str, Call] = {"tdl": lambda: op(a, b, out=ours), "numpy": lambda: np.matmul(a, b, out=theirs)}
    found.update(_torch(a, b, threads))
    found.update(_onnxruntime(a, b, threads))
    return found


def _torch(a: np.ndarray, b: np.ndarray, threads: int) -> dict[str, Call]:
    try:
        import torch
    except ImportError:
        return {}
    torch.set_num_threads(threads)
    x, y = torch.from_numpy(a), torch.from_numpy(b)
    out = torch.matmul(x, y)
    found: dict[str, Call] = {"torch": lambda: torch.matmul(x, y, out=out).numpy()}
    if a.ndim == 2 and a.dtype == np.float32:
        packed = torch.ops.mkldnn._reorder_linear_weight(y.t().contiguous(), a.shape[0])
        linear = torch.ops.mkldnn._linear_pointwise
        found["onednn prepacked"] = lambda: linear(x, packed, None, "none", [], "").numpy()
    return found


def _onnxruntime(a: np.ndarray, b: np.ndarray, threads: int) -> dict[str, Call]:
    try:
        import onnxruntime as ort
        from onnx import helper, numpy_helper
    except ImportError:
        return {}
    kind = helper.np_dtype_to_tensor_dtype(a.dtype)
    shape = [*a.shape[:-1], b.shape[-1]]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["c"])],
        "product",
        [helper.make_tensor_value_info("a", kind, a.shape)],
        [helper.make_tensor_value_info("c", kind, shape)],
        [numpy_helper.from_array(b, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = threads
    session = ort.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    given, result = ort.OrtValue.ortvalue_from_numpy(a), ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, a.dtype))
    binding.bind_ortvalue_input("a", given)
    binding.bind_ortvalue_output("c", result)
    options = ort.RunOptions()

    def call() -> Any:
        session.run_with_iobinding(binding, options)
        return result.numpy()

    return {"onnxruntime prepacked": call}


def _limit_others(threads: int) -> None:
    """Give OpenBLAS as many threads."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)


def _turns(calls: dict[str, Call], rounds: int, pause: float) -> dict[str, list[float]]:
    counts = {name: max(1, int(2e-3 / max(_once(call, 1), 1e-7))) for name, call in calls.items()}
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(pause)
            _wake(call)
            samples[name].append(_once(call, counts[name]))
    return samples


def _wake(call: Call) -> None:
    """Call for some milliseconds: a processor that slept is slow to come, and so are threads on it."""
    end = time.perf_counter() + 5e-3
    while time.perf_counter() < end:
        call()


def _once(call: Call, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def _ratio(theirs: list[float], ours: list[float]) -> tuple[float, float, float]:
    """The lower end, median and upper end of how many times as fast ours is."""
    ratios = np.array(theirs) / np.array(ours)
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(ratios, (2000, len(ratios))), axis=1)
    low, high = np.percentile(medians, (2.5, 97.5))
    return float(low), float(np.median(ratios)), float(high)


def _table(rows: list[dict[str, Any]], threads: int) -> Table:
    table = Table(title=f"matrix products, {threads} thread{'s'[: threads > 1]}", title_justify="left")
    for heading in ("M x K x N", "GFLOP/s", "of OpenBLAS", "best peer", "of the best peer"):
        table.add_column(heading, justify="left" if heading == "best peer" else "right")
    for row in rows:
        table.add_row(
            row["shape"], f"{row['gflops']:.1f}", _shown(row["openblas"]), row["best"], _shown(row["against_best"])
        )
    for key in ("openblas", "against_best"):
        row_mean = statistics.geometric_mean(row[key][1] for row in rows)
        table.caption = f"{table.caption or 'geometric means:'}  {row_mean:.3f} of {key.replace('_', ' ')}"
    return table


def _shown(ratio: tuple[float, float, float]) -> str:
    low, median, high = ratio
    colour = "green" if high >= 1 else "yellow"
    return f"[{colour}]{median:.3f}[/] [dim]{low:.2f}..{high:.2f}[/]"


if __name__ == "__main__":
    main()
