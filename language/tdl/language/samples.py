"""Random inputs, as tests, benches and runs without data take them.

Floats are normal, integers from -9 to 9 or what of that their type holds, bools even. The values depend only on the
seed, the input's name and its shape, so adding an input to an op changes no other.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np
from tdl.language import forms
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.dtypes import DType, Type
from tdl.language.forms import Symbol
from tdl.language.tree import Program

_REACH = 9


def random_array(name: str, dtype: Type, shape: tuple[int, ...], seed: int = 0) -> Array:
    """The random values of the input `name`."""
    assert isinstance(dtype, DType)
    generator = np.random.default_rng([seed, crc32(name.encode()), *shape])
    if dtype.is_float:
        return generator.standard_normal(shape).astype(numpy_dtype(dtype))
    low, high = (0, 1) if dtype.kind == "bool" else (max(-_REACH, dtype.least), _REACH)
    return generator.integers(low, high, shape, endpoint=True).astype(numpy_dtype(dtype))


def random_inputs(
    program: Program, sizes: Mapping[Symbol, int], given: Mapping[str, Array] | None = None, seed: int = 0
) -> dict[str, Array]:
    """All inputs of a concrete program in order: those given, and random ones for the rest."""
    given = given or {}
    return {
        name: given[name] if name in given else _random_input(program, sizes, name, seed) for name in program.inputs
    }


def _random_input(program: Program, sizes: Mapping[Symbol, int], name: str, seed: int) -> Array:
    tensor = program.tensors[name]
    shape = tuple(forms.evaluate(size, sizes) for size in tensor.shape)
    return random_array(name, tensor.dtype, shape, seed)
