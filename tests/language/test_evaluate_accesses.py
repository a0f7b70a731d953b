"""What reading a tensor means: `docs/language.md`, Bounds and Boundaries; and which lanes run at all."""

import numpy as np
import pytest
from tdl.language.evaluate import programs
from tdl.language.failure import DivisionByZero, OutOfBounds


@pytest.fixture(autouse=True, params=[3, 1 << 16], ids=lambda size: f"box{size}")
def _box(request, monkeypatch):
    monkeypatch.setattr(programs, "BOX", request.param)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).integers(-9, 10, shape).astype(np.int32)


# ---- boundaries

PADDED = "op f(X: i32[H, W]) -> Y: i32[H + 14, W + 14] where H >= 1, W >= 1 { Y[i, j] = X[i - 7, j - 7 | BOUNDARY] }"
PADS = {"edge": "edge", "wrap": "wrap", "mirror": "reflect"}


@pytest.mark.parametrize("shape", [(5, 4), (1, 3), (2, 1), (1, 1)])
@pytest.mark.parametrize("boundary", PADS)
def test_edge_wrap_and_mirror_are_numpys(run, boundary, shape):
    X = numbers(*shape)
    wanted = X
    for axis, size in enumerate(shape):
        pad = "edge" if size == 1 else PADS[boundary]
        wanted = np.pad(wanted, [(7, 7) if each == axis else (0, 0) for each in (0, 1)], mode=pad)
    assert (run(PADDED.replace("BOUNDARY", boundary), X=X)["Y"] == wanted).all()


@pytest.mark.parametrize(("boundary", "value"), [("0", 0), ("-7", -7), ("2 * 3", 6)])
def test_a_constant_is_read_where_any_subscript_is_outside(run, boundary, value):
    X = numbers(5, 4)
    wanted = np.pad(X, 7, constant_values=value)
    assert (run(PADDED.replace("BOUNDARY", boundary), X=X)["Y"] == wanted).all()


def test_a_constant_boundary_of_an_empty_tensor(run):
    text = "op f(X: f32[N]) -> Y: f32[4] { Y[i] = X[i - 1 | 5] }"
    assert run(text, X=[])["Y"].tolist() == [5] * 4
    assert run(text, X=[1, 2])["Y"].tolist() == [5, 1, 2, 5]


def test_infinity_as_a_boundary(run):
    text = "op f(X: f32[N]) -> Y: f32[N] { Y[i] = max(X[i - 1 | -inf], X[i + 1 | -inf]) }"
    assert run(text, X=[3, 1, 2])["Y"].tolist() == [1, 3, 1]


def test_a_boundary_applies_to_subscripts_from_data(run):
    for boundary, wanted in (("0", [30, 0, 10, 0]), ("edge", [30, 30, 10, 10]), ("wrap", [30, 20, 10, 20])):
        text = f"op f(X: f32[M], I: i32[N]) -> Y: f32[N] where M >= 1 {{ Y[n] = X[I[n] | {boundary}] }}"
        assert run(text, X=[10, 20, 30], I=[2, 4, 0, -2])["Y"].tolist() == wanted


# ---- subscripts


