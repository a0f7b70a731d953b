"""PyTorch: its matrix product, and oneDNN's linear layer with a weight that was reordered before."""

from __future__ import annotations

import torch

from contest.peers import Call
from contest.workloads import Array, Workload


def prepare(workload: Workload, inputs: list[Array], threads: int) -> list[Call]:
    if workload.is_blur:
        return []
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    a, b = (torch.from_numpy(each) for each in inputs)
    out = torch.matmul(a, b)
    calls = [Call("torch", lambda: torch.matmul(a, b, out=out), out.numpy)]
    if a.ndim == 2 and a.dtype == torch.float32:
        calls.append(_linear(a, b))
    return calls


def _linear(a: torch.Tensor, b: torch.Tensor) -> Call:
    weight = torch.ops.mkldnn._reorder_linear_weight(b.t().contiguous(), a.shape[0])
    linear = torch.ops.mkldnn._linear_pointwise
    answers: list[torch.Tensor] = []

    def run() -> None:
        answers[:] = [linear(a, weight, None, "none", [], "")]

    return Call("oneDNN", run, lambda: answers[0].numpy(), "packed")
