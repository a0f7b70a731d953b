"""Whether this interpreter and this NumPy lay out objects as `table.py` says. Looked at once, on real arrays."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np
from tdl.compiler.runtime import table


@cache
def is_known_layout() -> bool:
    """Whether arrays can be read at the offsets of `table.py`; if not, calls take the checked path."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or object.__basicsize__ != 16:
        return False
    read_only = np.zeros((2, 3), np.int16)
    read_only.flags.writeable = False
    samples: tuple[np.ndarray[Any, Any], ...] = (
        np.zeros((4, 5, 6), np.float32),
        np.zeros((4, 6), np.uint8)[:, ::2],
        read_only,
        np.zeros(()),
        np.zeros(0),
    )
    return np.ndarray.__basicsize__ >= 72 and all(_is_as_expected(sample) for sample in samples)


def _is_as_expected(array: np.ndarray[Any, Any]) -> bool:
    base = id(array)
    flags = 0x0001 * array.flags.c_contiguous | 0x0100 * array.flags.aligned | 0x0400 * array.flags.writeable
    shape_at = _word(base + table.SHAPE_AT)
    return (
        _word(base + table.TYPE_AT) == id(np.ndarray)
        and _word(base + table.DATA_AT) == array.ctypes.data
        and ctypes.c_int32.from_address(base + table.RANK_AT).value == array.ndim
        and _word(base + table.DTYPE_AT) == id(array.dtype)
        and ctypes.c_int32.from_address(base + table.FLAGS_AT).value & table.WRITABLE == flags
        and all(_word(shape_at + 8 * axis) == size for axis, size in enumerate(array.shape))
    )


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value
