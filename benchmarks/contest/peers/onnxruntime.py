"""ONNX Runtime's MatMul: with B as an input, and as a constant, which it packs when the session starts."""

from __future__ import annotations

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

from contest.peers import Call, Column
from contest.workloads import Array, Workload


def prepare(workload: Workload, inputs: list[Array], threads: int) -> list[Call]:
    if workload.is_blur:
        return []
    a, b = inputs
    return [_call("plain", {"a": a, "b": b}, {}, threads), _call("packed", {"a": a}, {"b": b}, threads)]


def _call(column: Column, given: dict[str, Array], constant: dict[str, Array], threads: int) -> Call:
    kind = helper.np_dtype_to_tensor_dtype(given["a"].dtype)
    out = np.empty((*given["a"].shape[:-1], ({**given, **constant})["b"].shape[-1]), given["a"].dtype)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["c"])],
        "product",
        [helper.make_tensor_value_info(name, kind, array.shape) for name, array in given.items()],
        [helper.make_tensor_value_info("c", kind, out.shape)],
        [numpy_helper.from_array(array, name) for name, array in constant.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = threads
    settings.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, array in given.items():
        binding.bind_input(name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
    binding.bind_output("c", "cpu", 0, out.dtype, out.shape, out.ctypes.data)
    options = onnxruntime.RunOptions()
    kept = (given, constant)  # the binding has only addresses

    def run(_kept: object = kept) -> None:
        session.run_with_iobinding(binding, options)

    return Call("onnxruntime", run, lambda: out, column)
