"""What reductions mean: `docs/language.md`, Reductions. Every test runs with several block sizes."""

import math

import numpy as np
import pytest
from tdl.language.arrays import numpy_dtype
from tdl.language.dtypes import DTYPES
from tdl.language.evaluate import boxes, programs
from tdl.language.failure import DivisionByZero, OutOfBounds

INF, NAN = math.inf, math.nan
NUMBERS = [dtype for dtype in DTYPES.values() if dtype.name != "bool"]


@pytest.fixture(autouse=True, params=[1, 7, 1 << 16], ids=lambda size: f"block{size}")
def _block(request, monkeypatch):
    monkeypatch.setattr(boxes, "BLOCK", request.param)
    monkeypatch.setattr(programs, "BOX", min(request.param, 16))


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def integers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.int32)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_empty_reductions_give_identities(run, dtype):
    least, greatest = (-INF, INF) if dtype.is_float else (dtype.least, dtype.greatest)
    for reducer, wanted in (("sum", 0), ("prod", 1), ("max", least), ("min", greatest)):
        Y = run(f"op f(X: {dtype}[N]) -> Y: {dtype} {{ Y = {reducer}(X[i] for i) }}", X=[])["Y"]
        assert (Y.item(), Y.dtype, Y.shape) == (wanted, numpy_dtype(dtype), ())


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_reductions_of_numbers(run, dtype):
    X = np.arange(1, 6).astype(numpy_dtype(dtype))
    for reducer, wanted in (("sum", 15), ("prod", 120), ("max", 5), ("min", 1)):
        Y = run(f"op f(X: {dtype}[N]) -> Y: {dtype} {{ Y = {reducer}(X[i] for i) }}", X=X)["Y"]
        assert (Y.item(), Y.dtype) == (wanted, X.dtype)


def test_any_and_all(run):
    text = "op f(X: bool[M, N]) -> (Y: bool[M], Z: bool[M]) { Y[i] = any(X[i, j] for j)\n Z[i] = all(X[i, j] for j) }"
    X = np.array([[False, False], [False, True], [True, True]])
    found = run(text, X=X)
    assert (found["Y"].tolist(), found["Z"].tolist()) == ([False, True, True], [False, False, True])
    found = run(text, X=X[:, :0])
    assert (found["Y"].tolist(), found["Z"].tolist()) == ([False] * 3, [True] * 3)


def test_integers_wrap_in_their_own_type(run):
    assert run("op f(X: i8[N]) -> s: i8 { s = sum(X[i] for i) }", X=[100, 100, 3])["s"] == -53
    assert run("op f(X: u8[N]) -> s: u8 { s = prod(X[i] for i) }", X=[100, 100])["s"] == 16
    assert run("op f(X: i32[N]) -> s: i32 { s = sum(X[i] * X[i] for i) }", X=[2**16, 3])["s"] == 9
    assert run("op f(X: i64[N]) -> s: i64 { s = sum(X[i] for i) }", X=[2**63 - 1, 1])["s"] == -(2**63)
    X = np.arange(-128, 128).astype(np.int8)
    products = run("op f(X: i8[N], W: i8[N]) -> s: i8 { s = sum(X[i] * W[i] for i) }", X=X, W=X[::-1])["s"]
    assert (products, products.dtype) == ((X * X[::-1]).sum(dtype=np.int8), np.int8)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_max_and_min_propagate_nan(run, dtype):
    text = f"""
    op f(X: {dtype}[M, N]) -> (Y: {dtype}[M], Z: {dtype}[M]) {{
        Y[i] = max(X[i, j] for j)
        Z[i] = min(X[i, j] for j)
    }}"""
    found = run(text, X=[[1, 2, 3], [NAN, 2, 3], [1, 2, NAN], [-INF, -INF, -INF]])
    np.testing.assert_array_equal(found["Y"].astype(float), [3, NAN, NAN, -INF])
    np.testing.assert_array_equal(found["Z"].astype(float), [1, NAN, NAN, -INF])


