"""What callers of a packed op give: an input in the order of its buffer's layout."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.schedule.tree import Nest
from tdl.language.arrays import Array
from tdl.language.forms import Symbol, constant, evaluate, substitute


def packed_inputs(
    nest: Nest, kernel: Kernel, inputs: Mapping[str, Array], sizes: Mapping[Symbol, int]
) -> dict[str, Array]:
    """The inputs, of which some are given packed."""
    return {
        name: _packed(array, nest, kernel, name, sizes) if name in nest.packed else array
        for name, array in inputs.items()
    }


def _packed(array: Array, nest: Nest, kernel: Kernel, name: str, sizes: Mapping[Symbol, int]) -> Array:
    """An element at a time, by the layout as it is written: nothing here is how the compiler packs."""
    shape = tuple(max(0, evaluate(factor, sizes)) for factor in kernel.buffers[name].factors)
    made = np.full(shape, nest.packed[name], array.dtype)
    for element in np.ndindex(*array.shape):
        axes = {Symbol(str(axis), "index"): constant(at) for axis, at in enumerate(element)}
        made[tuple(substitute(form, axes).constant for form in nest.buffers[name].layout or ())] = array[element]
    return made
