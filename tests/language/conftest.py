"""What tests of the language share: an op from its text, evaluated."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from tdl.language import analysis
from tdl.language.arrays import dtype_of, numpy_dtype
from tdl.language.binding import ArrayType, bind
from tdl.language.evaluate import evaluate
from tdl.language.source import Source

Results = dict[str, np.ndarray]


@pytest.fixture
def run() -> Callable[..., Results]:
    """`run(text, X=..., sizes={...}, parameters={...})`: the outputs of the text's last op; a warning is an error.

    Arrays are taken as they are, and lists get the type that the op declares.
    """

    def run(
        text: str,
        sizes: Mapping[str, Any] | None = None,
        parameters: Mapping[str, object] | None = None,
        **inputs: Any,
    ) -> Results:
        analysed = analysis.analyse(Source("test.tdl", dedent(text)))
        assert not analysed.has_errors, [diagnostic.message for diagnostic in analysed.diagnostics]
        *_, op = analysed.module.ops.values()
        types = {name: _type(value) for name, value in inputs.items()}
        bound = bind(op, types, parameters, sizes)
        arrays = {
            name: np.array(value, numpy_dtype(bound.program.tensors[name].dtype)).reshape(bound.shape(name))
            for name, value in inputs.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return evaluate(bound.program, arrays, bound.sizes)

    return run


def _type(value: Any) -> ArrayType:
    if isinstance(value, (np.ndarray, np.generic)):
        return ArrayType(dtype_of(value.dtype), value.shape)
    return ArrayType(None, np.shape(value))
