"""Inputs that a schedule takes packed."""

from textwrap import dedent

import numpy as np
import pytest
from tdl.compiler import load
from tdl.compiler.runtime.packing import Packed

PRODUCT = dedent("""\
    op product[T: number = f32](A: T[M, K], B: T[K, N]) -> C: T[M, N] {
        C[i, j] = sum(A[i, k] * B[k, j] for k)
    }
    schedule product for cpu {
        layout B(k, j) [ORDER] pad PAD pack
        split C.j by 16 -> jo, ji
        reorder jo, C.i, C.k, ji
        vectorize ji
        parallel jo
    }
""")


@pytest.fixture
def product(tmp_path):
    def made(order="j//16, k, j % 16", pad=0):
        path = tmp_path / "p.tdl"
        path.write_text(PRODUCT.replace("ORDER", order).replace("PAD", str(pad)))
        return load(path)

    return made


def arrays(m, k, n, dtype=np.float32):
    rng = np.random.default_rng(0)
    return [rng.integers(-9, 9, shape).astype(dtype) for shape in ((m, k), (k, n))]


ORDERS = ["j//16, k, j % 16", "j, k", "k//4, j//8, k % 4, j % 8", "j//32, k, (j//8) % 4, j % 8", "k + j, k", "2*j, k"]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("m", "k", "n"), [(0, 3, 5), (3, 0, 5), (3, 5, 0), (1, 1, 1), (5, 7, 33), (4, 16, 64), (2, 9, 16)]
)
def test_packed_or_not_the_result_is_the_same(product, order, m, k, n):
    op = product(order).product
    a, b = arrays(m, k, n)
    packed = op.pack("B", b)
    assert isinstance(packed, Packed)
    assert packed.shape == b.shape
    np.testing.assert_array_equal(np.asarray(packed), b)
    for _ in range(3):  # by the checked path, then by the fast one
        np.testing.assert_array_equal(op(a, packed), a @ b)
    np.testing.assert_array_equal(op(a, b), a @ b)
    np.testing.assert_array_equal(op(a, B=packed), a @ b)


@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.uint16, np.int64])
def test_dtypes(product, dtype):
    op = product().product
    a, b = arrays(3, 5, 20, dtype)
    np.testing.assert_array_equal(op(a, op.pack("B", b)), a @ b)


def test_holes_hold_the_padding(product):
    op = product(pad=7).product
    _, b = arrays(3, 5, 20)
    packed = op.pack("B", b)
    assert packed.array.shape == (2, 5, 16)
    assert packed.array.ctypes.data % 64 == 0
    np.testing.assert_array_equal(packed.array[1, :, 4:], 7)
    np.testing.assert_array_equal(packed.array[1, :, :4], b[:, 16:])


def test_the_name_of_the_export(product):
    module = product()
    _, b = arrays(3, 5, 20)
    np.testing.assert_array_equal(module.product_pack_B(b).array, module.product.pack("B", b).array)


def test_a_square_array_is_not_taken_for_its_packed_self(product):
    op = product("j, k").product
    a, b = arrays(8, 8, 8)
    packed = op.pack("B", b)
    for value in (packed, b, packed.array, packed):
        wanted = a @ (packed.array if value is packed.array else b)
        np.testing.assert_array_equal(op(a, value), wanted)


def test_more_sizes_than_kernels_are_kept_for(product):
    op = product().product
    _, b = arrays(1, 5, 20)
    packed = op.pack("B", b)
    for m in range(40):
        a, _ = arrays(m, 5, 20)
        np.testing.assert_array_equal(op(a, packed), a @ b)


@pytest.mark.parametrize("times", [1, 2])
def test_calls_are_fast_also_where_the_kernel_was_kept(product, times):
    for _ in range(times):  # the second op of these finds the record of the first
        op = product().product
        a, b = arrays(3, 5, 20)
        packed = op.pack("B", b)
        op(a, packed)
    (fast,) = op._packed_calls.values()
    np.testing.assert_array_equal(fast(None, a, packed), a @ b)
    assert fast(None, a, b) is NotImplemented, "left to the checked path"
    assert fast(None, a) is NotImplemented
    np.testing.assert_array_equal(op(a, packed), a @ b)
    assert op._fast is fast


def test_results_into_an_array(product):
    op = product().product
    a, b = arrays(3, 5, 20)
    out = np.empty((3, 20), np.float32)
    assert op(a, op.pack("B", b), out=out) is out
    np.testing.assert_array_equal(out, a @ b)


def test_prepack_packs_what_is_taken_packed(product):
    op = product().product
    a, b = arrays(3, 5, 20)
    first, second = op.prepack(a, b)
    assert first is a
    assert isinstance(second, Packed)


def test_what_cannot_be_packed(product):
    op = product().product
    a, b = arrays(3, 5, 20)
    with pytest.raises(ValueError, match="no schedule that may hold for this array takes A packed"):
        op.pack("A", a)
    with pytest.raises(ValueError, match="product has no input D; it has A, B"):
        op.pack("D", a)
    with pytest.raises(ValueError, match="B has 2 dimensions, not 1"):
        op.pack("B", b[0])


def test_packed_in_another_way(product):
    a, b = arrays(3, 5, 20)
    other = product("j, k").product.pack("B", b)
    with pytest.raises(ValueError, match=r"B is packed as f32\[5, 20\] .* at \[j, i\], and should be .*; pack it anew"):
        product().product(a, other)
    with pytest.raises(
        ValueError, match="A is packed, and at these sizes no schedule takes it so; give the array itself"
    ):
        product().product(product().product.pack("B", np.eye(5, dtype=np.float32)), b)


def test_ways_that_depend_on_sizes(tmp_path):
    path = tmp_path / "p.tdl"
    few = PRODUCT[PRODUCT.index("schedule") :].replace("for cpu {", "for cpu when M <= 4 {")
    text = PRODUCT.replace("schedule", few.replace("ORDER", "j//8, k, j % 8").replace("PAD", "0") + "schedule", 1)
    path.write_text(text.replace("ORDER", "j//16, k, j % 16").replace("PAD", "0"))
    op = load(path).product
    a, b = arrays(3, 5, 20)
    with pytest.raises(ValueError, match=r"B is packed in several ways: .* Give sizes by name to choose"):
        op.pack("B", b)
    packed = op.pack("B", b, M=3)
    np.testing.assert_array_equal(op(a, packed), a @ b)