def test_f32_sums_stay_f32(run):
    X = np.array([2**24, 1, -(2**24)], np.float32)
    with_f64 = run("op f(X: f32[N]) -> s: f64 { s = sum(f64(X[i]) for i) }", X=X)["s"]
    assert (with_f64, with_f64.dtype) == (1, np.float64)
    assert run("op f(X: f32[N]) -> s: f32 { s = sum(X[i] for i) }", X=X)["s"] == 0


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_the_argument_of_a_sum_of_halves_is_evaluated_in_f32(run, dtype):
    ones = np.ones(3000, numpy_dtype(DTYPES[dtype]))
    Y = run(f"op f(X: {dtype}[N]) -> s: {dtype} {{ s = sum(X[i] for i) }}", X=ones)["s"]
    assert (float(Y), Y.dtype) == (float(numpy_dtype(DTYPES[dtype]).type(3000)), ones.dtype)
    wide = (
        f"op f(X: {dtype}[N]) -> s: {dtype} {{ s = sum(X[i] * X[i] * 0.001953125 for i) }}"  # the square overflows f16
    )
    assert run(wide, X=[400])["s"] == ones.dtype.type(312.5)  # the square is more than f16 holds
    narrow = f"op f(X: {dtype}[N]) -> s: {dtype} {{ s = sum(X[i] + 1 - X[i] for i) }}"
    assert float(run(narrow, X=[4096])["s"]) == 1


def test_filters_and_ranges(run):
    X = integers(20)
    keep = X > 0
    filtered = run("op f(X: i32[N], k: bool[N]) -> s: i32 { s = sum(X[i] for i if k[i]) }", X=X, k=keep)["s"]
    assert filtered == X[keep].sum()
    assert run("op f(X: i32[N]) -> s: i32 { s = max(X[i] for i if X[i] > 100) }", X=X)["s"] == -(2**31)
    assert run("op f(X: i32[N]) -> s: i32 where N >= 5 { s = sum(X[i] for i in 2..5) }", X=X)["s"] == X[2:5].sum()
    assert run("op f(X: i32[N]) -> s: i32 { s = sum(i32(i) for i in -3..2) }", X=X)["s"] == -5
    backwards = run("op f(X: i32[N]) -> s: i32 { s = prod(i32(i) for i in 5..2) }", X=X)["s"]
    assert backwards == 1


def test_ranges_may_depend_on_enclosing_and_earlier_indices(run):
    X = integers(9)
    before = run("op f(X: i32[N]) -> Y: i32[N] { Y[i] = sum(X[k] for k in 0..i) }", X=X)["Y"]
    assert before.tolist() == [X[:i].sum() for i in range(9)]
    triangle = "op f(X: i32[N]) -> s: i32 { s = sum(X[i] * X[j] for i in 0..N, j in 0..i) }"
    assert run(triangle, X=X)["s"] == sum(int(X[i]) * int(X[j]) for i in range(9) for j in range(i))
    three = "op f(X: i32[N]) -> s: i64 { s = sum(i64(1) for i in 0..N, j in i..N, k in i..j) }"
    assert run(three, X=X)["s"] == sum(1 for i in range(9) for j in range(i, 9) for k in range(i, j))


SPARSE = """op f(ptr: i32[R + 1], col: i32[E], val: f64[E], x: f64[C]) -> y: f64[R] {
    y[r] = sum(val[p] * x[col[p]] for p in ptr[r]..ptr[r + 1])
}"""


def test_ranges_may_depend_on_data(run):
    ptr, col, val = np.array([0, 3, 3, 4, 9], np.int32), integers(9) % 5, floats(9).astype(float)
    x = floats(5, seed=1).astype(float)
    y = run(SPARSE, ptr=ptr, col=col, val=val, x=x)["y"]
    wanted = [sum(val[p] * x[col[p]] for p in range(ptr[r], ptr[r + 1])) for r in range(4)]
    np.testing.assert_allclose(y, wanted, rtol=1e-14)


def test_reads_through_data_are_checked(run):
    ptr = np.array([0, 1, 4], np.int32)
    with pytest.raises(OutOfBounds, match=r"^index 3 is outside val.0 of size 3, at p = 3$"):
        run(SPARSE, ptr=ptr, col=[0, 0, 0], val=[1, 1, 1], x=[1])
    with pytest.raises(OutOfBounds, match=r"^index -1 is outside x.0 of size 1, at p = 2$"):
        run(SPARSE, ptr=ptr, col=[0, 0, -1, 0], val=[1, 1, 1, 1], x=[1])


