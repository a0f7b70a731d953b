"""From a scheduled nest to a kernel that a back-end takes as it is: the table of contents of lowering.

A pass is a pure function in a file of its own. Their order is not free; each says here why it stands where it does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tdl.compiler.kernel.tree import Invoke, Kernel, Loop
from tdl.compiler.kernel.walk import walk
from tdl.compiler.lower.arenas import place_arenas
from tdl.compiler.lower.build import build_kernel
from tdl.compiler.lower.copies import vectorize_copies
from tdl.compiler.lower.double import double_buffers
from tdl.compiler.lower.hoist import hoist_guards
from tdl.compiler.lower.partition import partition_loops
from tdl.compiler.lower.rest import keep_rest_in_memory
from tdl.compiler.lower.simplify import simplify
from tdl.compiler.lower.unroll import unroll_loops
from tdl.compiler.lower.vectors import vectorize_loops
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.single import drop_single_iterations
from tdl.compiler.schedule.tree import Nest

Pass = Callable[[Kernel], Kernel]

PASSES: tuple[Pass, ...] = (
    # Ranges and conditions are as the schedule's lines left them; everything below asks what they are.
    simplify,
    # While what fills a buffer is one node of the body that uses it; all that follows then sees both.
    double_buffers,
    # What a loop does is then seen without conditions; and those beside loops cost nothing, and need no cut.
    hoist_guards,
    # Before loops are cut, since a vector loop never is.
    vectorize_copies,
    # While loops are still what the schedule says: a cut is made once, not in each copy.
    partition_loops,
    # Once it is seen which tiles are full, and before the others would be copied.
    keep_rest_in_memory,
    # Copies before vectors: in a copy, a loop's counter is a number, and so is how many lanes its last vector has.
    unroll_loops,
    vectorize_loops,
    # A vector that was longer than the machine's became a short loop over several.
    unroll_loops,
    # Last, as bodies are no longer copied or dropped.
    place_arenas,
)


def lower(nest: Nest, after: Callable[[str, Kernel], None] | None = None) -> Kernel:
    """The kernel of a nest. `after` is told of each pass, by its name in `pass_names`, and the kernel that it made."""
    nest = drop_single_iterations(nest)  # first: what is innermost is then seen by all that follows
    kernel = build_kernel(with_initialisations(nest))
    kernel = replace(kernel, is_final=_is_scheduled(kernel))
    first, *names = pass_names()
    if after is not None:
        after(first, kernel)
    for name, each in zip(names, PASSES, strict=True):
        kernel = each(kernel)
        if after is not None:
            after(name, kernel)
    return kernel


def pass_names() -> tuple[str, ...]:
    """What the passes are called: as their functions, a second time with a number."""
    names: list[str] = [build_kernel.__name__]
    for each in PASSES:
        before = sum(name.partition(".")[0] == each.__name__ for name in names)
        names.append(f"{each.__name__}.{before + 1}" if before else each.__name__)
    return tuple(names)


def _is_scheduled(kernel: Kernel) -> bool:
    """Whether somebody decided about vectors or unrolling, so that LLVM shall not."""
    return any(
        isinstance(node, Invoke) or (isinstance(node, Loop) and node.kind in ("vector", "unrolled"))
        for node in walk(kernel.body)
    )
