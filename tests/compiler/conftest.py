"""What the compiler's tests share: a cache of their own, and running a text both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tdl.compiler import load
from tdl.language.arrays import dtype_of
from tdl.language.binding import ArrayType, Bound, bind
from tdl.language.comparing import EXACT, first_difference, magnitude_of, tolerances
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure
from tdl.language.source import Source

from tests.compiler.guarded import Guarded


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing is read from, or written to, the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TDL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def verified_kernels() -> Iterator[None]:
    """Every kernel that a test compiles is verified after each pass."""
    from tdl.compiler.kernel.verify import verify
    from tdl.compiler.lower.pipeline import lower
    from tdl.compiler.runtime import compile

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compile, "lower", lambda nest: lower(nest, lambda _, kernel: verify(kernel)))
        yield


@pytest.fixture(scope="session")
def load_text() -> Callable[[str], Any]:
    """A module from its text."""
    return lambda text: load(Source("test.tdl", text))


@pytest.fixture(scope="session")
def bound_call() -> Callable[..., tuple[Bound, dict[str, Any]]]:
    """The instance of an op that arguments mean, and its inputs by name."""

    def make(op: Any, *arrays: Any, **parameters: Any) -> tuple[Bound, dict[str, Any]]:
        names = [each.name.text for each in op.declaration.item.inputs]
        inputs = {name: np.asarray(array) for name, array in zip(names, arrays, strict=True)}
        types = {name: ArrayType(dtype_of(array.dtype), array.shape) for name, array in inputs.items()}
        return bind(op.declaration, types, parameters), inputs

    return make


@pytest.fixture(scope="session")
def check_both(load_text: Any, bound_call: Any) -> Callable[..., Any]:
    """Run an op compiled and evaluated: results must be equal (within tolerance unless `exact`), or failures of a kind.

    Gives back what the compiled call returned, or the exception it raised.
    """

    def check(text: str, *arrays: Any, op: str = "f", exact: bool = False, **parameters: Any) -> Any:
        function = load_text(text)[op]
        bound, inputs = bound_call(function, *arrays, **parameters)
        try:
            wanted = evaluate(bound.program, inputs, bound.sizes)
        except Failure as failure:
            with pytest.raises(type(failure)) as raised:
                function(*arrays, **parameters)
            return raised.value
        found = function(*arrays, **parameters)
        allowed = tolerances(bound.program, bound.sizes)
        for name, result in zip(wanted, found if len(wanted) > 1 else (found,), strict=True):
            tolerance = EXACT if exact else allowed[name]
            difference = first_difference(name, np.asarray(result), wanted[name], tolerance, magnitude_of(inputs))
            assert difference is None, str(difference)
        return found

    return check


@pytest.fixture(scope="session")
def guarded() -> Guarded:
    return Guarded()
