"""How large a buffer is at most."""

from __future__ import annotations

from collections.abc import Sequence

from tdl.compiler.schedule.bounds import greatest_value
from tdl.language.dtypes import DType, Type
from tdl.language.forms import Form


def constant_bytes(extents: Sequence[Form], dtype: Type) -> int | None:
    """The bytes of a box, if numbers bound its extents."""
    total = dtype.bytes if isinstance(dtype, DType) else 8
    for extent in extents:
        most = greatest_value(extent)
        if most is None:
            return None
        total *= max(most, 0)
    return total