def test_strides_diagonals_and_permutations(run):
    X = numbers(6, 6)
    cases = {
        "X[2*i, j]": X[::2][:3],
        "X[5 - i, j]": X[::-1][:3],
        "X[j, i]": X.T[:3],
        "X[i, i]": np.broadcast_to(np.diag(X)[:3, None], (3, 6)),
        "X[(i + j) % 6, j // 2]": np.array([[X[(i + j) % 6, j // 2] for j in range(6)] for i in range(3)]),
        "X[max(i, 1), min(j, 3)]": np.array([[X[max(i, 1), min(j, 3)] for j in range(6)] for i in range(3)]),
        "X[3, 2]": np.full((3, 6), X[3, 2]),
        "X[i * i, j]": X[[0, 1, 4]],
    }
    for subscript, wanted in cases.items():
        text = f"op f(X: i32[6, 6]) -> Y: i32[3, 6] {{ Y[i, j] = {subscript} for i in 0..3, j in 0..6 }}"
        assert (run(text, X=X)["Y"] == wanted).all(), subscript


def test_a_convolution_window(run):
    X, F = numbers(2, 9, 8), numbers(2, 3, 2, seed=1)
    text = """op f(X: i32[C, H, W], F: i32[C, 3, 2]) -> Y: i32[(H - 1)//2, W - 1] where H >= 3, W >= 2 {
        Y[h, w] = sum(X[c, 2*h + r, w + s] * F[c, r, s] for c, r, s)
    }"""
    windows = np.lib.stride_tricks.sliding_window_view(X, (3, 2), axis=(1, 2))[:, ::2]
    assert (run(text, X=X, F=F)["Y"] == np.einsum("chwrs,crs->hw", windows, F)).all()


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16", "i32", "u32", "i64"])
def test_subscripts_may_have_any_integer_type(run, dtype):
    text = f"op f(X: f32[M], I: {dtype}[N]) -> Y: f32[N] {{ Y[n] = X[I[n]] }}"
    assert run(text, X=[10, 20, 30], I=[2, 0, 1])["Y"].tolist() == [30, 10, 20]


def test_a_read_through_data_is_checked(run):
    text = "op f(X: f32[M, K], I: i32[N, L]) -> Y: f32[N, L] where K >= 4 { Y[n, l] = X[I[n, l], l % 4] }"
    with pytest.raises(OutOfBounds, match=r"^index 7 is outside X.0 of size 3, at n = 1, l = 2$") as raised:
        run(text, X=np.zeros((3, 4), np.float32), I=[[0, 1, 2], [2, 1, 7], [9, 9, 9]])
    assert (raised.value.op, isinstance(raised.value, IndexError)) == ("f", True)
    with pytest.raises(OutOfBounds, match=r"^index -1 is outside X.0 of size 0, at n = 0, l = 0$"):
        run(text, X=np.zeros((0, 4), np.float32), I=[[-1]])


def test_a_failure_with_one_index_and_with_none(run):
    with pytest.raises(OutOfBounds, match=r"^index 3 is outside X.0 of size 3$"):
        run("op f(X: f32[M], k: i64) -> y: f32 { y = X[k] }", X=[1, 2, 3], k=3)


# ---- lanes that do not run


def test_a_branch_that_is_not_chosen_cannot_raise(run):
    text = "op f(X: i32[M], I: i32[N]) -> Y: i32[N] { Y[n] = X[I[n]] if I[n] >= 0 else -1 }"
    assert run(text, X=[5, 6], I=[1, -1, 0])["Y"].tolist() == [6, -1, 5]
    assert run(text, X=[], I=[-1, -1])["Y"].tolist() == [-1, -1]
    with pytest.raises(OutOfBounds, match=r"^index 2 is outside X.0 of size 2, at n = 1$"):
        run(text, X=[5, 6], I=[1, 2, 0])


def test_branches_nest(run):
    text = """op f(X: i32[N], D: i32[N]) -> Y: i32[N] {
        Y[n] = (X[n] // D[n] if X[n] % D[n] == 0 else -2) if D[n] != 0 else -1
    }"""
    assert run(text, X=[6, 7, 8, 0], D=[3, 2, 0, 5])["Y"].tolist() == [2, -2, -1, 0]


def test_and_and_or_stop_early(run):
    text = "op f(X: i32[N], D: i32[N]) -> Y: bool[N] { Y[n] = D[n] != 0 and X[n] // D[n] > 1 }"
    assert run(text, X=[6, 1, 9], D=[3, 2, 0])["Y"].tolist() == [True, False, False]
    text = "op f(X: i32[N], D: i32[N]) -> Y: bool[N] { Y[n] = D[n] == 0 or X[n] // D[n] > 1 }"
    assert run(text, X=[6, 1, 9], D=[3, 2, 0])["Y"].tolist() == [True, False, True]
    text = "op f(X: i32[N], D: i32[N]) -> Y: bool[N] { Y[n] = X[n] // D[n] > 1 and D[n] != 0 }"
    with pytest.raises(DivisionByZero, match="at n = 2"):
        run(text, X=[6, 1, 9], D=[3, 2, 0])


def test_a_filter_keeps_the_value_from_running(run):
    text = """op f(X: i32[N], D: i32[N]) -> Y: i32[N] {
        Y[n] = sum(X[k] // D[k] for k if D[k] != 0) for n in 0..N
    }"""
    assert run(text, X=[6, 1, 9], D=[3, 2, 0])["Y"].tolist() == [2, 2, 2]


def test_affine_branches_read_only_their_side(run):
    X = numbers(7)
    text = "op f(X: i32[N]) -> Y: i32[N + 3] where N >= 3 { Y[i] = X[i] if i < N else 0 - X[i - 3] for i in 0..N + 3 }"
    assert run(text, X=X)["Y"].tolist() == [*X, *-X[-3:]]


def test_a_definition_with_a_filter_leaves_the_rest_alone(run):
    text = """op f(X: i32[N, N]) -> Y: i32[N, N] {
        Y[i, j] = X[i, j]     for i in 0..N, j in 0..N if i <= j
        Y[i, j] = 0 - X[j, i] for i in 0..N, j in 0..N if i > j
    }"""
    X = numbers(5, 5)
    assert (run(text, X=X)["Y"] == np.triu(X) - np.triu(X, 1).T).all()


def test_a_function_evaluates_each_argument_once_before_its_body(run):
    text = """
    fn guarded(x: i32, d: i32) -> i32 = 0 if d == 0 else x
    op f(X: i32[N], D: i32[N]) -> Y: i32[N] { Y[n] = guarded(X[n] // D[n], D[n]) }"""
    assert run(text, X=[6, 9], D=[3, 2])["Y"].tolist() == [2, 4]
    with pytest.raises(DivisionByZero, match="at n = 1"):
        run(text, X=[6, 9], D=[3, 0])


# ---- shapes, writes, parameters


def test_zero_sizes_and_scalars(run):
    text = "op f(X: f32[M, N], s: f32) -> (Y: f32[N, M], t: f32) { Y[j, i] = X[i, j] * s\n t = s + 1 }"
    for shape in ((0, 3), (3, 0), (0, 0)):
        found = run(text, X=np.zeros(shape, np.float32), s=2)
        assert (found["Y"].shape, found["t"].shape, found["t"]) == (shape[::-1], (), 3)


def test_any_rank(run):
    text = "op f[T: number](X: T[..S], b: T) -> Y: T[..S] { Y[..i] = X[..i] + b }"
    for shape in ((), (3,), (2, 0, 3), (2, 3, 2, 2)):
        X = numbers(*shape)
        assert (run(text, X=X, b=np.int32(2))["Y"] == X + 2).all()


def test_definitions_at_constant_coordinates(run):
    text = """op f(X: i32[N]) -> Y: i32[N + 2, 2] {
        Y[0, j] = 7
        Y[N + 1, j] = 8 for j in 0..2
        Y[i, 0] = X[i - 1] for i in 1..N + 1
        Y[i, 1] = i32(N) for i in 1..N + 1
    }"""
    assert run(text, X=[5, 6])["Y"].tolist() == [[7, 7], [5, 2], [6, 2], [8, 8]]
    assert run(text, X=[])["Y"].tolist() == [[7, 7], [8, 8]]


def test_compile_time_parameters(run):
    text = """op f[k: int = 2, scale: f32 = 0.5, up: bool = true](X: f32[N]) -> Y: f32[k*N] {
        Y[i] = X[i // k] * scale if up else f32(k) for i in 0..k*N
    }"""
    assert run(text, X=[2, 4])["Y"].tolist() == [1, 1, 2, 2]
    assert run(text, X=[2], parameters={"k": 3, "scale": 2.0})["Y"].tolist() == [4, 4, 4]
    assert run(text, X=[2], parameters={"k": 1, "up": False})["Y"].tolist() == [1]


# ---- recurrences


def test_recurrences_in_both_directions(run):
    X = numbers(6, 3)
    text = """op f(X: i32[T, N]) -> (S: i32[T, N], R: i32[T, N]) where T >= 1 {
        S[0, j] = X[0, j]
        S[t, j] = S[t - 1, j] + X[t, j] for t in 1..T
        R[T - 1, j] = X[T - 1, j]
        R[t, j] = R[t + 1, j] * 2 + X[t, j] for t in 0..T - 1
    }"""
    found = run(text, X=X)
    assert (found["S"] == np.cumsum(X, 0)).all()
    wanted = X.copy()
    for t in range(4, -1, -1):
        wanted[t] += 2 * wanted[t + 1]
    assert (found["R"] == wanted).all()
    assert (run(text, X=X[:1])["R"] == X[:1]).all()


def test_tensors_that_refer_to_each_other(run):
    text = """op f(X: i64[T]) -> (A: i64[T], B: i64[T]) {
        A[t] = B[t - 1 | 1] + X[t]
        B[t] = A[t] * 2 + A[t - 1 | 0]
    }"""
    X = numbers(8).astype(np.int64)
    a, b, A, B = 0, 1, [], []
    for x in X.tolist():
        a, before = b + x, a
        b = 2 * a + before
        A, B = [*A, a], [*B, b]
    found = run(text, X=X)
    assert (found["A"].tolist(), found["B"].tolist()) == (A, B)


def test_a_recurrence_over_two_axes(run):
    A, B = np.array([1, 2, 3, 3, 1], np.int32), np.array([2, 3, 1], np.int32)
    text = """op distance(A: i32[M], B: i32[N]) -> D: i32[M + 1, N + 1] {
        D[0, j] = i32(j)  for j in 0..N+1
        D[i, 0] = i32(i)  for i in 1..M+1
        D[i, j] = min(min(D[i-1, j] + 1, D[i, j-1] + 1), D[i-1, j-1] + (0 if A[i-1] == B[j-1] else 1))
                  for i in 1..M+1, j in 1..N+1
    }"""
    D = np.zeros((6, 4), int)
    D[0], D[:, 0] = range(4), range(6)
    for i in range(1, 6):
        for j in range(1, 4):
            D[i, j] = min(D[i - 1, j] + 1, D[i, j - 1] + 1, D[i - 1, j - 1] + (A[i - 1] != B[j - 1]))
    assert (run(text, A=A, B=B)["D"] == D).all()
    assert run(text, A=A[:0], B=B)["D"].tolist() == [[0, 1, 2, 3]]


def test_a_recurrence_that_reduces_over_what_came_before(run):
    text = """op solve(L: f64[N, N], b: f64[N]) -> x: f64[N] {
        x[i] = (b[i] - sum(L[i, k] * x[k] for k in 0..i)) / L[i, i]
    }"""
    L = np.tril(np.random.default_rng(0).standard_normal((7, 7))) + 4 * np.eye(7)
    b = np.arange(7.0)
    np.testing.assert_allclose(run(text, L=L, b=b)["x"], np.linalg.solve(L, b), rtol=1e-12)


def test_a_recurrence_with_a_filter(run):
    text = """op heat(U: f64[N]) -> V: f64[5, N] where N >= 3 {
        V[0, i] = U[i]
        V[t, i] = (V[t-1, i-1] + V[t-1, i+1]) / 2 for t in 1..5, i in 1..N-1
        V[t, i] = U[i] for t in 1..5, i in 0..N if i == 0 or i == N - 1
    }"""
    U = np.arange(7.0) ** 2
    wanted = [U]
    for _ in range(4):
        after = wanted[-1].copy()
        after[1:-1] = (wanted[-1][:-2] + wanted[-1][2:]) / 2
        wanted.append(after)
    assert (run(text, U=U)["V"] == np.array(wanted)).all()
