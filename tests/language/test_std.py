"""The standard library: it checks without a word, is documented, and its tests pass evaluated and compiled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tdl.compiler.trial import try_case
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse, standard, standard_modules
from tdl.language.cases import check_case

Run = Callable[..., dict[str, Any]]


def analysed(module: str) -> Analysis:
    source = standard(module)
    assert source is not None
    return analyse(source)


def cases() -> Iterator[Any]:
    for module in standard_modules():
        for entry in analysed(module).module.entries:
            if isinstance(entry.declaration.item, syntax.Test):
                name = entry.declaration.name
                yield pytest.param(entry.declaration, id=f"{module}:{name}")


def test_the_modules_that_there_are() -> None:
    assert standard_modules() == [
        "std.armv7m",
        "std.armv8a",
        "std.image",
        "std.math",
        "std.nn",
        "std.rv64gc",
        "std.tactics",
        "std.wasm32",
        "std.x86_64_v2",
        "std.x86_64_v3",
        "std.x86_64_v4",
    ]


@pytest.mark.parametrize("module", standard_modules())
def test_a_module_checks_and_every_op_is_documented_and_tested(module: str) -> None:
    found = analysed(module)
    assert found.diagnostics == ()
    items = [entry.declaration.item for entry in found.module.entries]
    ops = [item for item in items if isinstance(item, syntax.Op)]
    assert [op.name.text for op in ops if not op.doc] == []
    called = {item.call.callee.text for item in items if isinstance(item, syntax.Test) and item.call is not None}
    assert {op.name.text for op in ops} == called
    reducers = [item for item in items if isinstance(item, syntax.Reducer)]
    assert [reducer.name.text for reducer in reducers if not reducer.doc] == []


@pytest.mark.parametrize("declaration", list(cases()))
def test_a_test_of_the_library_passes(declaration: Any) -> None:
    case = check_case(declaration).case
    assert case is not None
    verdict = try_case(case)
    assert verdict.is_good, verdict


# ---- functions against Python's


def applied(run: Run, expression: str, values: list[float]) -> list[float]:
    text = f"import std.math\nop f(X: f64[N]) -> Y: f64[N] {{ Y[i] = {expression} }}"
    return [float(value) for value in run(text, X=values)["Y"]]


@pytest.mark.parametrize(
    ("expression", "wanted", "values"),
    [
        ("std.math.log1p(X[i])", math.log1p, [0.0, 1e-20, -1e-9, 0.5, 1e300]),
        ("std.math.log2(X[i])", math.log2, [1.0, 8.0, 0.3]),
        ("std.math.log10(X[i])", math.log10, [1.0, 1000.0, 0.3]),
        ("std.math.hypot(X[i], 3)", lambda x: math.hypot(x, 3), [0.0, 4.0, -4.0, 1e200]),
        ("std.math.hypot(X[i], 0)", lambda x: math.hypot(x, 0), [0.0, math.inf]),
        ("std.math.tan(X[i])", math.tan, [0.0, 1.0, -2.0]),
        ("std.math.radians(X[i])", math.radians, [0.0, 180.0, -90.0]),
        ("std.math.degrees(X[i])", math.degrees, [0.0, math.pi]),
        ("std.math.copysign(X[i], -2)", lambda x: math.copysign(x, -2), [1.0, -1.0, 0.5]),
        ("std.math.fract(X[i])", lambda x: x - math.floor(x), [1.25, -1.25, 3.0]),
        ("std.math.sign(X[i])", lambda x: (x > 0) - (x < 0), [-3.5, 0.0, 2.0]),
        ("std.math.sinc(X[i])", lambda x: math.sin(x) / x if x else 1.0, [0.0, 1.0]),
        ("std.math.logit(X[i])", lambda p: math.log(p / (1 - p)), [0.5, 0.25]),
        ("std.math.softplus(X[i])", lambda x: math.log1p(math.exp(x)) if x < 700 else x, [-800.0, -1.0, 0.0, 1e4]),
        ("std.math.gelu(X[i])", lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, [-1.0, 0.0, 2.0]),
        ("std.math.smoothstep(X[i])", lambda t: t * t * (3 - 2 * t), [0.0, 0.25, 1.0]),
        ("std.math.lerp(2, 4, X[i])", lambda t: 2 + 2 * t, [0.0, 0.5, 1.5]),
        ("std.math.inverse_lerp(2, 4, X[i])", lambda x: (x - 2) / 2, [2.0, 3.0, 5.0]),
        ("std.math.hard_swish(X[i])", lambda x: x * min(max(x / 6 + 0.5, 0), 1), [-4.0, 1.0, 4.0]),
    ],
)
def test_a_function_is_what_it_says(
    run: Run, expression: str, wanted: Callable[[float], float], values: list[float]
) -> None:
    found = applied(run, expression, values)
    np.testing.assert_allclose(found, [wanted(value) for value in values], rtol=1e-14)


@pytest.mark.parametrize(("a", "b"), [(-math.inf, -math.inf), (-math.inf, 2.0), (math.inf, 1.0), (1000.0, 1000.0)])
def test_logaddexp_of_ends(run: Run, a: float, b: float) -> None:
    text = "import std.math\nop f(a: f64, b: f64) -> y: f64 { y = std.math.logaddexp(a, b) }"
    assert run(text, a=a, b=b)["y"] == np.logaddexp(a, b)


def test_the_moments_of_data_far_from_zero_keep_their_variance(run: Run) -> None:
    x = 1e4 + np.random.default_rng(0).standard_normal((3, 1000)).astype(np.float32)
    text = f"from std.math import moments\n{MOMENTS}"
    found = run(text, X=x)
    np.testing.assert_allclose(found["variance"], x.astype(np.float64).var(axis=1), rtol=2e-3)


MOMENTS = """op f(X: f32[M, N]) -> variance: f32[M] {
    (n[i], mean[i], m2[i]) = moments((1, X[i, j], 0) for j)
    variance[i] = m2[i] / n[i]
}"""
