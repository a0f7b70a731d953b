"""Runs of an accepted schedule: its nest in several orders, its kernel, and now and then the compiled code.

Each gives the reference evaluator's result, to the bit where a sum may be in any order. The kernel is well formed
after every pass. Compiled code has its arrays next to pages that nothing may touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from tdl.compiler.kernel.evaluate import evaluate_kernel
from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.kernel.verify import verify
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.runtime.compile import compile_nest
from tdl.compiler.runtime.entry import Entry
from tdl.compiler.schedule.evaluate import evaluate_nest
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Nest
from tdl.compiler.schedule.walk import loops_of
from tdl.language.arrays import Array, dtype_of, numpy_dtype
from tdl.language.binding import ArrayType, bind
from tdl.language.comparing import EXACT, first_difference, magnitude_of, tolerances
from tdl.language.diagnostic import InternalError
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure
from tdl.language.tree import Program

from tests.compiler.guarded import Guarded
from tests.compiler.schedule.generated.cases import Sizes, Subject, symbols
from tests.compiler.schedule.generated.packing import packed_inputs
from tests.compiler.schedule.generated.tracing import Trace, backwards, shuffled

Outputs = Mapping[str, Array]


class Wrong(Exception):
    """What is wrong with a run, its kind before a colon."""


@dataclass(frozen=True)
class Scheduled:
    """A nest to run, the program that it must agree with, and whether to run compiled code as well."""

    subject: Subject
    program: Program
    nest: Nest
    with_code: bool = False

    def check(self, every: tuple[Sizes, ...]) -> None:
        """Raises Wrong for the first thing found at some sizes."""
        kernel = self._kernel()
        compiled = self._compiled() if self.with_code else None
        for number, sizes in enumerate(every):
            with _told(f"at {sizes}", ""):
                inputs, values = self.subject.inputs(sizes), symbols(sizes)
                try:
                    wanted = evaluate(self.program, inputs, values)
                except Failure:
                    continue  # unsaid is which failure comes first
                for trace in _orders(self.nest, is_first=number == 0):
                    with _told("nest", trace.name):
                        self._equal(evaluate_nest(self.nest, inputs, values, trace), wanted, sizes)
                        _no_clash(trace)
                with _told("kernel", ""):
                    given = packed_inputs(self.nest, kernel, inputs, values)
                    found = evaluate_kernel(kernel, given, values, is_backwards=bool(number % 2))
                    self._equal(found, wanted, sizes)
                if compiled is not None:
                    with _told("code", ""):
                        self._equal(compiled(given, sizes), wanted, sizes)

    def _kernel(self) -> Kernel:
        done = ["build"]

        def after(name: str, kernel: Kernel) -> None:
            done[0] = name
            verify(kernel)

        with _told("lowering", lambda: f"after {done[0]}"):
            return lower(self.nest, after)

    def _compiled(self) -> Callable[[Outputs, Sizes], Outputs]:
        with _told("compiling", ""):
            kernel = compile_nest(self.nest)

        def run(inputs: Outputs, sizes: Sizes) -> Outputs:
            plain = self.subject.inputs(sizes)
            types = {name: ArrayType(dtype_of(array.dtype), array.shape) for name, array in plain.items()}
            bound = bind(self.subject.op, types, {})
            tensors = self.program.tensors
            outputs = {
                name: np.zeros(bound.output_shapes[name], numpy_dtype(tensors[name].dtype))
                for name in self.program.outputs
            }
            guarded, at_end = Guarded(), bool(sum(sizes.values()) % 2)
            given = [
                guarded.place(
                    np.ascontiguousarray(array), at_end=at_end, alignment=ALIGNMENT if name in self.nest.packed else 1
                )
                for name, array in inputs.items()
            ]
            made = {name: guarded.place(array, at_end=at_end) for name, array in outputs.items()}
            Entry(kernel, bound).call(given, list(made.values()))
            return {name: array.copy() for name, array in made.items()}

        return run

    def _equal(self, found: Outputs, wanted: Outputs, sizes: Sizes) -> None:
        allowed = {} if self.subject.case.op.is_exact else tolerances(self.program, symbols(sizes))
        size = magnitude_of(self.subject.inputs(sizes)) if allowed else 1.0
        for name, array in wanted.items():
            difference = first_difference(name, np.asarray(found[name]), array, allowed.get(name, EXACT), size)
            if difference is not None:
                raise Wrong(f"wrong result: {difference}")


@contextmanager
def _told(what: str, detail: str | Callable[[], str]) -> Iterator[None]:
    """Everything raised within the block as what is wrong with a part of the compiler."""
    try:
        yield
    except Wrong as wrong:
        raise Wrong(f"{wrong} ({what})" if what.startswith("at") else f"{what} {wrong}") from wrong.__cause__
    except Exception as error:
        kind = "wrong" if isinstance(error, InternalError) else f"raises {type(error).__name__}"
        more = detail if isinstance(detail, str) else detail()
        message = error.message if isinstance(error, Refusal) else error
        raise Wrong(f"{what} {kind}: {message}{f' ({more})' if more else ''}") from error


def _no_clash(trace: Trace) -> None:
    if trace.clashes:
        clash = trace.clashes[0]
        both = f"iterations {clash.first} and {clash.second} of {clash.loop}"
        raise Wrong(f"race accepted: {both} touch one place of {clash.tensor}")


def _orders(nest: Nest, *, is_first: bool) -> Iterator[Any]:
    """The nest in order, watched; and, where some loops have no order, at the first sizes in others."""
    loops = list(loops_of(nest.body))
    free = {loop.symbol for loop in loops if loop.kind in ("parallel", "vector")}
    vectors = {loop.symbol for loop in loops if loop.kind == "vector"}
    yield Trace(nest, free, vectors, name="in order")
    if free and is_first:
        yield Trace(nest, moved=free, arrange=backwards, name="backwards")
        yield Trace(nest, moved=free, arrange=shuffled(Random(len(loops))), name="at random")
