"""Random inputs."""

import numpy as np
import pytest
from tdl.language import forms
from tdl.language.arrays import dtype_of, numpy_dtype
from tdl.language.dtypes import BOOL, DTYPES, F32, I32
from tdl.language.forms import Symbol
from tdl.language.samples import random_array, random_inputs
from tdl.language.tree import Program, Tensor


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_every_type_has_random_values(dtype):
    values = random_array("X", dtype, (50, 40))
    assert (values.shape, values.dtype) == ((50, 40), numpy_dtype(dtype))
    if dtype.is_float:
        assert abs(float(values.astype(float).mean())) < 0.1
        assert abs(float(values.astype(float).std()) - 1) < 0.1
    else:
        low = -9 if dtype.kind == "signed" else 0
        wanted = {False, True} if dtype == BOOL else set(range(low, 10))
        assert set(values.ravel().tolist()) == wanted


def test_values_depend_on_seed_name_and_shape_only():
    assert (random_array("X", F32, (5,)) == random_array("X", F32, (5,))).all()
    assert (random_array("X", F32, (5,)) != random_array("W", F32, (5,))).all()
    assert (random_array("X", F32, (5,)) != random_array("X", F32, (5,), seed=1)).all()


def test_given_inputs_are_kept_and_the_rest_have_the_declared_shapes():
    N = Symbol("N", "dim")
    tensors = {name: Tensor(name, "input", dtype, (forms.symbol(N) * 2,)) for name, dtype in (("X", F32), ("I", I32))}
    program = Program("op", {}, (N,), {}, tensors, ("X", "I"), (), (), (), ())
    given = np.zeros(6, np.float32)
    inputs = random_inputs(program, {N: 3}, {"X": given})
    assert list(inputs) == ["X", "I"]
    assert inputs["X"] is given
    assert (inputs["I"].shape, inputs["I"].dtype) == ((6,), np.int32)


def test_types_go_to_numpy_and_back():
    for dtype in DTYPES.values():
        assert dtype_of(numpy_dtype(dtype)) == dtype
    for foreign in ("complex64", ">f4", "U3", "datetime64[s]"):
        assert dtype_of(np.dtype(foreign)) is None