def test_nested_reductions(run):
    X = floats(4, 5)
    text = "op f(X: f32[M, N]) -> s: f32 { s = max(sum(X[i, j] * X[i, j] for j) for i) }"
    np.testing.assert_allclose(run(text, X=X)["s"], (X.astype(float) ** 2).sum(1).max(), rtol=1e-6)
    text = "op f(X: i32[N]) -> Y: i32[N] { Y[i] = sum(sum(X[k] for k in j..i if X[k] > i32(j)) for j in 0..i) }"
    X = integers(8)
    wanted = [sum(int(X[k]) for j in range(i) for k in range(j, i) if X[k] > j) for i in range(8)]
    assert run(text, X=X)["Y"].tolist() == wanted


def test_an_argument_need_not_use_the_binders_or_the_indices(run):
    assert run("op f(X: i32[N]) -> Y: i32[N] { Y[i] = sum(X[i] for j in 0..5) }", X=[1, 2])["Y"].tolist() == [5, 10]
    assert run("op f(X: i32[N]) -> Y: i32[N] { Y[i] = sum(X[j] * X[j] for j) }", X=[1, 2])["Y"].tolist() == [5, 5]
    assert run("op f(X: i32[N]) -> Y: i32[N] { Y[i] = sum(X[i] * 2 for j in 0..3) }", X=[1, 2])["Y"].tolist() == [6, 12]
    assert run("op f(X: i32[N]) -> s: i32 { s = prod(i32(3) for j in 0..N) }", X=[1, 2])["s"] == 9


def test_a_reduction_of_a_function_with_a_shared_argument(run):
    text = "fn twice(x: f32) -> f32 = x + x * x\nop f(X: f32[M, N]) -> Y: f32[M] { Y[i] = twice(sum(X[i, j] for j)) }"
    assert run(text, X=[[1, 2], [0, -1]])["Y"].tolist() == [12, 0]


# ---- argmax and argmin

TOP = "op f(X: T[M, N]) -> (V: T[M], I: i32[M]) { (V[i], I[i]) = argmax((X[i, j], i32(j)) for j) }"


def top(dtype, reducer="argmax"):
    return TOP.replace("T[", f"{dtype}[").replace("argmax", reducer)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_the_first_winner_is_taken(run, dtype):
    X = np.array([[1, 3, 2, 3], [5, 5, 5, 5], [0, 1, 2, 3], [4, 3, 4, 3]]).astype(numpy_dtype(dtype))
    found = run(top(dtype), X=X)
    assert found["I"].tolist() == X.astype(float).argmax(1).tolist()
    assert found["V"].astype(float).tolist() == X.astype(float).max(1).tolist()
    found = run(top(dtype, "argmin"), X=X)
    assert found["I"].tolist() == X.astype(float).argmin(1).tolist()


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_nan_wins_over_numbers_and_the_identity_does_not(run, dtype):
    X = [[1, NAN, NAN, 3], [-INF, -INF, -INF, -INF], [NAN, INF, 1, 2], [INF, 1, 2, NAN]]
    found = run(top(dtype), X=X)
    assert found["I"].tolist() == [1, 0, 0, 3]
    np.testing.assert_array_equal(found["V"].astype(float), [NAN, -INF, NAN, NAN])
    found = run(top(dtype, "argmin"), X=X)
    assert found["I"].tolist() == [1, 0, 0, 3]


def test_argmax_of_nothing_is_the_identity_with_payloads_of_zero(run):
    found = run(top("f32"), X=np.zeros((2, 0), np.float32))
    assert (found["V"].tolist(), found["I"].tolist()) == ([-INF, -INF], [0, 0])
    found = run(top("u8", "argmin"), X=np.zeros((1, 0), np.uint8))
    assert (found["V"].tolist(), found["I"].tolist()) == ([255], [0])


def test_argmax_with_a_filter_several_binders_and_payloads(run):
    text = """op f(X: i32[M, N]) -> (V: i32, A: i64, B: i64) {
        (V, A, B) = argmax((X[i, j], i, j) for i, j if X[i, j] < limit)
    }"""
    X = integers(6, 11)
    for limit in (10, 4, -9):
        found = run(text.replace("limit", str(limit)), X=X)
        kept = np.where(limit > X, X, -100)
        place = np.unravel_index(kept.argmax(), X.shape) if (limit > X).any() else (0, 0)
        assert (found["A"], found["B"]) == place
        assert found["V"] == (X[place] if (limit > X).any() else -(2**31))


