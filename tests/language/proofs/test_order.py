"""Recurrences run in an order in which every element comes after those it reads, or are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tdl.language import forms
from tdl.language.diagnostic import Diagnostic
from tdl.language.tree import Program, Run, Step, Sweep

Sound = Callable[[str], Program]
Wrong = Callable[[str], Diagnostic]

HEAD = "op f(X: f32[N, N]) -> Y: f32[N, N] "
BOTH_WAYS = "N = 2: `Y[0, 0]` reads `Y[1, 0]`, and `Y[1, 0]` reads `Y[0, 0]`"


def show(steps: tuple[Step, ...]) -> str:
    """`0 [1 up:0,1 1]`: runs by number, sweeps with their direction and axes."""
    return " ".join(_show(step) for step in steps)


def _show(step: Step) -> str:
    match step:
        case Run(definition):
            return str(definition)
        case Sweep(axes, ascending, _, _, body):
            inside = ",".join(f"{number}.{axis}" for number, axis in sorted(axes.items()))
            return f"[{'up' if ascending else 'down'} {inside}: {show(body)}]"


# ---- without recurrences


def test_definitions_run_after_what_they_read(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> Y: f32[N] { Y[i] = a[i] + b[i]\n b[i] = 2*a[i]\n a[i] = X[i] }")
    assert show(program.steps) == "2 1 0"


def test_text_order_otherwise(sound: Sound) -> None:
    program = sound("op f(X: f32[N]) -> (A: f32[N], B: f32[N]) { B[i] = X[i]\n A[i] = X[i] }")
    assert show(program.steps) == "0 1"


def test_a_read_in_a_subscript_or_a_range_counts(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[N], I: i64[N]) -> Y: f32[N] { Y[i] = X[p[i] | 0]\n p[i] = I[i] }",
    )
    assert show(program.steps) == "1 0"
    program = sound(
        "op f(X: f32[N], I: i64[N]) -> Y: f32[N] { Y[i] = sum(X[k | 0] for k in 0..p[i])\n p[i] = I[i] }",
    )
    assert show(program.steps) == "1 0"


# ---- one tensor


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("Y[i, j] = X[i, j] + Y[i - 1, j | 0]", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + Y[i + 1, j | 0]", "[down 0.0: 0]"),
        ("Y[i, j] = X[i, j] + Y[i, j - 1 | 0]", "[up 0.1: 0]"),
        ("Y[i, j] = X[i, j] + Y[i - 1, j + 1 | 0]", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + Y[i - 1, j | 0] + Y[i, j - 1 | 0]", "[up 0.0: [up 0.1: 0]]"),
        ("Y[i, j] = X[i, j] + Y[i - 1, j - 2 | 0] + Y[i, j + 1 | 0]", "[up 0.0: [down 0.1: 0]]"),
        ("Y[i, j] = X[i, j] + Y[i, j - 1 | 0] + Y[i + 1, j - 1 | 0]", "[up 0.1: 0]"),
        ("Y[i, j] = X[i, j] + sum(Y[k, j] for k in 0..i)", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + sum(Y[k, j] for k in i + 1..N)", "[down 0.0: 0]"),
        ("Y[i, j] = X[i, j] + sum(Y[i - r, j - s | 0] for r in 0..2, s in 0..2 if r + s > 0)", "[up 0.0: [up 0.1: 0]]"),
        ("Y[i, j] = X[i, j] + (Y[i - 1, j] if i > 0 else 0)", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + (Y[N - 1 - i, j] if 2*i >= N else 0)", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + (Y[j, i] if j < i else 0)", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + (Y[i//2, j] if i > 0 else 0)", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + Y[i - N, j | 0]", "0"),
        ("Y[i, j] = X[i, j] + (Y[i - 1, j | edge] if i > 0 else 0)", "[up 0.0: 0]"),
        ("Y[i, j] = X[i, j] + Y[i - 1, i64(X[i, j]) | 0]", "[up 0.0: 0]"),
    ],
)  # fmt: skip
def test_a_recurrence(sound: Sound, body: str, steps: str) -> None:
    assert show(sound(HEAD + "{ " + body + " }").steps) == steps


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("Y[i, j] = Y[i, j]", "N = 1: `Y[0, 0]` reads itself"),
        ("Y[i, j] = Y[i + 1, j | 0] + Y[i - 1, j | 0]", BOTH_WAYS),
        ("Y[i, j] = Y[j, i]", "N = 1: `Y[0, 0]` reads itself"),
        ("Y[i, j] = Y[i - 1, j | edge]", "N = 1: `Y[0, 0]` reads itself"),
        ("Y[i, j] = Y[i - 1, j | wrap]", "N = 1: `Y[0, 0]` reads itself"),
        ("Y[i, j] = X[i, j] + (Y[i - 1, j | mirror] if N > 1 else 0)", BOTH_WAYS),
        ("Y[i, j] = Y[i64(X[i, j]), j | 0]", "N = 1: `Y[0, 0]` reads itself"),
        ("Y[i, j] = Y[i, j + 1 | 0] + Y[i + 1, j - 1 | 0] + Y[i - 1, j + 1 | 0]", None),
    ],
)  # fmt: skip
def test_a_cycle(wrong: Wrong, body: str, note: str | None) -> None:
    error = wrong(HEAD + "where N >= 1 { " + body + " }")
    assert error.code == "cycle"
    assert "depends on itself" in error.message
    assert error.notes[0] == note or note is None


def test_facts_and_filters_are_assumed(sound: Sound) -> None:
    program = sound("op f(X: f32[N], Z: f32[D]) -> Y: f32[N] where D >= 1 { Y[i] = X[i] + Y[i - D | 0] }")
    assert show(program.steps) == "[up 0.0: 0]"


def test_a_lag_that_may_be_zero(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N], Z: f32[D]) -> Y: f32[N] { Y[i] = X[i] + Y[i - D | 0] }")
    assert error.code == "cycle"
    assert error.notes[0] == "N = 1, D = 0: `Y[0]` reads itself"


def test_a_lag_known_only_with_sizes_is_owed(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[N], Z: f32[D], W: f32[E]) -> Y: f32[N] where D >= 1, E >= 1 { Y[i] = X[i] + Y[i - D*E | 0] }",
    )
    assert [each.kind for each in program.obligations] == ["order"]


def test_a_cycle_besides_an_unknown_lag(wrong: Wrong) -> None:
    error = wrong(
        "op f(X: f32[N], Z: f32[D]) -> Y: f32[N] where D >= 1 { Y[i] = X[i] + Y[i - D*D | 0] + Y[i + 1 | 0] + Y[i] }",
    )
    assert error.code == "cycle"


def test_sizes_with_numbers(sound: Sound, wrong: Wrong) -> None:
    assert show(sound("op f(X: f32[4]) -> Y: f32[4] { Y[i] = X[i] + Y[i - 2*3 | 0] }").steps) == "0"
    assert wrong("op f(X: f32[4]) -> Y: f32[4] { Y[i] = X[i] + Y[3 - i] }").code == "cycle"


# ---- several definitions and tensors


def test_pieces_outside_the_recurrence_run_once(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[T, N]) -> S: f32[T, N] where T >= 1 {\n S[0, j] = X[0, j]\n"
        " S[t, j] = S[t - 1, j] + X[t, j] for t in 1..T }"
    )
    assert show(program.steps) == "0 [up 1.0: 1]"


def test_pieces_of_one_recurrence_share_a_sweep(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[N]) -> Y: f32[N] {\n Y[i] = X[i] + Y[i - 1 | 0] for i in 0..N if i % 2 == 0\n"
        " Y[i] = X[i] - Y[i - 1] for i in 0..N if i % 2 == 1 }"
    )
    assert show(program.steps) == "[up 0.0,1.0: 0 1]"


def test_tensors_that_read_each_other(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[T, N]) -> H: f32[T, N] {\n H[t, j] = 0.5*c[t, j]\n c[t, j] = X[t, j] + H[t - 1, j | 0] }",
    )
    assert show(program.steps) == "[up 0.0,1.0: 1 0]"


def test_tensors_with_different_axes(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[T, N]) -> H: f32[T, N] {\n c[j, t] = X[t, j] + H[t - 1, j | 0]\n H[t, j] = 0.5*c[j, t] }",
    )
    assert show(program.steps) == "[up 0.1,1.0: 0 1]"


def test_a_cycle_through_another_tensor(wrong: Wrong) -> None:
    error = wrong("op f(X: f32[N]) -> Y: f32[N] {\n Y[i] = X[i] + t[i]\n t[i] = 2*Y[i] }")
    assert error.code == "cycle"
    assert "through `t`" in error.message
    assert error.notes[0] == "N = 1: `Y[0]` reads `t[0]`, and `t[0]` reads `Y[0]`"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("op back(U: f64[N, N]) -> x: f64[N] { x[i] = 1 - sum(U[i, k] * x[k] for k in i + 1..N) }", "[down 0.0: 0]"),
        ("op chain(p: i64[N + 1]) -> c: i64 where N >= 1 {\n m[d, i] = 0 for d in 0..1, i in 0..N\n"
         " m[d, i] = min(m[k, i] + m[d - 1 - k, i + k + 1] for k in 0..d if i + d < N) for d in 1..N, i in 0..N\n"
         " c = m[N - 1, 0] }", "0 [up 1.0: 1] 2"),
        ("op knapsack(w: i64[K], v: i32[K], Z: f32[W]) -> best: i32 {\n D[0, c] = 0 for c in 0..W+1\n"
         " D[k, c] = max(D[k - 1, c], D[k - 1, c - w[k - 1] | 0] + v[k - 1]) for k in 1..K+1, c in 0..W+1\n"
         " best = D[K, W] }", "0 [up 1.0: 1] 2"),
        ("op iir(X: f32[C, T], a: f32[P]) -> Y: f32[C, T] {\n"
         " Y[c, t] = X[c, t] - sum(a[p] * Y[c, t - p - 1 | 0] for p) }", "[up 0.1: 0]"),
        ("op power(A: f32[N, N]) -> r: f32[N] {\n s[0, i] = 1\n"
         " s[k, i] = sum(A[i, j] * s[k - 1, j] for j) for k in 1..6\n r[i] = s[5, i] }", "0 [up 1.0: 1] 2"),
        ("op cell(X: f32[T], h0: f32) -> H: f32[T + 1] {\n H[0] = h0\n g[t] = X[t] * H[t]\n"
         " H[t] = g[t - 1] for t in 1..T + 1 }", "0 [up 1.0,2.0: 2 1]"),
    ],
)  # fmt: skip
def test_programs_as_people_write_them(sound: Sound, text: str, steps: str) -> None:
    assert show(sound(text).steps) == steps


def test_several_results_in_a_recurrence(sound: Sound) -> None:
    program = sound(
        "op viterbi(E: f32[T, S], A: f32[S, S]) -> (V: f32[T, S], P: i32[T, S]) where T >= 1 {\n"
        " V[0, s] = E[0, s]\n P[0, s] = 0\n"
        " (V[t, s], P[t, s]) = argmax((V[t - 1, r] + A[r, s] + E[t, s], i32(r)) for r) for t in 1..T }"
    )
    assert show(program.steps) == "0 1 [up 2.0: 2]"


def test_a_sweep_goes_over_the_hull(sound: Sound) -> None:
    program = sound(
        "op f(X: f32[T]) -> H: f32[T] where T >= 1 {\n c[0] = X[0]\n c[t] = H[t - 1] for t in 1..T\n H[t] = c[t] }",
    )
    _, sweep = program.steps
    assert isinstance(sweep, Sweep)
    assert (str(sweep.lo), str(sweep.hi)) == ("0", "T")


# ---- against small sizes


def batches(program: Program, referee, sizes) -> Iterator[list[tuple[int, dict]]]:  # type: ignore[no-untyped-def,type-arg]
    """The instances in the order of the steps; those of one batch in any order."""
    yield from _batches(program, referee, sizes, program.steps, {})


def _batches(program, referee, sizes, steps, fixed):  # type: ignore[no-untyped-def]
    for step in steps:
        if isinstance(step, Run):
            (definition,) = (d for d in program.definitions if d.number == step.definition)
            found = []
            for values in referee.instances(definition, sizes):
                element = referee.element(definition.targets[0].coordinates, values)
                if all(element[axis] == value for axis, value in fixed.get(definition.number, ())):
                    found.append((definition, values))
            yield found
        else:
            values = range(forms.evaluate(step.lo, sizes), forms.evaluate(step.hi, sizes))
            for value in values if step.ascending else reversed(values):
                now = dict(fixed)
                for number, axis in step.axes.items():
                    now[number] = (*fixed.get(number, ()), (axis, value))
                yield from _batches(program, referee, sizes, step.body, now)


def assert_in_order(program: Program, referee, limit: int) -> None:  # type: ignore[no-untyped-def]
    """Every instance runs once, after all that it reads inside of a tensor."""
    for sizes in referee.sizes(program, limit):
        written: set[tuple[str, tuple[int, ...]]] = set()
        for batch in batches(program, referee, sizes):
            for definition, values in batch:
                for access, element in referee.accesses(definition.value, values):
                    if program.tensors[access.tensor].role == "input":
                        continue
                    if referee.is_inside(program, access.tensor, element, sizes):
                        assert (access.tensor, element) in written
            for definition, values in batch:
                for target in definition.targets:
                    element = (target.tensor, referee.element(target.coordinates, values))
                    assert element not in written
                    written.add(element)
        for name in program.outputs:
            shape = referee.shape(program, name, sizes)
            assert all((name, element) in written for element in product(*map(range, shape)))


def has_order(reads: list[tuple[int, int]]) -> bool:
    """Whether some permutation and directions put (0, 0) behind all the offsets."""
    for axes in permutations(range(2)):
        for signs in product((1, -1), repeat=2):
            if all(tuple(sign * read[axis] for axis, sign in zip(axes, signs)) < (0, 0) for read in reads):
                return True
    return False


def has_shared_order(there: list[tuple[int, int]], back: list[tuple[int, int]]) -> bool:
    """The same for two tensors, of which one may come first at equal coordinates."""
    return any(
        all(tuple(sign * read[axis] for axis, sign in zip(axes, signs)) <= (0, 0) for read in (*there, *back))
        and not ((0, 0) in there and (0, 0) in back)
        for axes in permutations(range(2))
        for signs in product((1, -1), repeat=2)
    )


OFFSETS = st.tuples(st.integers(-2, 2), st.integers(-2, 2))


@settings(max_examples=150, deadline=None)
@given(st.lists(OFFSETS, min_size=1, max_size=3))
def test_verdicts_equal_a_search_for_an_order(check, referee, reads) -> None:  # type: ignore[no-untyped-def]
    terms = " + ".join(f"Y[i + {a}, j + {b} | 0]" for a, b in reads)
    program, found = check(f"op f(X: f32[N, M]) -> Y: f32[N, M] {{ Y[i, j] = X[i, j] + {terms} }}")
    if has_order(reads):
        assert not found
        assert_in_order(program, referee, 4)
    else:
        assert [each.code for each in found] == ["cycle"]


@settings(max_examples=60, deadline=None)
@given(st.lists(OFFSETS, min_size=1, max_size=2), st.lists(OFFSETS, min_size=1, max_size=2), st.booleans())
def test_two_tensors_run_in_order(check, referee, there, back, is_transposed) -> None:  # type: ignore[no-untyped-def]
    left, at = ("t[j, i]", "t[j + {1}, i + {0} | 0]") if is_transposed else ("t[i, j]", "t[i + {0}, j + {1} | 0]")
    reads = " + ".join(at.format(*read) for read in there)
    others = " + ".join(f"Y[i + {a}, j + {b} | 0]" for a, b in back)
    size = "M, N" if is_transposed else "N, M"
    program, found = check(
        f"op f(X: f32[N, M]) -> Y: f32[N, M] {{\n let t: f32[{size}]\n"
        f" Y[i, j] = {reads}\n {left} = X[i, j] + {others} }}"
    )
    if found:
        assert [each.code for each in found] == ["cycle"]
        assert not has_shared_order(there, back)
    else:
        assert_in_order(program, referee, 3)


@pytest.mark.parametrize(
    "text",
    [
        "op f(X: f32[T, N]) -> S: f32[T, N] where T >= 1 {\n"
        " S[0, j] = X[0, j]\n S[t, j] = S[t - 1, j] + X[t, j] for t in 1..T }",
        "op f(A: f32[M], B: f32[N]) -> D: f32[M + 1, N + 1] {\n D[0, j] = 0 for j in 0..N+1\n"
        " D[i, 0] = 0 for i in 1..M+1\n D[i, j] = D[i-1, j] + D[i, j-1] + D[i-1, j-1] for i in 1..M+1, j in 1..N+1 }",
        "op f(X: f32[N]) -> Y: f32[N] {\n Y[i] = Y[i + 1 | 0] for i in 0..N if i % 2 == 0\n"
        " Y[i] = Y[i + 1 | 0] for i in 0..N if i % 2 == 1 }",
        "op f(X: f32[N]) -> Y: f32[N] {\n Y[i] = X[i] for i in 0..N if i % 2 == 0\n"
        " Y[i] = Y[i - 1] for i in 0..N if i % 2 == 1 }",
        "op f(L: f32[N, N]) -> Y: f32[N] { Y[i] = 1 - sum(L[i, k] * Y[k] for k in i + 1..N) }",
        "op f(X: f32[N]) -> (A: f32[N], B: f32[N]) {\n A[i] = X[i] + B[i - 1 | 0]\n B[i] = A[i] + B[i - 2 | 0] }",
    ],
)
def test_programs_run_in_order(sound: Sound, referee, text: str) -> None:  # type: ignore[no-untyped-def]
    assert_in_order(sound(text), referee, 4)
