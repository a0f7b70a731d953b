"""Arguments are checked before any generated code runs, and every message names the op and the argument."""

from __future__ import annotations

import inspect

import ml_dtypes
import numpy as np
import pytest

DENSE = """## A layer.
op dense(X: f32[M, K], W: f32[K, N], b: f32[N]) -> Y: f32[M, N] { Y[i, j] = sum(X[i, k] * W[k, j] for k) + b[j] }
"""
X, W, B = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32), np.arange(4, dtype=np.float32)
WANTED = X @ W + B


@pytest.fixture(scope="module")
def dense(load_text):
    return load_text(DENSE).dense


def raises(kind, *words):
    return pytest.raises(kind, match="(?s)" + "".join(f"(?=.*{word})" for word in words))


# ---- which argument is which


def test_by_position_and_by_name(dense):
    for result in (dense(X, W, B), dense(X, b=B, W=W), dense(W=W, b=B, X=X), dense(X, W, b=B)):
        np.testing.assert_array_equal(result, WANTED)


def test_wrong_counts_and_names(dense):
    with raises(TypeError, "dense", "3 inputs", "4"):
        dense(X, W, B, B)
    with raises(TypeError, "dense needs W and b"):
        dense(X)
    with raises(TypeError, "dense is given X twice"):
        dense(X, W, B, X=X)
    with raises(TypeError, "dense has no argument bias", "X, W, b, out"):
        dense(X, W, bias=B)


def test_it_looks_like_a_function(dense):
    assert dense.__name__ == "dense"
    assert dense.__doc__ == "A layer."
    assert str(inspect.signature(dense)) == "(X, W, b, *, out=None)"
    assert repr(dense) == "<op dense(X, W, b, *, out=None)>"


# ---- what an array must be


def test_wrong_dtype_rank_and_size(dense):
    with raises(TypeError, "dense", "W", "f64", "f32"):
        dense(X, W.astype(np.float64), B)
    with raises(TypeError, "dense", "W", "complex64"):
        dense(X, W.astype(np.complex64), B)
    with raises(ValueError, "dense", "W", "2 dimensions", "1"):
        dense(X, W[0], B)
    with raises(ValueError, "dense", "W", "5", "K = 3", "X"):
        dense(X, np.ones((5, 4), np.float32), B)
    with raises(ValueError, "dense", "b", "3", "N = 4"):
        dense(X, W, B[:3])


def test_wrong_kinds_of_thing(dense):
    for thing in (None, "X", object(), {1: 2}, b"12"):
        with raises(TypeError, "dense: X is a"):
            dense(thing, W, B)
    with raises(TypeError, "dense: X"):
        dense([[1, 2, 3], [4, 5]], W, B)
    with raises(TypeError, "dense: X"):
        dense([["a", "b", "c"]], W, B)
    with raises(TypeError, "dense: X"):
        dense(np.array([[None] * 3]), W, B)


@pytest.mark.parametrize(
    "change",
    [
        lambda array: np.asfortranarray(array),
        lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
        lambda array: array[::-1][::-1],
        lambda array: array.astype(">f4"),
        lambda array: np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(np.float32).reshape(array.shape),
        lambda array: np.broadcast_to(array, array.shape),
    ],
    ids=["Fortran order", "strided", "twice reversed", "other byte order", "unaligned", "read-only"],
)
def test_any_layout_is_taken(dense, change):
    np.testing.assert_array_equal(dense(change(X), change(W), change(B)), WANTED)


def test_subclasses_are_taken_as_arrays(dense):
    class Mine(np.ndarray):
        pass

    result = dense(X.view(Mine), W, B)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, WANTED)


class Shared:
    """An object that offers its memory one way only."""

    def __init__(self, array, name):
        self._array, self._name = array, name

    def __getattr__(self, name):
        if name == "__dlpack_device__" and self._name == "__dlpack__":
            return self._array.__dlpack_device__
        if name == self._name:
            return getattr(self._array, name)
        raise AttributeError(name)


@pytest.mark.parametrize("protocol", ["__dlpack__", "__array_interface__", "__array__"])
def test_other_libraries_arrays(dense, protocol):
    kind = type("Foreign", (Shared,), {protocol: property(lambda self: getattr(self._array, protocol))})
    if protocol == "__dlpack__":
        kind.__dlpack_device__ = property(lambda self: self._array.__dlpack_device__)
    np.testing.assert_array_equal(dense(*(kind(array, protocol) for array in (X, W, B))), WANTED)


def test_results_are_shared_by_dlpack(dense):
    result = dense(X, W, B)
    np.testing.assert_array_equal(np.from_dlpack(result), WANTED)


# ---- numbers and lists


def test_lists_take_the_declared_dtype(dense):
    np.testing.assert_array_equal(dense(X.tolist(), W.tolist(), [0, 1, 2, 3]), WANTED)


