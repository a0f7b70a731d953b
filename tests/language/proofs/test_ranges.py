"""Which values an index takes, and how large an undeclared tensor is."""

from __future__ import annotations

from collections.abc import Callable

from tdl.language.diagnostic import Diagnostic
from tdl.language.tree import Program, Reduce, walk

Sound = Callable[[str], Program]
Wrong = Callable[[str], Diagnostic]


def ranges(program: Program) -> dict[str, str]:
    """The range of every index by its name; those of several definitions joined."""
    found: dict[str, list[str]] = {}
    for definition in program.definitions:
        reductions = [node for node in walk(definition.value) if isinstance(node, Reduce)]
        for binder in (*definition.indices, *(binder for node in reductions for binder in node.binders)):
            found.setdefault(binder.index.name, []).append(f"{binder.lo}..{binder.hi}")
    return {name: " ".join(each) for name, each in found.items()}


def shape(program: Program, tensor: str) -> list[str]:
    return [str(size) for size in program.tensors[tensor].shape]


# ---- outputs


def test_an_output_index_takes_the_declared_shape(sound: Sound) -> None:
    program = sound("op f(X: f32[N, N]) -> Y: f32[N, 3] where N >= 3 { Y[i, j] = X[i, j] }")
    assert ranges(program) == {"i": "0..N", "j": "0..3"}


def test_subscripts_do_not_bound_an_output_index(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N]) -> Y: f32[N] where N >= 2 { Y[i] = X[i + 1] }")
    assert error.code == "out-of-bounds"


def test_an_explicit_range_stays(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> y: f32 where N >= 5 { y = sum(X[k] for k in 2..4) }")
    assert ranges(program)["k"] == "2..4"


def test_a_declared_intermediate_bounds_its_indices(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { let t: f32[N]\n t[i] = X[i | 0]\n Y[i] = t[i] }")
    assert ranges(program)["i"] == "0..N 0..N"


# ---- subscripts


def test_subscripts_bound_a_reduction_index(sound: Sound) -> None:
    program = sound("op f(X: f32[N], Z: f32[N]) -> y: f32 { y = sum(X[k] * Z[k] for k) }")
    assert ranges(program)["k"] == "0..N"


def test_a_subscript_is_inverted(sound: Sound) -> None:
    cases = {
        "i + 1": "-1..N - 1",
        "2*i": "0..(N + 1)//2",
        "2*i + 1": "0..N//2",
        "N - 1 - i": "0..N",
        "i//2": "0..2*N",
        "(i + 1)//2": "-1..2*N - 1",
        "(2*i + 1)//3": "0..3*N//2",
        "3 - i": "-N + 4..4",
    }
    for subscript, expected in cases.items():
        program = sound(f"op f(X: f32[N]) -> y: f32 where N >= 9 {{ y = sum(X[{subscript}] for i) }}")
        assert ranges(program)["i"] == expected, subscript


def test_subscripts_bound_wherever_they_stand(sound: Sound) -> None:
    program = sound("op f(X: f32[N], I: i32[K]) -> y: f32 { y = sum(X[I[k]] for k) }")
    assert ranges(program)["k"] == "0..K"
    program = sound("op f(X: f32[N], c: bool) -> y: f32 { y = sum(X[k] if c else 0 for k) }")
    assert ranges(program)["k"] == "0..N"
    program = sound("op f(X: f32[N], keep: bool[N]) -> y: i32 { y = sum(i32(1) for k if keep[k]) }")
    assert ranges(program)["k"] == "0..N"


def test_the_tightest_of_several_bounds_counts(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[N]) -> Y: f32[N - 2] { t[i] = X[i] + X[i + 1] + X[i + 2]\n Y[i] = t[i] }",
    )
    assert ranges(program)["i"] == "0..N - 2 0..N - 2"
    assert shape(program, "t") == ["N - 2"]


def test_a_fact_makes_a_bound_the_tightest(sound: Sound) -> None:
    program = sound("op f(X: f32[M], Z: f32[K]) -> y: f32 where M <= K { y = sum(X[i] * Z[i] for i) }")
    assert ranges(program)["i"] == "0..M"
    program = sound("op f(X: f32[M], Z: f32[K]) -> y: f32 where M % 2 == 0, M//2 <= K { y = sum(X[2*i] * Z[i] for i) }")
    assert ranges(program)["i"] == "0..(M + 1)//2"


def test_two_bounds_of_which_neither_is_tighter(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[M], Z: f32[K]) -> y: f32 { y = sum(X[i] * Z[i] for i) }")
    assert error.code == "ambiguous-range"
    assert "M" in error.message
    assert "K" in error.message
    assert error.notes[0] == "M against K: with M = 0, K = 1 they are 0 and 1, but with M = 1, K = 0 they are 1 and 0"
    assert "`where M <= K`" in error.notes[1]


def test_a_boundary_bounds_nothing(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N]) -> y: f32 { y = sum(X[k | 0] for k) }")
    assert error.code == "unbounded-index"
    assert "`k`" in error.message


def test_a_subscript_with_two_indices_bounds_nothing(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N], Z: f32[N]) -> y: f32 { y = sum(X[k + r] * Z[r] for k, r in 0..2) }")
    assert error.code == "unbounded-index"


