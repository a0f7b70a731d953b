"""Element types and NumPy's: `f32` is `float32`, `bf16` is `ml_dtypes.bfloat16`.

Only what runs a program needs NumPy, and only bf16 needs ml_dtypes, which is loaded when it is first met.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from tdl.language.dtypes import BF16, DTYPES, DType, Type

Array = npt.NDArray[Any]

_NAMES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u64": "uint64",
    "u32": "uint32",
    "u16": "uint16",
    "u8": "uint8",
    "bool": "bool",
}
_DTYPES = {numpy_name: DTYPES[name] for name, numpy_name in _NAMES.items()} | {"bfloat16": BF16}


@cache
def numpy_dtype(dtype: Type) -> np.dtype[Any]:
    """NumPy's dtype of an element type, in native byte order."""
    if dtype == BF16:
        import ml_dtypes

        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    found: np.dtype[Any] = np.dtype(_NAMES[dtype.name])
    return found


def dtype_of(dtype: np.dtype[Any]) -> DType | None:
    """The element type of NumPy's dtype; None for one that the language does not have, as complex."""
    return _DTYPES.get(dtype.name) if dtype.isnative else None
