"""From a scheduled nest to a kernel that a back-end takes as it is: the table of contents of lowering.

A pass is a pure function in a file of its own. Their order is not free; each says here why it stands where it does.
"""

from __future__ import annotations

from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.lower.arenas import place_arenas
from tdl.compiler.lower.build import build_kernel
from tdl.compiler.lower.simplify import simplify
from tdl.compiler.lower.single import drop_single_iterations
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.tree import Nest


def lower(nest: Nest) -> Kernel:
    nest = drop_single_iterations(nest)  # first: what is innermost is then seen by all that follows
    nest = with_initialisations(nest)
    kernel = build_kernel(nest)
    kernel = simplify(kernel)
    return place_arenas(kernel)