SCALARS = "op f(x: {0}[N], a: {0}) -> y: {0}[N] {{ y[i] = x[i] + a }}"


@pytest.mark.parametrize("repeat", [1, 3])
def test_numbers(load_text, repeat):
    """The same on the checked path and on the short one that later calls take."""
    floats, integers = load_text(SCALARS.format("f32")).f, load_text(SCALARS.format("u8")).f
    for _ in range(repeat):
        assert floats(np.ones(2, np.float32), 0.5).tolist() == [1.5, 1.5]
        assert floats(np.ones(2, np.float32), 2).tolist() == [3.0, 3.0]
        assert floats(np.ones(2, np.float32), np.float32(0.5)).tolist() == [1.5, 1.5]
        assert integers(np.ones(2, np.uint8), 255).tolist() == [0, 0]
        with raises(TypeError, "f: a is uint8", "floats"):
            integers(np.ones(2, np.uint8), 0.5)
        with raises(TypeError, "f: a is uint8", "floats"):
            integers([1], 1.0)
        with raises(ValueError, "f: a is uint8", "256"):
            integers(np.ones(2, np.uint8), 256)
        with raises(ValueError, "f: x is uint8", "-1"):
            integers([-1], 1)
        with raises(TypeError, "f: a is uint8", "bools"):
            integers(np.ones(2, np.uint8), True)
        with raises(TypeError, "f", "a", "f64", "f32"):
            floats(np.ones(2, np.float32), np.float64(0.5))
        with raises(TypeError, "f: a is not a number", "64 bits"):
            integers(np.ones(2, np.uint8), 1 << 70)


def test_empty_lists(load_text):
    f = load_text(SCALARS.format("i32")).f
    assert f([], 3).shape == (0,)
    assert f([], 3).dtype == np.int32


def test_results_of_rank_0_are_numpy_scalars(load_text):
    m = load_text(
        "op one(x: f32[N]) -> y: f32 { y = sum(x[i] for i) }\n"
        "op two(x: f32[N]) -> (y: f32, z: f32[N]) { y = sum(x[i] for i)\n z[i] = x[i] }"
    )
    for _ in range(2):
        assert type(m.one(X[0])) is np.float32
        first, second = m.two(X[0])
        assert type(first) is np.float32
        assert type(second) is np.ndarray
    out = np.zeros((), np.float32)
    for _ in range(2):
        assert m.one(X[0], out=out) is out
    assert out[()] == 3


def test_bf16(load_text):
    f = load_text(SCALARS.format("bf16")).f
    x = np.array([1, 2.5], ml_dtypes.bfloat16)
    for _ in range(2):
        result = f(x, 1)
        assert result.dtype == ml_dtypes.bfloat16
        assert result.tolist() == [2, 3.5]
    with raises(TypeError, "f", "x", "f32", "bf16"):
        f(X[0], 1)


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 0, 0)])
def test_empty_arrays(dense, shape):
    m, k, n = shape
    result = dense(np.ones((m, k), np.float32), np.ones((k, n), np.float32), np.full(n, 7, np.float32))
    np.testing.assert_array_equal(result, np.full((m, n), 7 + k, np.float32))


# ---- parameters

GENERIC = """op f[T: number = f32, k: int = 2](x: T[N]) -> y: T[N] { y[i] = x[i] * T(k) }
op g[T: float](a: T) -> y: T { y = a }"""


def test_parameters(load_text):
    m = load_text(GENERIC)
    for _ in range(2):
        assert m.f(X[0]).tolist() == [2, 2, 2]
        assert m.f(X[0], k=5).tolist() == [5, 5, 5]
        assert m.f(X[0], k=np.int64(6)).tolist() == [6, 6, 6]
        assert m.f([1, 2], T="i8").dtype == np.int8
        assert m.f([1, 2], T=np.int16).dtype == np.int16
        assert m.f([1, 2], T=np.dtype("f8")).dtype == np.float64
        assert m.f([1, 2]).dtype == np.float32
        with raises(TypeError, "f", "k"):
            m.f(X[0], k=1.5)
        with raises(TypeError, "f", "k"):
            m.f(X[0], k=True)
        with raises(TypeError, "f", "parameters"):
            m.f(X[0], k=[1])
        with raises(TypeError, "f", "T", "i8", "f32"):
            m.f(X[0], T="i8")
    with raises(TypeError, "g", "T", "not fixed"):
        m.g(1)


def test_parameters_that_compare_equal_are_told_apart(load_text):
    f = load_text("op f[a: f32](x: f32[N]) -> y: f32[N] { y[i] = 1 / (a * x[i]) }").f
    for _ in range(2):
        assert f(X[0], a=0.0)[0] == np.inf
        assert f(X[0], a=-0.0)[0] == -np.inf


# ---- results to write to


