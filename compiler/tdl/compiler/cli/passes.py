"""The passes that an op goes through, for `tdlc show`: the kernel after one, what each costs, whether each is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tdl.compiler.cli.fault import Fault
from tdl.language.frame import Fragment, Line

if TYPE_CHECKING:
    from tdl.compiler.kernel.tree import Kernel
    from tdl.compiler.schedule.tree import Nest
    from tdl.compiler.steps import Steps

_BAR = 24
"""Characters that the longest time is drawn in."""


def require_pass(name: str) -> None:
    """End the command where there is no such pass."""
    from tdl.compiler.lower.pipeline import pass_names

    if name not in pass_names():
        raise Fault(f"there is no pass `{name}`", f"the passes are {', '.join(pass_names())}")


def kernel_after(nest: Nest, name: str) -> str:
    """The kernel after a pass, as text."""
    from tdl.compiler.kernel.printing import print_kernel
    from tdl.compiler.lower.pipeline import lower

    found: dict[str, Kernel] = {}
    lower(nest, found.__setitem__)
    return print_kernel(found[name])


def verify_all(made: Steps, *, to_code: bool) -> None:
    """Check the nest after each line and, for an op that can become code, the kernel after each pass.

    Raises InternalError at the first that is not as it must be.
    """
    from tdl.compiler.kernel import verify as kernels
    from tdl.compiler.lower.pipeline import lower
    from tdl.compiler.schedule import verify as nests

    def checked(_: str, kernel: Kernel) -> None:
        kernels.verify(kernel)

    for step in made.steps:
        nests.verify(step.nest)
    if to_code:
        lower(made.nest(), checked)


def timing_lines(laps: Iterable[tuple[str, float]]) -> Iterator[Line]:
    """A table: the pass, its milliseconds, its share, and that as a bar."""
    kept = list(laps)
    total = sum(seconds for _, seconds in kept)
    longest = max(seconds for _, seconds in kept)
    width = max(len(name) for name, _ in kept)
    for name, seconds in kept:
        bar = "█" * round(_BAR * seconds / longest)
        share = f"{100 * seconds / total:5.1f}%"
        yield (Fragment(f"{name:<{width}}"), Fragment(f"{1e3 * seconds:9.2f} ms  {share}  "), Fragment(bar, "place"))
    yield (Fragment(f"{'all':<{width}}", "place"), Fragment(f"{1e3 * total:9.2f} ms"))
