"""Whole definitions, compiled and evaluated: accesses, reductions, laziness, recurrences, failures."""

from __future__ import annotations

import numpy as np
import pytest
from tdl.language.arrays import numpy_dtype
from tdl.language.dtypes import DTYPES
from tdl.language.failure import DivisionByZero, OutOfBounds


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def doubles(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def integers(lo: int, hi: int, *shape: int, dtype: type = np.int32) -> np.ndarray:
    return np.random.default_rng([hi, *shape]).integers(lo, hi, shape).astype(dtype)


# ---- accesses


@pytest.mark.parametrize("size", [1, 2, 3, 8])
@pytest.mark.parametrize("outside", ["0", "-7.5", "edge", "wrap", "mirror"])
def test_boundaries(check_both, size, outside):
    fact = "where N >= 1" if outside.isalpha() else ""
    text = f"op f(x: f32[N], k: i64[K]) -> y: f32[N, K] {fact} {{ y[i, j] = x[i + k[j] | {outside}] }}"
    check_both(text, floats(size), np.arange(-20, 20), exact=True)
    text = f"""op f(x: f32[N, M]) -> y: f32[N, M] {fact} {fact and ", M >= 1"} {{
        y[i, j] = sum(x[i + r, 2*j - s | {outside}] for r in -2..3, s in -1..4) }}"""
    check_both(text, floats(size, size + 1))


@pytest.mark.parametrize("outside", ["0", "edge", "wrap", "mirror"])
def test_boundaries_take_any_subscript(check_both, outside):
    """Also those near the ends of the 64 bits, where sums have wrapped."""
    far = np.array([-(1 << 63), (1 << 63) - 1, -(1 << 62), 1 << 62, -1, 0, 5])
    text = f"op f(x: f32[N], k: i64[K]) -> y: f32[K] where N >= 1 {{ y[j] = x[k[j] | {outside}] }}"
    check_both(text, floats(5), far, exact=True)


GATHER = "op f(x: f32[N], k: {}[K]) -> y: f32[K] {{ y[j] = x[k[j]] }}"


@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "i64", "u64"])
def test_access_through_data(check_both, dtype):
    check_both(GATHER.format(dtype), floats(5), np.array([4, 0, 2], numpy_dtype(DTYPES[dtype])), exact=True)


@pytest.mark.parametrize(("dtype", "subscript"), [("i32", 5), ("i32", -1), ("u64", (1 << 64) - 1), ("i64", -(1 << 63))])
def test_access_through_data_is_checked(check_both, dtype, subscript):
    failure = check_both(GATHER.format(dtype), floats(5), np.array([4, subscript], numpy_dtype(DTYPES[dtype])))
    assert isinstance(failure, OutOfBounds)
    assert "x" in str(failure)
    assert "size 5" in str(failure) or "5 elements" in str(failure)


def test_the_first_failure_is_reported_with_its_place(load_text):
    text = "op f(x: f32[N], k: i32[K]) -> y: f32[K] { y[j] = x[0 | 0] + x[k[j]] }"
    with pytest.raises(OutOfBounds) as raised:
        load_text(text).f(floats(5), np.array([1, 7, 9], np.int32))
    assert text[raised.value.span.start : raised.value.span.end] == "x[k[j]]"
    assert "7" in str(raised.value)


@pytest.mark.parametrize(
    "value",
    [
        "x[k[j]] if k[j] >= 0 and k[j] < i32(N) else 0",
        "0 if k[j] < 0 or k[j] >= i32(N) else x[k[j]]",
        "sum(x[i64(k[j])] for q in 0..3) if k[j] == 2 else max(x[i] for i)",
        "f32(7 // k[j]) if k[j] != 0 else -1",
        "1 if k[j] != 0 and 7 % k[j] == 1 else 0",
        "1 if k[j] == 0 or 7 % k[j] == 1 else 0",
    ],
)
def test_only_what_is_chosen_runs(check_both, value):
    check_both(f"op f(x: f32[N], k: i32[K]) -> y: f32[K] {{ y[j] = {value} }}", floats(5), integers(-3, 9, 40))


