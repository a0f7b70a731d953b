"""What a loop's body will touch some iterations on: which elements to ask for, one in each cache line.

    prefetch B at k ahead 2        B[k, 0..64]      ->      B[k + 2, 0], B[k + 2, 16], B[k + 2, 32], B[k + 2, 48]

The box of what is touched, its corner moved on, is as large as it ever is. Elements past the end of the tensor may be
among those asked for: a prefetch never fails.
"""

from __future__ import annotations

from itertools import product

from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.compiler.schedule.regions import Region, region, show_box, touching
from tdl.compiler.schedule.sizes import constant_bytes
from tdl.compiler.schedule.tree import Hint, Nest
from tdl.compiler.schedule.walk import binders_of, loops_of, path_to
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.forms import Form
from tdl.language.witness import size_facts

LINE_BYTES = 64
MOST = 64
"""Lines that one iteration may ask for; to ask costs as much as to load."""

Coordinates = tuple[Form, ...]


def lines_ahead(nest: Nest, hint: Hint) -> list[Coordinates]:
    """The elements to ask for, in the counters of the loops around. Raises Refusal where there are too many."""
    assert hint.loop is not None
    path = path_to(nest.body, hint.loop)
    loop, tensor = path[-1], hint.tensor
    accesses = touching(nest, loop, [tensor])
    if not accesses:
        raise Refusal("schedule", f"with the lines after it, the body of `{loop.name}` touches no `{tensor}`")
    buffer = nest.buffers[tensor]
    if buffer.at is not None and buffer.at in {each.symbol for each in loops_of((loop,))}:
        raise Refusal("schedule", f"`{tensor}` is kept for one iteration of `{buffer.at}`: there is none of it ahead")
    if buffer.memory == "register":
        raise Refusal("schedule", f"`{tensor}` is in registers")
    box = region(nest, tensor, accesses, path)
    steps = _steps(nest, hint, box)
    corner = [forms.substitute(lo, {loop.symbol: forms.symbol(loop.symbol) + hint.ahead}) for lo in box.lo]
    if any(not form.is_affine for form in corner):
        raise Refusal("schedule", f"where `{tensor}` is touched depends on data, or on a division")
    return [tuple(lo + step for lo, step in zip(corner, each)) for each in product(*steps)]


def _steps(nest: Nest, hint: Hint, box: Region) -> list[list[int]]:
    """For each axis of the box, how far from its corner elements are asked for."""
    path = path_to(nest.body, hint.loop) if hint.loop is not None else ()
    dtype, buffer = nest.tensors[hint.tensor].dtype, nest.buffers[hint.tensor]
    element = dtype.bytes if isinstance(dtype, DType) else 8
    steps: list[list[int]] = []
    count = 1
    for axis, extent in enumerate(box.extents):
        bytes_ = constant_bytes((extent,), dtype, binders_of(path), size_facts(nest.program))
        if bytes_ is None:
            message = f"no number bounds what the body of `{path[-1].name}` touches of `{hint.tensor}`"
            raise NeedsSize(message, f"it is {show_box(hint.tensor, box)}")
        is_row = axis == len(box.extents) - 1 and buffer.layout is None
        steps.append(list(range(0, bytes_ // element, LINE_BYTES // element if is_row else 1)))
        count *= len(steps[-1])
        if count > MOST:
            message = f"the body of `{path[-1].name}` touches more than {MOST} cache lines of `{hint.tensor}`"
            raise Refusal("schedule", message, f"it is {show_box(hint.tensor, box)}", "a loop further inside has less")
    return steps
