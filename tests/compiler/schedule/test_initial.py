"""Where reductions begin."""

from textwrap import dedent

import numpy as np
import pytest
from tdl.compiler import load
from tdl.compiler.preview import render_nest
from tdl.compiler.schedule.evaluate import evaluate_nest
from tdl.language.source import Source

PRODUCT = dedent("""\
    op p(A: f32[12, K], B: f32[K, 32]) -> C: f32[12, 32] {
        C[i, j] = sum(A[i, k] * B[k, j] for k)
    }
    schedule p for cpu {
        split C.k by 16 -> ko, ki
        split C.i by 4 -> io, ii
        reorder ko, io, ki, ii, C.j
        cache C at io in register as Cr
        vectorize C.j by 16
        unroll ii
    }
""")


@pytest.fixture
def op(tmp_path):
    path = tmp_path / "p.tdl"
    path.write_text(PRODUCT)
    return load(path).p


def test_a_tile_begins_in_the_first_iteration_of_the_reduction(op):
    text = render_nest(op.nest(K=64), "nest")
    assert text.count(" C[") == 2  # copied in and out, and never filled with zeros
    assert text.index("if ko <= 0\n") < text.index("if 1 <= ko\n") < text.index("+=")


def test_a_reduction_that_may_be_empty_begins_before_its_loop(op):
    text = render_nest(op.nest(), "nest")
    assert "if ko" not in text
    assert text.index(" = 0\n") < text.index("for ko")


@pytest.mark.parametrize("count", [0, 1, 16, 17, 64])
def test_either_way_the_result_is_the_same(op, count):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((12, count), (count, 32)))
    np.testing.assert_array_equal(op(a, b), a @ b)


FUSED = dedent("""\
    op f(X: i32[N, K], W: i32[K, 3]) -> Y: i32[N, 3] { Y[i, j] = sum(X[i, k] * W[k, j] for k) }
    schedule f for cpu {
        fuse Y.j, Y.k -> p
        cache Y at p in register as Yr
    }
""")


def test_a_loop_that_comes_to_other_elements_later_begins_none_in_tiles():
    x, w = np.array([[5, 7]], np.int32), np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    found = evaluate_nest(load(Source("f.tdl", FUSED)).f.nest(N=1, K=2), {"X": x, "W": w}, {})
    np.testing.assert_array_equal(found["Y"], x @ w)
