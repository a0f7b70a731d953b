"""Here `check_both` runs the C of an op instead of its LLVM: the tests of operators and semantics, once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.language.comparing import EXACT, first_difference, magnitude_of, tolerances
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure

from tests.compiler.backends.c import native


@pytest.fixture(autouse=True, scope="session")
def compiler() -> None:
    if native.COMPILER is None:
        pytest.skip("no C compiler: install gcc or clang, or name one in CC")


@pytest.fixture(scope="session")
def check_both(load_text: Any, bound_call: Any) -> Callable[..., Any]:
    def check(text: str, *arrays: Any, op: str = "f", exact: bool = False, **parameters: Any) -> Any:
        function = load_text(text)[op]
        bound, inputs = bound_call(function, *arrays, **parameters)
        kernel = lower(automatic_nest(bound.program))
        try:
            wanted = evaluate(bound.program, inputs, bound.sizes)
        except Failure as failure:
            with pytest.raises(type(failure)) as raised:
                native.call(kernel, bound, inputs)
            return raised.value
        found = native.call(kernel, bound, inputs)
        allowed = tolerances(bound.program, bound.sizes)
        for name, result in found.items():
            tolerance = EXACT if exact else allowed[name]
            difference = first_difference(name, result, wanted[name], tolerance, magnitude_of(inputs))
            assert difference is None, str(difference)
        results = tuple(found.values())
        return results if len(results) > 1 else results[0] if results[0].ndim else results[0][()]

    return check
