"""Random programs whose types are right and whose accesses have boundaries: all of them are accepted, and run."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tdl.language.analysis import analyse
from tdl.language.arrays import numpy_dtype
from tdl.language.binding import bind
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure
from tdl.language.source import Source

FRAME = """\
const A = 3
const HALF = 1 / 2
const LIMIT: i32 = 100
fn g[T: float](x: T, y: T) -> T = x * HALF - y if x < y else y
fn h[k: int = 2](x: i64) -> i64 = x // k + x % 3
fn p(b: bool, c: bool) -> bool = b != c and not (b and c)
reducer r(a: f32, b: f32) -> f32 {{ identity -inf
    combine a if a > b else b }}
op f[k: int = 1, e: f32 = 0.25](X: f32[N], Z: f32[M, N], I: i32[N], B: bool[N], s: f32, n: i64)
    -> (F: f32[N], G: i64[N], H: i32[N], C: bool[N]) {{
    w[j] = u[j] + 1
    F[i] = {f32}
    G[i] = {i64}
    H[i] = {i32}
    C[i] = {bool}
    u[j] = X[j] * v
    v    = 2
}}
"""
TENSORS = {"f32": ["X", "w", "u"], "i32": ["I"], "bool": ["B"]}
SCALARS = {"f32": ["s", "e", "v"], "i64": ["n", "k", "N", "M", "i", "A"], "i32": ["LIMIT"], "bool": []}
LITERALS = {
    "f32": ["0", "1", "2.5", "-3", "1e-3", "HALF", "A"],
    "i64": ["0", "1", "7", "-2"],
    "i32": ["0", "1", "7", "-2", "A"],
    "bool": ["true", "false"],
}
OUTSIDE = {"f32": ["0", "-inf", "e", "HALF * A"], "i32": ["0", "A", "-1"], "bool": ["true", "false"]}
Draw = Callable[[st.SearchStrategy[str]], str]


@st.composite
def expressions(draw: Draw, dtype: str, depth: int = 3, indices: tuple[str, ...] = ("i",)) -> str:
    """An expression of a dtype. `indices` are those in scope."""

    def of(wanted: str, more: tuple[str, ...] = ()) -> str:
        return draw(expressions(wanted, depth - 1, (*indices, *more)))

    def one_of(*choices: str) -> str:
        return draw(st.sampled_from(choices))

    if depth == 0:
        kind = one_of("literal", "scalar", "read")
        if kind == "read" and dtype in TENSORS:
            return f"{one_of(*TENSORS[dtype])}[{one_of(*indices)} | {one_of(*OUTSIDE[dtype])}]"
        named = (*SCALARS[dtype], *(indices if dtype == "i64" else ()))
        return one_of(*named) if kind == "scalar" and named else one_of(*LITERALS[dtype])
    kind = one_of("leaf", "operator", "branch", "function", "reduction", "special")
    if kind == "leaf":
        return of(dtype)
    if kind == "branch":
        return f"({of(dtype)} if {of('bool')} else {of(dtype)})"
    if kind == "reduction":
        return _reduction(dtype, one_of, of, f"k{depth}{len(indices)}")
    return _plain(kind, dtype, one_of, of)


def _reduction(dtype: str, one_of: Callable[..., str], of: Callable[..., str], index: str) -> str:
    names = {"f32": ("sum", "max", "min", "prod", "r"), "bool": ("any", "all")}.get(dtype, ("sum", "max", "min"))
    filter_ = one_of("", f" if {of('bool', (index,))}")
    return f"{one_of(*names)}({of(dtype, (index,))} for {index} in {one_of('0..3', 'i..N', '0..k', '1..0')}{filter_})"


def _plain(kind: str, dtype: str, one_of: Callable[..., str], of: Callable[..., str]) -> str:
    a, b = of(dtype), of(dtype)
    if dtype == "bool":
        compared = one_of("f32", "i64", "i32")
        return one_of(
            f"({a} and {b})", f"({a} or not {b})", f"({a} == {b})", f"p({a}, {b})",
            f"({of(compared)} {one_of('<', '<=', '==', '!=', '>')} {of(compared)})", f"isnan({of('f32')})",
        )  # fmt: skip
    if kind == "operator":
        return f"({a} {one_of('+', '-', '*', *('/' if dtype == 'f32' else ()))} {b})"
    if kind == "function":
        return one_of(f"max({a}, {b})", f"min({a}, {b}, 3)", f"abs({a})", f"({a})**{one_of('0', '1', '2', '3', '5')}")
    if dtype == "f32":
        return one_of(
            f"g({a}, {b})", f"exp({a})", f"f32({of('i32')})", f"sigmoid({a})", f"f32({of('bool')})",
            f"Z[{of('i64')}, {of('i32')} | {one_of('0', '-inf')}]", f"g(y={a}, x=1)", f"-{a}",
        )  # fmt: skip
    if dtype == "i64":
        return one_of(f"h({a})", f"h[3]({a})", f"({a} // 3)", f"({a} % 5)", f"i64({of('f32')})", f"i64({of('i32')})")
    return one_of(
        f"i32({of('i64')})", f"bit_and({a}, {b})", f"shl({a}, {b})", f"I[{of('i64')} | 0]", f"({a} // 3)", f"-{a}"
    )


@given(**{dtype: expressions(dtype) for dtype in LITERALS})
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_right_is_accepted_and_runs(**parts: str) -> None:
    text = FRAME.format(**parts)
    analysed = analyse(Source("soup.tdl", text), read={}.get)
    assert [diagnostic.message for diagnostic in analysed.diagnostics] == []
    bound = bind(analysed.module.ops["f"], {}, {}, {"M": 2, "N": 3})
    chance = np.random.default_rng(0)
    inputs = {}
    for name in bound.program.inputs:
        numbers = np.asarray(chance.integers(-3, 4, bound.shape(name)))
        inputs[name] = numbers.astype(numpy_dtype(bound.program.tensors[name].dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = evaluate(bound.program, inputs, bound.sizes)
        except Failure:
            return
    assert {name: array.shape for name, array in found.items()} == bound.output_shapes
