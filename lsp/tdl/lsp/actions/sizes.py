"""Numbers that make sense for a loop: its extent at tests and benches, tiles of it, lanes of its elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdl.lsp.actions.subject import Subject
from tdl.lsp.completion.factors import extent_at

if TYPE_CHECKING:
    from tdl.compiler.schedule.tree import Loop

_FACTORS = (16, 32, 8, 64, 4)
_VECTOR = 64
"""Bytes."""


def extents(subject: Subject, loop: Loop) -> dict[str, int]:
    """How often a loop runs, by test and bench; without any, at most, where that is bounded."""
    from tdl.compiler.schedule.bounds import greatest_extent

    name = subject.name(loop)
    found = {case.name: extent_at(subject.schedule, case, name) for case in subject.cases}
    most = greatest_extent(loop)
    return {case: extent for case, extent in found.items() if extent} or ({} if most is None else {"": most})


def sensible_factor(extents: dict[str, int]) -> int:
    """A size of tiles: one that divides if there is one, else one that is less than the extent."""
    sizes = extents.values()
    dividing = [factor for factor in _FACTORS if all(size % factor == 0 and size > factor for size in sizes)]
    lesser = [factor for factor in _FACTORS if all(size > factor for size in sizes)]
    return (*dividing, *lesser, _FACTORS[0] if not sizes else 2)[0]


def lanes(subject: Subject, loop: Loop) -> int:
    """How many elements of what a loop writes a vector holds."""
    from tdl.compiler.schedule.walk import leaves_of
    from tdl.language.dtypes import DType

    nest = subject.nests[-1]
    written = [target.tensor for _, leaf in leaves_of((loop,)) for target in nest.stages[leaf.stage].writes]
    dtype = nest.tensors[written[0]].dtype if written else None
    return _VECTOR // dtype.bytes if isinstance(dtype, DType) else _VECTOR // 4
