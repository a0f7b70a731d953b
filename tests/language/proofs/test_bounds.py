"""Every access is proved to be inside, tested when it runs, or refused with the least counterexample."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tdl.language.diagnostic import Diagnostic
from tdl.language.tree import Access, Program, walk

Sound = Callable[[str], Program]
Wrong = Callable[[str], Diagnostic]


def run_time_tests(program: Program) -> dict[str, tuple[bool, ...]]:
    """Which subscripts of each tensor are tested when they run."""
    nodes = [node for definition in program.definitions for node in walk(definition.value)]
    accesses = [node for node in nodes if isinstance(node, Access)]
    return {node.tensor: node.checked or (False,) * len(node.subscripts) for node in accesses}


# ---- proofs


@pytest.mark.parametrize(
    "text",
    [
        "op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }",
        "op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[N - 1 - i] }",
        "op f(X: f32[H, W]) -> Y: f32[H//2, W//2] { Y[i, j] = max(X[2*i + r, 2*j + s] for r in 0..2, s in 0..2) }",
        "op f(X: f32[N]) -> Y: f32[2*N] { Y[i] = X[i//2] }",
        "op f(X: f32[8, N]) -> Y: f32[8*N] { Y[p] = X[p % 8, p//8] }",
        "op f(X: f32[N], Z: f32[M]) -> Y: f32[M] where M <= N, M >= 1 { Y[i] = X[i] }",
        "op f(X: f32[N]) -> Y: f32[N] { Y[i] = sum(X[k] for k in 0..i + 1) }",
        "op f(X: f32[N]) -> Y: f32[N] { Y[i] = sum(X[k - i] for k in i..N) }",
        "op f(X: f32[N]) -> Y: f32[N] { Y[i] = sum(X[j] for k in 0..i, j in k..i) }",
        "op f(X: f32[N]) -> y: f32 where N >= 3 { y = X[2] }",
        "op f(X: f32[N]) -> y: f32 where N % 4 == 0, N != 0 { y = X[3] }",
        "op f(X: f32[N]) -> y: f32 { y = sum(X[k + 5] for k in 0..N - 5) }",
        "op f(X: f32[N]) -> Y: f32[0] { Y[i] = X[i + 1000] }",
        "op f(X: f32[N, M]) -> Y: f32[N*M] { Y[p] = sum(X[i, 0] for i in 0..N) if M > 0 else 0 }",
    ],
)
def test_proved(sound: Sound, text: str) -> None:
    program = sound(text)
    assert not any(any(flags) for flags in run_time_tests(program).values())
    assert program.obligations == ()


@pytest.mark.parametrize(
    "value",
    [
        "X[i - 1] if i > 0 else 0",
        "X[i - 1] if i >= 1 else X[i]",
        "X[i - 1] if not i < 1 else 0",
        "X[i - 1] if i != 0 else 0",
        "0 if i == 0 else X[i - 1]",
        "X[i - 1] if i > 0 and c[i] else 0",
        "X[i - 1] if c[i] and i > 0 else 0",
        "0 if i == 0 or c[i] else X[i - 1]",
        "1 if i > 0 and X[i - 1] > 0 else 0",
        "1 if i == 0 or X[i - 1] > 0 else 0",
        "(X[i - 1] if i > 0 else 0) + (X[i + 1] if i + 1 < N else 0)",
        "sum(X[i - k] for k in 0..3 if i - k >= 0)",
        "sum(X[i + k] for k in -2..3 if 0 <= i + k < N)",
        "sum(X[i - k] for k in 0..3 if c[i] and k <= i)",
        "(X[i - 1] if c[0] else 0) if i > 0 else 0",
    ],
)
def test_a_condition_is_assumed(sound: Sound, value: str) -> None:
    program = sound(f"op f(X: f32[N], c: bool[N]) -> Y: f32[N] {{ Y[i] = {value} }}")
    assert not any(any(flags) for flags in run_time_tests(program).values())


@pytest.mark.parametrize(
    "value",
    [
        "X[i - 1] if i >= 0 else 0",
        "X[i - 1] if i > 0 or c[i] else 0",
        "0 if i == 0 and c[i] else X[i - 1]",
        "1 if X[i - 1] > 0 and i > 0 else 0",
        "1 if i > 0 or X[i - 1] > 0 else 0",
        "X[i] if i > 0 else X[i - 1]",
        "X[i - 1] if not (i == 0 and c[i]) else 0",
    ],
)
def test_a_condition_says_no_more_than_it_does(wrong: Wrong, value: str) -> None:
    error = wrong(f"op f(X: f32[N], c: bool[N]) -> Y: f32[N] {{ Y[i] = {value} }}")
    assert error.code == "out-of-bounds"
    assert error.notes[0] == "N = 1, i = 0: X[-1]"


def test_a_filter_of_a_definition_is_assumed(sound: Sound) -> None:
    sound(
        "op f(X: f32[N]) -> Y: f32[N] {\n Y[i] = X[i - 1] for i in 0..N if i > 0\n Y[i] = 0 for i in 0..N if i == 0 }"
    )


# ---- refusals


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("op f(X: f32[H, W]) -> Y: f32[H, W] where H >= 1, W >= 3 { Y[i, j] = X[i, j] + X[i, j + 1] }",
         "H = 1, W = 3, i = 0, j = 2: X[0, 3]"),
        ("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i - 1] }", "N = 1, i = 0: X[-1]"),
        ("op f(X: f32[N]) -> Y: f32[N + 2] { Y[i] = X[i] }", "N = 0, i = 0: X[0]"),
        ("op f(X: f32[N]) -> y: f32 { y = X[0] }", "N = 0: X[0]"),
        ("op f(X: f32[N, M]) -> Y: f32[M] { Y[j] = X[0, j] }", "N = 0, M = 1, j = 0: X[0, 0]"),
        ("op f(X: f32[N]) -> Y: f32[N] { Y[i] = sum(X[i + k] for k in 0..3) }", "N = 1, i = 0, k = 1: X[1]"),
        ("op f(X: f32[N]) -> Y: f32[N] where N >= 7 { Y[i] = X[2*i] }", "N = 7, i = 4: X[8]"),
        ("op f(X: f32[N]) -> Y: f32[N] where N % 4 == 0 { Y[i] = X[i + 1] }", "N = 4, i = 3: X[4]"),
        ("op f(X: f32[N], Z: f32[M]) -> Y: f32[N] { Y[i] = Z[i] + X[i] }", "N = 1, M = 0, i = 0: Z[0]"),
        ("op f[p: int](X: f32[N]) -> Y: f32[N] { Y[i] = X[i + p] }", "N = 1, p = 1, i = 0: X[1]"),
    ],
)  # fmt: skip
def test_the_least_counterexample(wrong: Wrong, text: str, shown: str) -> None:
    error = wrong(text)
    assert error.code == "out-of-bounds"
    assert error.notes[0] == shown
    assert "| 0" in error.notes[1]


def test_a_size_that_has_nothing_to_do_with_it_is_not_shown(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N], Z: f32[M]) -> (Y: f32[N], W: f32[M]) { Y[i] = X[i + 1]\n W[i] = Z[i] }")
    assert error.notes[0] == "N = 1, i = 0: X[1]"


def test_each_subscript_is_judged_alone(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N, N]) -> Y: f32[N] { Y[i] = X[i, i + 1] }")
    assert error.notes[0] == "N = 1, i = 0: X[0, 1]"


def test_the_fix_inserts_a_boundary(wrong: Wrong) -> None:
    text = "op f(X: f32[N]) -> Y: f32[N] { Y[i] = 2 * X[i + 1] + 1 }"
    (fix,) = wrong(text).fixes
    fixed = text[: fix.span.start] + fix.text + text[fix.span.end :]
    assert fixed == "op f(X: f32[N]) -> Y: f32[N] { Y[i] = 2 * X[i + 1 | 0] + 1 }"


def test_every_wrong_access_is_reported(check: Callable[[str], tuple[Program, tuple[Diagnostic, ...]]]) -> None:
    _, found = check("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i + 1] + X[i - 1] }")
    assert [each.notes[0] for each in found] == ["N = 1, i = 0: X[1]", "N = 1, i = 0: X[-1]"]


# ---- beyond proof


def test_an_access_through_data_is_tested(sound: Sound) -> None:
    program = sound("op f(X: f32[V, D], I: i32[N]) -> Y: f32[N, D] { Y[n, d] = X[I[n], d] }")
    assert run_time_tests(program) == {"X": (True, False), "I": (False,)}
    assert program.obligations == ()


def test_an_index_with_a_range_from_data_is_tested(sound: Sound) -> None:
    program = sound(
        "op f(V: f32[E], P: i64[N + 1]) -> Y: f32[N] { Y[n] = sum(V[p] for p in P[n]..P[n + 1]) }",
    )
    assert run_time_tests(program)["V"] == (True,)


def test_data_that_is_provably_inside_is_not_tested(sound: Sound) -> None:
    program = sound("op f(X: f32[8], I: i64[N]) -> Y: f32[N] { Y[n] = X[I[n] % 8] }")
    assert run_time_tests(program)["X"] == (False,)


def test_data_that_a_condition_keeps_inside_is_not_tested(sound: Sound) -> None:
    program = sound("op f(X: f32[M], I: i64[N]) -> Y: f32[N] { Y[n] = X[I[n]] if 0 <= I[n] and I[n] < M else 0 }")
    assert run_time_tests(program)["X"] == (False,)
    program = sound("op f(X: f32[M], I: i64[N]) -> Y: f32[N] { Y[n] = X[I[n]] if 0 <= I[n] else 0 }")
    assert run_time_tests(program)["X"] == (True,)


def test_a_clamped_subscript_and_a_byte_in_a_table_are_not_tested(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[M], I: i64[N]) -> Y: f32[N] where M >= 1 { Y[n] = X[max(0, min(I[n], M - 1))] }",
    )
    assert run_time_tests(program)["X"] == (False,)
    program = sound("op f(T: f32[256], I: u8[N]) -> Y: f32[N] { Y[n] = T[I[n]] }")
    assert run_time_tests(program)["T"] == (False,)
    program = sound("op f(T: f32[255], I: u8[N]) -> Y: f32[N] { Y[n] = T[I[n]] }")
    assert run_time_tests(program)["T"] == (True,)
    program = sound("op f(T: f32[16], I: i32[N]) -> Y: f32[N] { Y[n] = T[bit_and(I[n], 15)] }")
    assert run_time_tests(program)["T"] == (False,)


def test_a_boundary_is_never_tested(sound: Sound) -> None:
    program = sound("op f(X: f32[V], I: i32[N]) -> Y: f32[N] { Y[n] = X[I[n] | 0] }")
    assert run_time_tests(program) == {"X": (False,), "I": (False,)}


def test_a_product_of_indices_is_tested(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N, N] { Y[i, j] = X[i * j] }")
    assert run_time_tests(program)["X"] == (True,)
    assert program.obligations == ()


def test_a_symbolic_divisor_is_tested_and_owed(sound: Sound) -> None:
    program = sound("op f[B: int](X: f32[N, B]) -> Y: f32[N*B] where B >= 1 { Y[p] = X[p // B, p % B] }")
    assert run_time_tests(program)["X"] == (True, False)
    assert [each.kind for each in program.obligations] == ["bounds"]


def test_a_remainder_by_a_size_is_proved(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[(i + 1) % N] }")
    assert run_time_tests(program)["X"] == (False,)


def test_what_fails_at_small_sizes_is_not_owed(wrong: Wrong) -> None:
    error = wrong("op f[B: int](X: f32[N]) -> Y: f32[N] where N % B == 0, B >= 1 { Y[i] = X[i + 1] }")
    assert error.code == "out-of-bounds"
    assert error.notes[0] == "N = 1, B = 1, i = 0: X[1]"


def test_a_division_by_zero_is_left_to_raise(sound: Sound) -> None:
    for subscript in ("i//0", "i % 0"):
        program = sound(f"op f(X: f32[8]) -> Y: f32[8] {{ Y[i] = X[{subscript}] }}")
        assert run_time_tests(program)["X"] == (True,)


def test_a_divisor_with_a_value_is_proved(sound: Sound) -> None:
    program = sound("op f[B: int = 4](X: f32[N, B]) -> Y: f32[N*B] { Y[p] = X[p // B, p % B] }")
    assert run_time_tests(program)["X"] == (False, False)


def test_a_product_of_sizes_needs_no_isl_where_it_cancels(sound: Sound) -> None:
    program = sound("op f(X: f32[N*M], Z: f32[N], W: f32[M]) -> Y: f32[N*M] { Y[p] = X[N*M - 1 - p] }")
    assert run_time_tests(program)["X"] == (False,)


# ---- boundaries that need an element


@pytest.mark.parametrize("mode", ["edge", "wrap", "mirror"])
def test_a_boundary_needs_an_element(sound: Sound, wrong: Wrong, mode: str) -> None:
    sound(f"op f(X: f32[N]) -> Y: f32[N] {{ Y[i] = X[i - 1 | {mode}] }}")
    sound(f"op f(X: f32[N]) -> Y: f32[3] where N >= 1 {{ Y[i] = X[i - 1 | {mode}] }}")
    error = wrong(f"op f(X: f32[N]) -> Y: f32[3] {{ Y[i] = X[i - 1 | {mode}] }}")
    assert error.code == "boundary"
    assert error.notes[0] == "N = 0: `X` is empty"


def test_a_constant_boundary_needs_no_element(sound: Sound) -> None:
    sound("op f(X: f32[N]) -> Y: f32[3] { Y[i] = X[i - 1 | 0] }")


# ---- against small sizes


SUBSCRIPTS = [
    "i",
    "j",
    "i + 1",
    "i - 1",
    "i + j",
    "i - j",
    "2*i",
    "i//2",
    "(i + j)//2",
    "N - 1 - i",
    "i % 3",
    "0",
    "M - 1",
    "2*i - j",
]
CONDITIONS = [
    "i > 0",
    "j < i",
    "i + j < N",
    "i != j",
    "i % 2 == 0",
    "N > 2",
    "i == 0 or j == 0",
    "not i < 2",
    "i <= j < 4",
]
RANGES = ["0..M", "0..i", "i..N", "1..3", "0..(N + 1)//2", "-1..2"]
FACTS = ["N >= 1", "N <= M", "N == 2*M", "N >= 3, M >= 2", "N % 2 == 0", "N >= 0"]


@settings(max_examples=150, deadline=None)
@given(
    st.tuples(st.sampled_from(SUBSCRIPTS), st.sampled_from(SUBSCRIPTS)),
    st.sampled_from(CONDITIONS),
    st.sampled_from(["{0} if {1} else 0", "0 if {1} else {0}", "sum({0} for j in {2} if {1})"]),
    st.sampled_from(RANGES),
    st.sampled_from(FACTS),
)
def test_verdicts_equal_enumeration(check, referee, subscripts, condition, pattern, range_, fact) -> None:  # type: ignore[no-untyped-def]
    read = f"X[{subscripts[0]}, {subscripts[1]}]"
    is_sum = pattern.startswith("sum")
    head = "op f(X: f32[N, M]) -> Y: f32[N]" if is_sum else "op f(X: f32[N, M]) -> Y: f32[N, M]"
    left = "Y[i]" if is_sum else "Y[i, j]"
    program, found = check(f"{head} where {fact} {{ {left} = {pattern.format(read, condition, range_)} }}")
    outside = [
        (sizes, element)
        for sizes in referee.sizes(program, 5)
        for values in referee.instances(program.definitions[0], sizes)
        for access, element in referee.accesses(program.definitions[0].value, values)
        if not referee.is_inside(program, access.tensor, element, sizes)
    ]
    if not found:
        assert outside == []
        return
    (error,) = found
    assert error.code == "out-of-bounds"
    point, _, shown = error.notes[0].partition(": ")
    values = {name: int(value) for name, value in (part.split(" = ") for part in point.split(", "))}
    if outside and all(value <= 5 for value in values.values()):
        sizes, _ = outside[0]
        assert {symbol.name: size for symbol, size in sizes.items() if symbol.name in values}.items() <= values.items()
        assert shown in {f"{access.tensor}{list(element)}" for access, element in reads(program, referee, sizes)}
    else:
        assert any(value > 5 for value in values.values())


def reads(program, referee, sizes):  # type: ignore[no-untyped-def]
    (definition,) = program.definitions
    for values in referee.instances(definition, sizes):
        yield from referee.accesses(definition.value, values)


def test_the_referee_counts_what_runs(referee, sound: Sound) -> None:  # type: ignore[no-untyped-def]
    program = sound("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i - 1] if i > 0 else 0 }")
    (n,) = program.dims
    (definition,) = program.definitions
    instances = list(referee.instances(definition, {n: 3}))
    assert [element for each in instances for _, element in referee.accesses(definition.value, each)] == [(0,), (1,)]