def test_a_remainder_bounds_nothing(wrong: Wrong) -> None:
    assert wrong("op f(X: f32[8]) -> y: f32 { y = sum(X[k % 8] for k) }").code == "unbounded-index"


def test_a_self_reference_bounds_nothing(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { t[i] = X[i] + t[i - 1 | 0]\n Y[i] = t[i] }")
    assert ranges(program)["i"] == "0..N 0..N"


def test_nothing_bounds_a_reduction_index(wrong: Wrong) -> None:
    error = wrong("op free(X: f32[N]) -> y: f32 where N >= 1 { y = sum(X[0] for k) }")
    assert error.code == "unbounded-index"
    assert "`k`" in error.message


def test_two_reductions_may_use_one_name(sound: Sound) -> None:
    program = sound("op f(X: f32[N], Z: f32[K]) -> y: f32 { y = sum(X[k] for k) + sum(Z[k] for k) }")
    assert ranges(program)["k"] == "0..N 0..K"


def test_a_left_hand_index_starts_at_zero(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N - 1] { t[i] = X[i + 1]\n Y[i] = t[i] }")
    assert ranges(program)["i"] == "0..N - 1 0..N - 1"


# ---- readers


def test_an_open_intermediate_takes_what_its_readers_read(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { t[i] = X[i - 1 | 0]\n Y[i] = t[i] + t[i + 2] }")
    assert ranges(program)["i"] == "0..N + 2 0..N"
    assert shape(program, "t") == ["N + 2"]


def test_readers_of_readers(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[N]) -> Y: f32[N] { a[i] = X[i | 0]\n b[i] = a[i] + a[i + 1]\n Y[i] = b[i] + b[i + 1] }",
    )
    assert shape(program, "b") == ["N + 1"]
    assert shape(program, "a") == ["N + 2"]


def test_readers_in_a_reduction(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { t[i] = X[i | 0]\n Y[i] = sum(t[i + r] for r in 0..3) }")
    assert shape(program, "t") == ["N + 2"]


def test_readers_by_a_remainder(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { t[i, j] = X[i + j | 0]\n Y[p] = t[p//8, p % 8] }")
    assert shape(program, "t") == ["(N + 7)//8", "8"]


def test_several_readers_need_not_agree(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[M], W: f32[K]) -> (Y: f32[M], Z: f32[K]) { t[i] = X[i | 0]\n Y[i] = t[i]\n Z[i] = t[i] }",
    )
    assert shape(program, "t") == ["max(K, M)"]


def test_readers_with_a_boundary_count_only_alone(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { t[i] = X[i | 0]\n Y[i] = t[i] + t[i + 1 | 0] }")
    assert shape(program, "t") == ["N"]
    program = sound("op f(X: f32[N]) -> Y: f32[N] { t[i] = X[i | 0]\n Y[i] = t[i + 1 | 0] }")
    assert shape(program, "t") == ["N + 1"]


def test_readers_under_a_condition(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { t[i] = X[i | 0]\n Y[i] = t[i + 1] if i + 1 < N else 0 }")
    assert shape(program, "t") == ["N"]


def test_no_readers(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N]) -> Y: f32[N] { t[i] = X[i | 0]\n Y[i] = X[i] }")
    assert error.code == "unbounded-index"
    assert "`t`" in error.notes[0]


def test_tensors_that_read_each_other(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[T]) -> H: f32[T] { c[t] = X[t] + H[t - 1 | 0]\n H[t] = 0.5*c[t] }",
    )
    assert ranges(program)["t"] == "0..T 0..T"
    program = sound(
        "op f(X: f32[T]) -> Y: f32[T] { c[t] = X[t] + h[t - 1 | 0]\n h[t] = 0.5*c[t]\n Y[t] = h[t] }",
    )
    assert shape(program, "c") == ["T"]
    assert shape(program, "h") == ["T"]


# ---- shapes


def test_the_shape_is_the_box_around_the_definitions(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[T]) -> y: f32 where T >= 2 { s[0] = X[0]\n s[t] = s[t - 1] + X[t] for t in 1..T\n y = s[T - 1] }",
    )
    assert shape(program, "s") == ["T"]


def test_a_size_is_never_negative(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> y: f32 { t[i] = X[i + 2]\n y = sum(t[i] for i) }")
    assert shape(program, "t") == ["max(0, N - 2)"]


def test_one_broken_range_is_reported_once(wrong: Wrong) -> None:
    text = "op f(X: f32[M], Z: f32[K]) -> y: f32 { t[i] = X[i] * Z[i]\n u[i] = 2*t[i]\n y = sum(u[i] for i) }"
    assert wrong(text).code == "ambiguous-range"


def test_two_broken_ranges_are_both_reported(check: Callable[[str], tuple[Program, tuple[Diagnostic, ...]]]) -> None:
    _, found = check("op f(X: f32[1]) -> (y: f32, z: f32) { y = sum(X[0] for k)\n z = sum(X[0] for r) }")
    assert [each.code for each in found] == ["unbounded-index", "unbounded-index"]


def test_sizes_with_numbers(sound: Sound) -> None:
    program = sound("op f(X: f32[5], Z: f32[3]) -> y: f32 { y = sum(X[2*i] * Z[i] for i) }")
    assert ranges(program)["i"] == "0..3"
