"""How large a buffer is at most."""

from __future__ import annotations

from collections.abc import Sequence

from tdl.compiler.schedule.bounds import greatest_value
from tdl.compiler.schedule.extremes import eliminated
from tdl.language.dtypes import DType, Type
from tdl.language.forms import Form
from tdl.language.inequalities import Facts, facts_of
from tdl.language.tree import Binder

_NOTHING = facts_of(())


def constant_bytes(
    extents: Sequence[Form], dtype: Type, around: Sequence[Binder] = (), facts: Facts = _NOTHING
) -> int | None:
    """The bytes of a box, if numbers bound its extents wherever the indices of the loops `around` are."""
    total = dtype.bytes if isinstance(dtype, DType) else 8
    for extent in extents:
        most = _greatest(extent, around, facts)
        if most is None:
            return None
        total *= max(most, 0)
    return total


def _greatest(extent: Form, around: Sequence[Binder], facts: Facts) -> int | None:
    most = greatest_value(extent)
    whole: Form | None = extent
    for binder in reversed(around):
        if most is not None or whole is None:
            break
        if whole.mentions(binder.index):
            whole = eliminated(whole, binder, "greatest", facts)
            most = None if whole is None else greatest_value(whole)
    return most
