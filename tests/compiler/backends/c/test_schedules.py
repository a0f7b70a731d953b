"""Random ops under random schedules as C: what the evaluator gives."""

from __future__ import annotations

import pytest
from tdl.compiler.lower.pipeline import lower
from tdl.language.arrays import dtype_of
from tdl.language.binding import ArrayType, bind
from tdl.language.comparing import EXACT, first_difference, magnitude_of, tolerances
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure

from tests.compiler.backends.c import native
from tests.compiler.schedule.generated.cases import Subject, random_case, symbols
from tests.compiler.schedule.generated.packing import packed_inputs

CHUNK = 50
USUAL = range(0, 10)
NIGHTLY = range(200_000, 220_000, CHUNK)


def check(seed: int) -> None:
    """A case at its first sizes that do not fail."""
    case = random_case(seed)
    subject = Subject(case)
    nest = subject.applied().nest
    kernel = lower(nest)
    for sizes in case.sizes:
        inputs, values = subject.inputs(sizes), symbols(sizes)
        try:
            wanted = evaluate(subject.program, inputs, values)
        except Failure:
            continue
        types = {name: ArrayType(dtype_of(array.dtype), array.shape) for name, array in inputs.items()}
        given = packed_inputs(nest, kernel, inputs, values)
        found = native.call(kernel, bind(subject.op, types, {}), given)
        allowed = {} if case.op.is_exact else tolerances(subject.program, values)
        magnitude = magnitude_of(inputs) if allowed else 1.0
        for name, array in wanted.items():
            difference = first_difference(name, found[name], array, allowed.get(name, EXACT), magnitude)
            assert difference is None, f"seed {seed} at {sizes}: {difference}\n{case.text}"


@pytest.mark.parametrize("seed", USUAL)
def test_cases(seed):
    check(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("first", NIGHTLY)
def test_more_cases(first):
    for seed in range(first, first + CHUNK):
        check(seed)
