"""A file of C: what it includes, the helpers that it uses, the functions."""

from __future__ import annotations

from tdl.compiler.backends.c.block import Line
from tdl.compiler.backends.c.context import Unit
from tdl.compiler.backends.c.kernel import write_kernel
from tdl.compiler.backends.c.support import HEADERS, RUN, support_for
from tdl.compiler.kernel.tree import Kernel, Origin


def file_lines(unit: Unit, head: str = "") -> list[Line]:
    """The whole file, line by line."""
    parts = [head, HEADERS, RUN, support_for(unit.helpers)]
    before = [Line(text, Origin()) for part in parts if part for text in (*part.splitlines(), "")]
    return [*before, *unit.functions]


def kernel_lines(kernel: Kernel) -> list[Line]:
    """A file with one kernel, line by line, each with what it came from."""
    unit = Unit()
    write_kernel(unit, kernel, kernel.program.name, linkage="")
    return file_lines(unit)


def kernel_text(kernel: Kernel) -> str:
    """A file with one kernel: a function of its name, and one with `_workspace` behind it."""
    return "".join(f"{line.text}\n" for line in kernel_lines(kernel))
