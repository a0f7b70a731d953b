"""bf16 arrays that others share by DLPack, which NumPy itself does not read.

Only what the protocol says is relied on: a capsule named `dltensor` holds a DLManagedTensor, which whoever takes it
renames and later gives back by calling its deleter. Everything else is NumPy's `from_dlpack`.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

_CPU, _BFLOAT = 1, 4


class _Tensor(ctypes.Structure):
    """DLTensor, then the two pointers that make it a DLManagedTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def from_dlpack(value: Any) -> np.ndarray[Any, Any]:
    """The array that an object shares. Raises BufferError, TypeError or RuntimeError for one not of the CPU."""
    try:
        shared: np.ndarray[Any, Any] = np.from_dlpack(value)
    except (BufferError, TypeError, RuntimeError) as error:
        return _bf16(value, error)
    return shared


def _bf16(value: Any, refusal: Exception) -> np.ndarray[Any, Any]:
    """A view of shared bf16 elements, which keeps them alive; `refusal` is raised for anything else."""
    if value.__dlpack_device__()[0] != _CPU:
        raise refusal
    capsule = value.__dlpack__()
    pointer = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    address = pointer(capsule, b"dltensor")
    tensor = _Tensor.from_address(address)
    if (tensor.code, tensor.bits, tensor.lanes) != (_BFLOAT, 16, 1):
        raise refusal  # the capsule gives the tensor back itself
    _function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(capsule, b"used_dltensor")
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    memory, start = _memory(tensor, shape)
    if tensor.deleter:
        release = weakref.finalize(memory, ctypes.CFUNCTYPE(None, ctypes.c_void_p)(tensor.deleter), address)
        release.atexit = False  # by then, whoever shared it may be gone
    from ml_dtypes import bfloat16

    strides = None if not tensor.strides else tuple(2 * tensor.strides[axis] for axis in range(tensor.ndim))
    view: np.ndarray[Any, Any] = np.ndarray(shape, np.dtype(bfloat16), memoryview(memory), start, strides)
    return view


def _memory(tensor: _Tensor, shape: tuple[int, ...]) -> tuple[ctypes.Array[ctypes.c_char], int]:
    """The bytes that the elements lie in, and where in them the first one is."""
    first = (tensor.data or 0) + tensor.byte_offset
    if 0 in shape or not tensor.data:
        return (ctypes.c_char * 1)(), 0
    strides = [tensor.strides[axis] for axis in range(tensor.ndim)] if tensor.strides else _dense(shape)
    reach = [2 * stride * (size - 1) for stride, size in zip(strides, shape)]
    below = -sum(each for each in reach if each < 0)
    above = sum(each for each in reach if each > 0)
    return (ctypes.c_char * (below + above + 2)).from_address(first - below), below


def _dense(shape: tuple[int, ...]) -> list[int]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.insert(0, strides[0] * size)
    return strides


def _function(name: str, result: Any, *args: Any) -> Any:
    return ctypes.PYFUNCTYPE(result, *args)((name, ctypes.pythonapi))
