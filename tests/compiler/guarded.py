"""Arrays between pages that nothing may touch: code that leaves an array by a byte ends the process."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

PAGE = mmap.PAGESIZE


class Guarded:
    """Arrays between pages without access."""

    def __init__(self) -> None:
        self._maps: list[mmap.mmap] = []
        self._libc = ctypes.CDLL(None, use_errno=True)

    def place(self, array: np.ndarray, *, at_end: bool, alignment: int = 1) -> np.ndarray:
        """A copy whose last (or first) byte is next to a guard page, or as near as its alignment allows."""
        pages = -(-max(array.nbytes, 1) // PAGE)
        memory = mmap.mmap(-1, (pages + 2) * PAGE)
        self._maps.append(memory)
        bytes_ = np.frombuffer(memory, np.uint8)
        start = PAGE + ((pages * PAGE - array.nbytes) // alignment * alignment if at_end else 0)
        result = bytes_[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        result[...] = array
        for guard in (bytes_.ctypes.data, bytes_.ctypes.data + (pages + 1) * PAGE):
            assert self._libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(PAGE), 0) == 0
        return result
