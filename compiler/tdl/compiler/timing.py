"""How long an op takes from text to machine code, by the phases and passes that it goes through.

    parse          1.9 ms
    check          6.0
    schedule      22.1
    simplify       2.8
    ...

Nothing is taken from the cache. What the language keeps of a file that it saw before costs nothing, so the first
compilation of a process is the one to be timed.
"""

from __future__ import annotations

import time

from tdl.compiler.clock import Clock
from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.kernel.verify import verify
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.schedule.tree import Nest
from tdl.compiler.steps import steps_of
from tdl.language.analysis import analyse
from tdl.language.source import Source

_SMALL = """op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }
schedule f { split Y.i by 8 -> io, ii }
"""


def load_everything() -> None:
    """Load what a compilation needs, so that this is not timed as part of the first pass that uses it."""
    import islpy  # noqa: F401

    analysis = analyse(Source("<timing>", _SMALL))
    declarations = [entry.declaration for entry in analysis.module.entries]
    time_code(steps_of(declarations[0], declarations[1:]).nest(), Clock())


def time_code(nest: Nest, clock: Clock, *, verified: bool = False) -> None:
    """Make machine code of a nest, and note how long each pass takes; verifying is a phase of its own."""
    from tdl.compiler.backends.llvm.kernel import kernel_text
    from tdl.compiler.backends.llvm.target import host, machine, optimise, parse

    target_machine = machine(host())  # LLVM is loaded before anything is timed
    verifying = 0.0
    last = time.perf_counter()

    def note(name: str, kernel: Kernel) -> None:
        nonlocal last, verifying
        now = time.perf_counter()
        clock.laps.append((name, now - last))
        if verified:
            verify(kernel)
        last = time.perf_counter()
        verifying += last - now

    kernel = lower(nest, note)
    if verified:
        clock.laps.append(("verify", verifying))
    with clock.lap("LLVM text"):
        text = kernel_text(kernel, host())
    with clock.lap("LLVM parse"):
        module = parse(text.ir, target_machine)
    with clock.lap("LLVM optimise"):
        optimise(module, target_machine, is_final=kernel.is_final)
    with clock.lap("LLVM codegen"):
        target_machine.emit_object(module)
