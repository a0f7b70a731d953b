"""What an op does at given sizes."""

from __future__ import annotations

import pytest
from tdl.compiler.work import Work, work_of
from tdl.language.analysis import analyse
from tdl.language.binding import bind
from tdl.language.source import Source


def work(text: str, **sizes: int) -> Work:
    (op,) = analyse(Source("w.tdl", text)).module.ops.values()
    bound = bind(op, {}, {}, sizes)
    return work_of(bound.program, bound.sizes)


@pytest.mark.parametrize(
    ("text", "sizes", "operations", "moved"),
    [
        ("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] + 1 }", {"N": 10}, 10, 80),
        (
            "op mm(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }",
            {"M": 2, "K": 3, "N": 5},
            2 * 2 * 3 * 5,
            4 * (6 + 15 + 10),
        ),
        ("op f(X: i8[N]) -> Y: i32[N] { Y[i] = i32(X[i]) }", {"N": 4}, 0, 20),
        ("op f(X: f64[N]) -> s: f64 { s = max(exp(X[i]) for i) }", {"N": 4}, 8, 40),
        ("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] * 2 if X[i] > 0 else X[i] }", {"N": 3}, 3, 24),
        ("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] + 1 }", {"N": 0}, 0, 0),
    ],
)
def test_operations_and_bytes(text: str, sizes: dict[str, int], operations: int, moved: int) -> None:
    assert work(text, **sizes) == Work(operations, moved)