@pytest.mark.parametrize("sign", ["//", "%"])
@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "u16", "u64"])
def test_division_by_zero_fails(check_both, sign, dtype):
    kind = numpy_dtype(DTYPES[dtype])
    text = f"op f(x: {dtype}[N], y: {dtype}[N]) -> z: {dtype}[N] {{ z[i] = x[i] {sign} y[i] }}"
    failure = check_both(text, np.array([1, 2], kind), np.array([3, 0], kind))
    assert isinstance(failure, DivisionByZero)


def test_one_remainder_for_several_lanes(check_both):
    """LLVM's vectoriser would take the subscript from the first lane, which the filter leaves out."""
    text = """op f(x: i32[M]) -> z: i32[2*M, 33] where M >= 1 {{
        z[i, j] = {0} for i in 0..2*M, j in 0..33 if j % 2 == 1
        z[i, j] = 0 for i in 0..2*M, j in 0..33 if j % 2 == 0 }}"""
    for value in ("x[i | wrap]", "x[i | mirror]", "x[i % M]", "x[0] // max(x[i | edge], 2)"):
        check_both(text.format(value), integers(1, 99, 5))


# ---- reductions


@pytest.mark.parametrize("size", [0, 1, 2, 33])
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i8", "u8", "i32", "u64"])
@pytest.mark.parametrize("reducer", ["sum", "prod", "max", "min"])
def test_reducers(check_both, reducer, dtype, size):
    """Along the contiguous axis, along the other, over both with a filter; none, one and many elements."""
    kind = DTYPES[dtype]
    data = (
        floats(size, 3) * 3 if kind.is_float else integers(kind.least // 2, kind.greatest // 2, size, 3, dtype=object)
    )
    data = data.astype(numpy_dtype(kind))
    check_both(f"op f(x: {dtype}[N, M]) -> y: {dtype}[M] {{ y[j] = {reducer}(x[i, j] for i) }}", data)
    check_both(f"op f(x: {dtype}[N, M]) -> y: {dtype}[N] {{ y[i] = {reducer}(x[i, j] for j) }}", data)
    check_both(f"op f(x: {dtype}[N, M]) -> y: {dtype} {{ y = {reducer}(x[i, j] for i, j if i != j) }}", data)


def odd_rows() -> np.ndarray:
    rows = floats(20, 7)
    rows[3, 2] = rows[4, 6] = np.nan
    rows[5], rows[6], rows[7] = np.nan, -np.inf, np.inf
    rows[8, 3] = rows[8, 5] = 99
    rows[9, 1:3] = 0.0, -0.0
    return rows


@pytest.mark.parametrize("reducer", ["max", "min"])
def test_extremes_of_nan_and_infinities(check_both, reducer):
    check_both(f"op f(x: f32[N, M]) -> y: f32[N] {{ y[i] = {reducer}(x[i, j] for j) }}", odd_rows())
    check_both(f"op f(x: f32[N, M]) -> y: f32[M] {{ y[j] = {reducer}(x[i, j] for i) }}", odd_rows())


@pytest.mark.parametrize("reducer", ["argmax", "argmin"])
@pytest.mark.parametrize("only", ["", " if j % 2 == 1", " if j > 99"])
def test_first_best(check_both, reducer, only):
    text = f"""op f(x: f32[N, M]) -> (v: f32[N], k: i64[N], w: f32[N]) {{
        (v[i], k[i], w[i]) = {reducer}((x[i, j], j + 3, 2*x[i, j]) for j{only}) }}"""
    check_both(text, odd_rows(), exact=True)
    check_both(text, odd_rows()[:, :0].copy(), exact=True)
    text = f"op f(x: i8[N, M]) -> (v: i8[N], k: i64[N]) {{ (v[i], k[i]) = {reducer}((x[i, j], j) for j{only}) }}"
    check_both(text, integers(-128, 128, 9, 9, dtype=np.int8), exact=True)


@pytest.mark.parametrize("reducer", ["any", "all"])
def test_reducers_of_bool(check_both, reducer):
    data = integers(0, 2, 30, 3, dtype=np.bool_)
    for rows in (data, data[:, :0].copy()):
        check_both(f"op f(x: bool[N, M]) -> y: bool[N] {{ y[i] = {reducer}(x[i, j] for j) }}", rows)
        check_both(f"op f(x: bool[M, N]) -> y: bool[N] {{ y[i] = {reducer}(x[j, i] for j) }}", rows)


CASES = {
    "nested": (
        "op f(x: f32[N, M]) -> y: f32[N] { y[i] = sum(x[i, j] * max(x[i, k] + 1 for k in 0..j+1) for j) }",
        floats(5, 6),
    ),
    "several": (
        """op f(x: f32[N, M]) -> y: f32[N] {
            y[i] = sum(sum(x[i, k]*x[i, j] for k in 0..j) / (1 + abs(sum(x[n, j] for n))) for j)
                 / max(x[i, j] for j) }""",
        floats(5, 6),
    ),
    "under a filter": (
        """op f(x: f32[N, N]) -> y: f32[N] {
            y[i] = sum(x[i, j] for j)           for i in 0..N if i % 2 == 0
            y[i] = max(x[i, j] for j if j < i)  for i in 0..N if i % 2 == 1 }""",
        floats(5, 5),
    ),
    "in a subscript": (
        "op f(x: f32[N], k: i32[K]) -> y: f32 { y = x[sum(k[j] for j) | 0] }",
        floats(5),
        np.array([1, 2], np.int32),
    ),
    "in a range": (
        """op f(x: f32[N], k: i32[K]) -> y: f32[K] {
            y[j] = sum(x[q] for q in 0..i64(max(k[p] for p in 0..j+1)) if q < N) }""",
        floats(5),
        np.array([1, 2, 9], np.int32),
    ),
    "sparse rows": (
        """op f(ptr: i32[M], col: i32[P], v: f32[P], x: f32[N]) -> y: f32[M - 1] where M >= 1 {
            y[i] = sum(v[p] * x[col[p]] for p in ptr[i]..ptr[i+1]) }""",
        np.array([0, 2, 2, 5], np.int32),
        np.array([0, 3, 1, 1, 2], np.int32),
        floats(5),
        floats(4),
    ),
    "half floats widen in sums": (
        "op f(x: f16[N, K], y: f16[K]) -> z: f16[N] { z[i] = sum(exp(x[i, k]) * y[k] for k) }",
        floats(20, 50).astype(np.float16),
        floats(50).astype(np.float16),
    ),
    "quantised": (
        "op f(x: u8[N, K], w: i8[K]) -> z: f32[N] { z[i] = f32(sum(i32(x[i, k]) * i32(w[k]) for k)) * 0.5 }",
        integers(0, 256, 5, 9, dtype=np.uint8),
        integers(-128, 128, 9, dtype=np.int8),
    ),
    "a reducer of its own": (
        """reducer lse[T: float](a: T, b: T) -> T {
            identity -inf
            combine a if b == -inf else b if a == -inf else max(a, b) + log(1 + exp(-abs(a - b))) }
op f(x: f64[N, M]) -> y: f64[N] { y[i] = lse(x[i, j] for j) }""",
        doubles(4, 9),
    ),
    "a reducer of several values": (
        """reducer moments((m: f64, s: f64, n: f64), (m2: f64, s2: f64, n2: f64)) -> (f64, f64, f64) {
            identity (0, 0, 0)
            combine ((m*n + m2*n2) / max(n + n2, 1), s + s2 + (m2 - m)**2 * n * n2 / max(n + n2, 1), n + n2) }
op f(x: f64[N, M]) -> (y: f64[N], z: f64[N], c: f64[N]) {
            (y[i], z[i], c[i]) = moments((x[i, j], 0, 1) for j if x[i, j] < 1) }""",
        doubles(4, 9),
    ),
    "piecewise": (
        """op f(x: f32[N]) -> y: f32[N + 4] {
            y[0]     = 1
            y[1]     = 2
            y[i]     = x[i - 2] for i in 2..N+2
            y[N + 2] = 3
            y[N + 3] = sum(x[i] for i) }""",
        floats(5),
    ),
    "filtered parts": (
        """op f(x: f32[N, N]) -> y: f32[N, N] {
            y[i, j] = x[i, j]  for i in 0..N, j in 0..N if i < j
            y[i, j] = -x[j, i] for i in 0..N, j in 0..N if i > j
            y[i, k] = 7        for i in 0..N, k in 0..N if i == k }""",
        floats(5, 5),
    ),
    "division of indices": (
        "op f(x: f32[N]) -> y: f32[N] { y[i] = x[i // 2 * 2] + x[i // 3] + x[(i * 5) % N] }",
        floats(11),
    ),
    "triangular intermediate": (
        "op f(x: f32[N]) -> y: f32[N] { a[i, j] = x[i]*x[j]\n y[i] = sum(a[i, j] for j in 0..i) }",
        floats(5),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_definitions(check_both, case):
    text, *arrays = CASES[case]
    check_both(text, *arrays)


# ---- recurrences

RECURRENCES = {
    "backwards": (
        """op f(x: f32[N]) -> y: f32[N] where N >= 1 {
            y[N - 1] = x[N - 1]
            y[i] = x[i] + 0.5*y[i + 1] for i in 0..N-1 }""",
        floats(9),
    ),
    "two axes": (
        "op f(x: f32[N, M]) -> y: f32[N, M] { y[i, j] = x[i, j] + max(y[i-1, j | 0], y[i, j-1 | 0]) }",
        floats(9, 7),
    ),
    "mixed directions": (
        "op f(x: f32[N, M]) -> y: f32[N, M] { y[i, j] = x[i, j] + max(y[i+1, j | 0], y[i, j-1 | 0]) }",
        floats(9, 7),
    ),
    "diagonal": (
        "op f(x: f32[N, M]) -> y: f32[N, M] { y[i, j] = x[i, j] + 0.5*y[i-1, j+1 | 0] + y[i-1, j-1 | 1] }",
        floats(9, 7),
    ),
    "mutual": (
        """op f(x: f32[N]) -> (a: f32[N], b: f32[N]) {
            a[t] = x[t] + 0.5*b[t - 1 | 0]
            b[u] = 2*a[u] - 0.1*a[u - 1 | 1] }""",
        floats(12),
    ),
    "network": (
        """op f(x: f32[T, D], w: f32[D, D]) -> h: f32[T, D] {
            h[t, d] = tanh(x[t, d] + sum(w[d, e]*h[t-1, e | 0] for e)) }""",
        floats(6, 4),
        floats(4, 4),
    ),
    "triangular solve": (
        "op f(L: f64[N, N], b: f64[N]) -> x: f64[N] { x[i] = (b[i] - sum(L[i, k]*x[k] for k in 0..i)) / L[i, i] }",
        np.tril(doubles(6, 6)) + 4 * np.eye(6),
        doubles(6),
    ),
    "Cholesky": (
        """op f(A: f64[N, N]) -> L: f64[N, N] {
            L[i, j] = (A[i, j] - sum(L[i, k]*L[j, k] for k in 0..j)) / L[j, j] for i in 0..N, j in 0..N if j < i
            L[i, j] = sqrt(A[i, j] - sum(L[i, k]*L[j, k] for k in 0..j))       for i in 0..N, j in 0..N if j == i
            L[i, j] = 0 for i in 0..N, j in 0..N if j > i }""",
        doubles(6, 6) @ doubles(6, 6).T + 6 * np.eye(6),
    ),
    "chosen by data": (
        "op f(p: i32[N], x: f32[N]) -> y: f32[N] { y[i] = x[i] + (y[i - 1 | 0] if p[i] > 0 else 0) }",
        integers(-1, 2, 9),
        floats(9),
    ),
}


@pytest.mark.parametrize("case", RECURRENCES)
def test_recurrences(check_both, case):
    text, *arrays = RECURRENCES[case]
    check_both(text, *arrays)


def test_parameters(check_both):
    text = """op f[a: f32 = 0.1, b: bool = true, k: int = 3, T: float = f32](x: T[N]) -> y: T[N] {
        y[i] = x[i]*T(a) + T(k) if b else -x[i] }"""
    check_both(text, floats(4), exact=True)
    check_both(text, doubles(4), a=-0.0, b=False, k=-4, exact=True)
    check_both(text, doubles(4), a=2.5, k=-4, exact=True)
