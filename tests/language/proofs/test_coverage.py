"""The definitions of a tensor give each element once, for all sizes, or an element shows that they do not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tdl.language.diagnostic import Diagnostic
from tdl.language.tree import Program

Sound = Callable[[str], Program]
Wrong = Callable[[str], Diagnostic]

HEAD = "op f(X: f32[N], Z: f32[M]) -> Y: f32[N] "


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "{ Y[i] = 0 }",
        HEAD + "where N >= 1 { Y[0] = 0\n Y[i] = 0 for i in 1..N }",
        HEAD + "where N >= 1 { Y[i] = 0 for i in 1..N\n Y[0] = 0 }",
        HEAD + "where N >= 1 { Y[N - 1] = 0\n Y[i] = 0 for i in 0..N - 1 }",
        HEAD + "where N >= 2 { Y[0] = 0\n Y[i] = 0 for i in 1..N - 1\n Y[N - 1] = 0 }",
        HEAD + "{ Y[i] = 0 for i in 0..N//2\n Y[i] = 1 for i in N//2..N }",
        HEAD + "{ Y[i] = 0 for i in 0..N if i % 2 == 0\n Y[i] = 1 for i in 0..N if i % 2 == 1 }",
        HEAD + "{ Y[i] = 0 for i in 0..N if i > M\n Y[i] = 1 for i in 0..N if not i > M }",
        HEAD + "where M <= N { Y[i] = 0 for i in 0..M\n Y[i] = 1 for i in M..N }",
        HEAD + "where N == 1 { Y[0] = 0 }",
        "op f() -> Y: f32[3] { Y[0] = 0\n Y[1] = 1\n Y[2] = 2 }",
        "op f() -> y: f32 { y = 0 }",
        "op f(X: f32[N]) -> Y: f32[N, N] {\n Y[i, j] = 0 for i in 0..N, j in 0..N if i < j\n"
        " Y[i, j] = 1 for i in 0..N, j in 0..N if i == j\n Y[i, j] = 2 for i in 0..N, j in 0..N if i > j }",
        "op f(X: f32[M], Z: f32[N]) -> D: f32[M + 1, N + 1] {\n D[0, j] = 0 for j in 0..N+1\n"
        " D[i, 0] = 0 for i in 1..M+1\n D[i, j] = 1 for i in 1..M+1, j in 1..N+1 }",
        "op f(X: f32[N, 2]) -> (Y: f32[N], I: i32[N]) { (Y[i], I[i]) = argmax((X[i, j], i32(j)) for j) }",
        "op f(X: f32[N, M]) -> Y: f32[N*M] { Y[p] = 0 }",
    ],
)
def test_covered(sound: Sound, text: str) -> None:
    assert sound(text).obligations == ()


def test_an_undeclared_tensor_is_covered_too(sound: Sound, wrong: Wrong) -> None:
    sound("op f(X: f32[N]) -> Y: f32[N] where N >= 1 { t[0] = X[0]\n t[i] = X[i] for i in 1..N\n Y[i] = t[i] }")
    error = wrong("op f(X: f32[N]) -> Y: f32[N] where N >= 2 { t[0] = X[0]\n t[i] = X[i] for i in 2..N\n Y[i] = t[i] }")
    assert error.code == "uncovered"
    assert "`t[1]`" in error.message


@pytest.mark.parametrize(
    ("text", "element", "sizes"),
    [
        ("op scan(X: f32[T]) -> S: f32[T] { S[t] = S[t - 1] + X[t] for t in 1..T }", "S[0]", "T = 1"),
        (HEAD + "{ Y[i] = 0 for i in 0..N - 1 }", "Y[0]", "N = 1"),
        (HEAD + "{ Y[i] = 0 for i in 0..3\n Y[i] = 0 for i in 4..N }", None, None),
        (HEAD + "where N >= 3 { Y[i] = 0 for i in 0..3\n Y[i] = 0 for i in 4..N }", "Y[3]", "N = 4"),
        (HEAD + "where M <= N { Y[i] = 0 for i in 0..M }", "Y[0]", "N = 1, M = 0"),
        (HEAD + "{ Y[i] = 0 for i in 0..N if i % 3 != 1 }", "Y[1]", "N = 2"),
        ("op f(X: f32[N]) -> Y: f32[N, N] { Y[i, j] = 0 for i in 0..N, j in 0..N if i <= j }", "Y[1, 0]", "N = 2"),
    ],
)
def test_a_hole(wrong: Wrong, text: str, element: str | None, sizes: str | None) -> None:
    error = wrong(text)
    if element is None:
        assert error.code == "out-of-bounds"
        return
    assert error.code == "uncovered"
    assert f"`{element}`" in error.message
    assert error.notes[0].startswith(f"{sizes}: ")


@pytest.mark.parametrize(
    ("text", "element", "sizes"),
    [
        (HEAD + "where N >= 2 { Y[0] = 0\n Y[i] = 0 }", "Y[0]", "N = 2"),
        (HEAD + "where N >= 2 { Y[i] = 0 for i in 0..N\n Y[N - 1] = 0 }", "Y[1]", "N = 2"),
        (HEAD + "where N >= 1 { Y[0] = 0\n Y[0] = 1\n Y[i] = 0 for i in 1..N }", "Y[0]", "N = 1"),
        (HEAD + "{ Y[i] = 0 for i in 0..N if i >= 2\n Y[i] = 0 for i in 0..N if i <= 2 }", "Y[2]", "N = 3"),
    ],
)
def test_a_double(wrong: Wrong, text: str, element: str, sizes: str) -> None:
    error = wrong(text)
    assert error.code == "overlap"
    assert error.message == f"`{element}` is written twice"
    assert error.notes[0].startswith(f"{sizes}: ")
    assert error.secondary[0].span.start < error.primary.start


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HEAD + "{ Y[i] = 0 for i in 0..N + 1 }", "N = 0, i = 0: Y[0]"),
        (HEAD + "{ Y[i] = 0 for i in -1..N }", "N = 0, i = -1: Y[-1]"),
        (HEAD + "{ Y[0] = 0\n Y[i] = 0 for i in 1..N }", "N = 0: Y[0]"),
        (HEAD + "where N >= 1 { Y[N] = 0\n Y[i] = 0 }", "N = 1: Y[1]"),
    ],
)
def test_outside_of_the_shape(wrong: Wrong, text: str, shown: str) -> None:
    error = wrong(text)
    assert error.code == "out-of-bounds"
    assert error.notes[0] == shown


def test_an_output_without_a_definition(wrong: Wrong) -> None:
    text = "op f(X: f32[N]) -> (Y: f32[N], Z: f32[N]) {\n Y[i] = X[i]\n}"
    error = wrong(text)
    assert error.code == "missing-output"
    assert "`Z`" in error.message
    assert text[error.primary.start] == "Z"


def test_a_declared_intermediate_without_a_definition(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N]) -> Y: f32[N] { let t: f32[N]\n Y[i] = X[i] }")
    assert error.code == "definition"
    assert "`t`" in error.message


def test_coverage_cannot_depend_on_data(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] for i in 0..N if X[i] > 0 }")
    assert error.code == "definition"
    assert "data" in error.message


def test_what_is_affine_only_with_sizes_is_owed(sound: Sound) -> None:
    program = sound(
        "op f[B: int](X: f32[N]) -> Y: f32[N] where B >= 1 {\n"
        " Y[i] = 0 for i in 0..N if i % B == 0\n Y[i] = 1 for i in 0..N if i % B != 0 }"
    )
    assert [each.kind for each in program.obligations] == ["coverage"]


# ---- against small sizes


RANGES = ["0..N", "0..1", "1..N", "0..N - 1", "0..N//2", "N//2..N", "0..2", "2..N", "M..N", "0..M", "N - 1..N"]
FILTERS = ["", "i % 2 == 0", "i % 2 == 1", "i < M", "i >= M", "not (i == 1)", "i == 1 or i > 3", "2*i < N"]
FACTS = ["N >= 0", "N >= 2", "M <= N", "N == 2*M", "N >= 2, M == 1"]


@settings(max_examples=250, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(RANGES), st.sampled_from(FILTERS)), min_size=1, max_size=3),
    st.sampled_from(FACTS),
)
def test_verdicts_equal_enumeration(check, referee, pieces, fact) -> None:  # type: ignore[no-untyped-def]
    lines = [f"Y[i] = 0 for i in {range_}" + (f" if {filter_}" if filter_ else "") for range_, filter_ in pieces]
    program, found = check(f"{HEAD} where {fact} {{\n" + "\n".join(lines) + "\n}")
    holes, doubles, outside = [], [], []
    for sizes in referee.sizes(program, 6):
        written = [
            referee.element(definition.targets[0].coordinates, values)
            for definition in program.definitions
            for values in referee.instances(definition, sizes)
        ]
        shape = referee.shape(program, "Y", sizes)
        outside += [(sizes, each) for each in written if not referee.is_inside(program, "Y", each, sizes)]
        doubles += [(sizes, each) for each in written if written.count(each) > 1]
        holes += [(sizes, each) for each in product(*map(range, shape)) if each not in written]
    codes = {"out-of-bounds": outside, "overlap": doubles, "uncovered": holes}
    if not found:
        assert [*outside, *doubles, *holes] == []
        return
    (error,) = found
    sizes = [int(part.split(" = ")[1]) for part in error.notes[0].split(": ")[0].split(", ")]
    assert codes[error.code] or any(size > 6 for size in sizes), error