def test_argmax_over_ranges_from_data(run):
    text = """op f(ptr: i32[R + 1], X: f32[E]) -> (V: f32[R], P: i64[R]) {
        (V[r], P[r]) = argmax((X[p], p) for p in ptr[r]..ptr[r + 1])
    }"""
    found = run(text, ptr=[0, 2, 2, 6], X=[-1, -INF, -INF, -INF, 5, 5])
    assert (found["V"].tolist(), found["P"].tolist()) == ([-1, -INF, 5], [0, 0, 4])


# ---- reducers of the user's

LOGSUMEXP = """reducer logsumexp[T: float](a: T, b: T) -> T {
    identity -inf
    combine  a if b == -inf else b if a == -inf else max(a, b) + log(1 + exp(-abs(a - b)))
}
"""
MEAN = """reducer mean2[T: float]((s: T, n: T), (t: T, m: T)) -> (T, T) {
    identity (0, 0)
    combine (s + t, n + m)
}
"""


def test_a_reducer_with_one_value(run):
    X = floats(5, 33)
    text = LOGSUMEXP + "op f(X: f32[M, N]) -> Y: f32[M] { Y[i] = logsumexp(X[i, j] for j) }"
    np.testing.assert_allclose(run(text, X=X)["Y"], np.log(np.exp(X.astype(float)).sum(1)), rtol=1e-5, atol=1e-6)
    assert run(text, X=X[:, :0])["Y"].tolist() == [-INF] * 5
    assert run(text, X=X[:, :1])["Y"].tolist() == X[:, 0].tolist()


def test_a_reducer_with_several_values(run):
    text = (
        MEAN
        + "op f(X: f32[M, N]) -> (S: f32[M], C: f32[M]) { (S[i], C[i]) = mean2((X[i, j], 1) for j if X[i, j] > 0) }"
    )
    X = integers(4, 9).astype(np.float32)
    X[2] = -1
    found = run(text, X=X)
    assert found["S"].tolist() == [row[row > 0].sum() for row in X]
    assert found["C"].tolist() == [(row > 0).sum() for row in X]


def test_a_reducer_combines_only_what_there_is(run):
    text = """
    reducer ratio(a: i32, b: i32) -> i32 {
        identity 0
        combine (a + b) * 6 // (a * b) * a * b // 6
    }
    op f(X: i32[M, N]) -> Y: i32[M] { Y[i] = ratio(X[i, j] for j if X[i, j] != 0) }"""
    assert run(text, X=[[0, 7, 0, 0], [0, 0, 0, 0], [1, 0, 2, 0]])["Y"].tolist() == [7, 0, 3]
    with pytest.raises(DivisionByZero):
        run(text.replace(" if X[i, j] != 0", ""), X=[[0, 7, 0, 0]])


def test_a_reducer_that_looks_at_order(run):
    text = """
    reducer first((a: i32, p: i32), (b: i32, q: i32)) -> (i32, i32) {
        identity (0, 2_000_000_000)
        combine (a if p <= q else b, min(p, q))
    }
    op f(X: i32[N]) -> (V: i32, P: i32) { (V, P) = first((X[i], i32(i)) for i if X[i] > 5) }"""
    X = integers(40)
    found = run(text, X=X)
    place = np.argmax(X > 5)
    assert (found["P"], found["V"]) == (place, X[place])


@pytest.mark.parametrize("shape", [(40, 70, 30), (3, 1000, 2), (1, 5, 400), (0, 3, 3), (3, 3, 0)])
def test_matrix_products(run, shape):
    m, k, n = shape
    A, B = integers(m, k), integers(k, n, seed=1)
    text = "op f(A: i32[M, K], B: i32[K, N]) -> C: i32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }"
    if m * k * n > 10_000 and boxes.BLOCK < 100:
        A, B = A[:4, :20], B[:20, :6]
    assert (run(text, A=A, B=B)["C"] == A @ B).all()
