"""Trying a `test`: compiled code against the reference evaluator, and both against what the test expects.

It prints nothing and decides nothing about exit codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from tdl.compiler.runtime.module import Module
from tdl.compiler.runtime.op import Op
from tdl.compiler.runtime.scheduled import ScheduleError
from tdl.compiler.schedule.choose import schedules_of
from tdl.language.analysis import Analysis
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.cases import Case
from tdl.language.comparing import Difference, first_difference, magnitude_of, tolerances
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure
from tdl.language.samples import random_inputs
from tdl.language.scope import Declaration


@dataclass(frozen=True)
class Verdict:
    """`failure` says what went wrong in words; `difference` is the element that shows it. Neither where all is well."""

    failure: str | None = None
    difference: Difference | None = None

    @property
    def is_good(self) -> bool:
        return self.failure is None


def try_case(case: Case, seed: int = 0, schedules: Sequence[Declaration] = ()) -> Verdict:
    """Run a test both ways on the same inputs, and compare. Of the schedules, those of its op hold."""
    bound = case.bound
    given = {name: _array(value, case, name) for name, value in case.given.items()}
    inputs = random_inputs(bound.program, bound.sizes, given, seed)
    try:
        wanted = evaluate(bound.program, inputs, bound.sizes)
        found = run_compiled(case, inputs, schedules)
    except (Failure, ScheduleError) as failure:
        return Verdict(str(failure))
    expected = {name: _array(value, case, name) for name, value in case.expect.items()}
    return (
        _compare(case, inputs, wanted, expected, "the reference evaluator does not give what is expected")
        or _compare(case, inputs, found, wanted, "compiled code does not give what the reference evaluator gives")
        or Verdict()
    )


def run_compiled(case: Case, inputs: Mapping[str, Array], schedules: Sequence[Declaration] = ()) -> dict[str, Array]:
    """The outputs of the compiled op by name."""
    program = case.bound.program
    parameters = {name: value for name, value in program.parameters.items() if value is not None}
    result = Op(case.op, schedules_of(case.op, schedules))(*(inputs[name] for name in program.inputs), **parameters)
    results = result if len(program.outputs) > 1 else (result,)
    return {name: np.asarray(each) for name, each in zip(program.outputs, results)}


def compiled_call(analysis: Analysis, case: Case, inputs: Mapping[str, Array]) -> Callable[[], object]:
    """A call of the compiled op, under its schedule, that writes into arrays of its own.

    What the schedule takes packed was packed before.
    """
    module = Module(analysis)
    op = next(module[name] for name in module if module[name].declaration == case.op)
    program = case.bound.program
    parameters = {name: value for name, value in program.parameters.items() if value is not None}
    args = op.prepack(*(inputs[name] for name in program.inputs), **parameters)
    out = tuple(
        np.empty(case.bound.output_shapes[name], numpy_dtype(program.tensors[name].dtype)) for name in program.outputs
    )
    target = out if len(out) > 1 else out[0]
    op(*args, out=target, **parameters)
    return partial(op, *args, out=target, **parameters)


def _compare(
    case: Case, inputs: Mapping[str, Array], found: Mapping[str, Array], wanted: Mapping[str, Array], words: str
) -> Verdict | None:
    allowed = tolerances(case.bound.program, case.bound.sizes)
    for name, array in wanted.items():
        difference = first_difference(name, found[name], array, allowed[name], magnitude_of(inputs))
        if difference is not None:
            return Verdict(words, difference)
    return None


def _array(value: object, case: Case, name: str) -> Array:
    """Data as written in a test; an empty list has the shape that the sizes give."""
    array = np.array(value, numpy_dtype(case.bound.program.tensors[name].dtype))
    return array if array.size else array.reshape(case.bound.shape(name))
