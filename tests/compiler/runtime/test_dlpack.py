"""bf16 shared by DLPack: read where it lies, kept alive while it is used, and given back once."""

from __future__ import annotations

import ctypes
import gc

import ml_dtypes
import numpy as np
import pytest
from tdl.compiler.runtime.dlpack import _Tensor, from_dlpack


class Producer:
    """Shares a bf16 array as a library does that NumPy cannot read."""

    def __init__(self, array: np.ndarray, *, device: int = 1, code: int = 4, dense: bool = False) -> None:
        self.array, self.device, self.code, self.dense = array, device, code, dense
        self.given_back = 0
        self._kept: list[object] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **_: object) -> object:
        array = self.array
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(stride // 2 for stride in array.strides))
        deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._deleted)
        tensor = _Tensor(
            array.ctypes.data, self.device, 0, array.ndim, self.code, 16, 1,
            ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64)),
            None if self.dense else ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64)),
            0, None, ctypes.cast(deleter, ctypes.c_void_p),
        )  # fmt: skip
        self._kept += [shape, strides, deleter, tensor]
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return make(("PyCapsule_New", ctypes.pythonapi))(ctypes.addressof(tensor), b"dltensor", None)

    def _deleted(self, _: object) -> None:
        self.given_back += 1


DATA = np.arange(24, dtype=np.float32).astype(ml_dtypes.bfloat16).reshape(4, 6)


@pytest.mark.parametrize(
    "array",
    [DATA, DATA[::2, 1:], DATA[::-1, ::-2], DATA.T, DATA[:0], DATA[0, 0, ...]],
    ids=lambda array: str(array.shape),
)
def test_any_strides(array):
    producer = Producer(array)
    found = from_dlpack(producer)
    assert found.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(found.astype(np.float32), array.astype(np.float32))
    view = found[..., None]
    del found
    gc.collect()
    assert producer.given_back == 0
    del view
    gc.collect()
    assert producer.given_back == 1


def test_no_strides_are_dense_ones():
    found = from_dlpack(Producer(DATA, dense=True))
    np.testing.assert_array_equal(found.astype(np.float32), DATA.astype(np.float32))


def test_as_an_argument(load_text):
    f = load_text("op f(x: bf16[M, N]) -> y: bf16[M, N] { y[i, j] = 2*x[i, j] }").f
    producer = Producer(DATA)
    np.testing.assert_array_equal(f(producer).astype(np.float32), 2 * DATA.astype(np.float32))
    gc.collect()
    assert producer.given_back == 1


def test_what_else_numpy_cannot_read_is_refused(load_text):
    f = load_text("op f(x: bf16[M, N]) -> y: bf16[M, N] { y[i, j] = 2*x[i, j] }").f
    for producer in (Producer(DATA, device=2), Producer(DATA, code=9)):
        with pytest.raises(TypeError, match="f: x cannot be read as an array"):
            f(producer)
        assert producer.given_back == 0