def test_out(dense):
    out = np.zeros((2, 4), np.float32)
    for _ in range(2):
        out[:] = 0
        assert dense(X, W, B, out=out) is out
        np.testing.assert_array_equal(out, WANTED)
    part = np.zeros((3, 2, 4), np.float32)
    dense(X, W, B, out=part[1])
    np.testing.assert_array_equal(part[1], WANTED)
    assert not part[0].any()
    assert not part[2].any()


def test_out_of_several(load_text):
    f = load_text("op f(x: f32[N]) -> (y: f32[N], z: i32[N]) { y[i] = 2*x[i]\n z[i] = i32(i) }").f
    x = np.ones(3, np.float32)
    for _ in range(2):
        y, z = f(x)
        assert y.tolist() == [2, 2, 2]
        assert z.tolist() == [0, 1, 2]
        pair = np.zeros(3, np.float32), np.zeros(3, np.int32)
        assert f(x, out=pair) is pair
        assert pair[1].tolist() == [0, 1, 2]
        for wrong in (pair[0], [*pair], pair[:1], (*pair, pair[0])):
            with raises(TypeError, "f: out is a tuple of 2 arrays", "y, z"):
                f(x, out=wrong)
        with raises(TypeError, "f: out for y", "int32", "float32"):
            f(x, out=pair[::-1])
        with raises(ValueError, "z", "overlaps y"):
            f(x, out=(pair[0], pair[0].view(np.int32)))


def test_wrong_out(dense):
    out = np.zeros((2, 4), np.float32)
    locked = out.copy()
    locked.flags.writeable = False
    for wrong, kind, *words in (
        ([[0] * 4] * 2, TypeError, "list"),
        (out.astype(np.float64), TypeError, "float64", "float32"),
        (out.astype(">f4"), TypeError, "float32"),
        (out[0], ValueError, r"\(4,\)", r"\(2, 4\)"),
        (out.reshape(4, 2), ValueError, r"\(4, 2\)", r"\(2, 4\)"),
        (locked, ValueError, "read-only"),
        (np.zeros((2, 8), np.float32)[:, ::2], ValueError, "contiguous"),
        (np.zeros((4, 2), np.float32).T, ValueError, "contiguous"),
    ):
        for _ in range(2):
            with raises(kind, "dense: out for Y", *words):
                dense(X, W, B, out=wrong)


def test_out_that_overlaps_an_input(load_text):
    f = load_text("op f(x: f32[N]) -> y: f32[N] { y[i] = x[i] + 1 }").f
    memory = np.zeros(10, np.float32)
    for _ in range(2):
        for x, y in ((memory[:4], memory[:4]), (memory[:4], memory[3:7]), (memory[3:7], memory[:4])):
            with raises(ValueError, "f: the array given for y overlaps x"):
                f(x, out=y)
        f(memory[:4], out=memory[4:8])
        f(memory[:0], out=memory[0:0])
        f(memory[0:8:2], out=memory[:4])  # the strided input was copied
    assert not memory[8:].any()


# ---- facts and failures


def test_facts(load_text):
    f = load_text("op f(x: f32[N]) -> y: f32[N - 2] where N % 2 == 0 { y[i] = x[i + 2] }").f
    with raises(ValueError, "f", "N = 1"):
        f(np.zeros(1, np.float32))
    with raises(ValueError, "f", "N = 5"):
        f(np.zeros(5, np.float32))


def test_sizes_no_machine_has(load_text):
    m = load_text(
        "op f(x: f32[N]) -> y: f32[N, N, N, N] { y[i, j, k, l] = x[i] }\n"
        "op g(x: f32[N]) -> y: f32[N] { t[i, j, k, l] = x[i]*x[j]*x[k]*x[l]\n y[i] = sum(t[i, j, k, l] for j, k, l) }\n"
        "op h[P: int](x: f32[N]) -> y: f32 { t[i, j] = x[i] for i in 0..N, j in 0..P\n y = sum(t[i, j] for i, j) }"
    )
    x = np.zeros(1 << 17, np.float32)
    with raises(MemoryError, "f: y is too large"):
        m.f(x)
    with raises(MemoryError, "g: its intermediate tensors are too large", "N = 131072"):
        m.g(x)
    with raises(MemoryError, "h"):
        m.h(x, P=1 << 47)  # wraps to 0 in 64 bits


def test_a_failure_leaves_the_op_usable(load_text):
    f = load_text("op f(x: i32[N], y: i32[N]) -> z: i32[N] { z[i] = x[i] // y[i] }").f
    ones, zeros = np.ones(3, np.int32), np.zeros(3, np.int32)
    for _ in range(3):
        with raises(ZeroDivisionError, "f: an integer is divided by zero"):
            f(ones, zeros)
        assert f(ones, ones).tolist() == [1, 1, 1]
