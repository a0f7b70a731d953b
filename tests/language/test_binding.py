"""Binding: which instance of an op arrays mean, as the library sees it; `test_shapes.py` and `test_parameters.py` have
the rules as a test of the language sees them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tdl.language import forms
from tdl.language.analysis import Analysis, analyse
from tdl.language.binding import ArrayType, BindError, Bound, bind
from tdl.language.dtypes import F32, F64, I32
from tdl.language.forms import Symbol
from tdl.language.source import Source

Marked = Callable[..., Analysis]


def f32(*shape: int) -> ArrayType:
    return ArrayType(F32, shape)


def sizes(bound: Bound) -> dict[str, int]:
    return {symbol.name: size for symbol, size in bound.sizes.items()}


CONV = """
    op conv[stride: int = 1, pad: int = 0](X: f32[C, H], F: f32[O, C, R]) -> Y: f32[O, (H + 2*pad - R)//stride + 1]
        where R <= H + 2*pad, stride >= 1, R >= 1 {
        Y[o, h] = sum(X[c, h*stride + r - pad | 0] * F[o, c, r] for c, r)
    }
"""


def test_sizes_and_shapes_of_a_bound_op(marked: Marked) -> None:
    op = marked(CONV).module.ops["conv"]
    bound = bind(op, {"X": f32(3, 8), "F": f32(5, 3, 3)}, {"stride": 2, "pad": 1})
    assert sizes(bound) == {"C": 3, "H": 8, "O": 5, "R": 3}
    assert bound.output_shapes == {"Y": (5, 4)}
    assert bound.shape("F") == (5, 3, 3)
    assert bound.program.parameters == {"stride": 2, "pad": 1}


def test_parameters_that_break_a_fact_about_them(marked: Marked) -> None:
    op = marked(CONV).module.ops["conv"]
    with pytest.raises(BindError, match="stride >= 1") as raised:
        bind(op, {"X": f32(3, 8), "F": f32(5, 3, 3)}, {"stride": 0})
    assert raised.value.code == "fact"


def test_a_shape_that_divides_by_zero(marked: Marked) -> None:
    op = marked("op f[k: int = 1](X: f32[H]) -> Y: f32[H//k] { Y[i] = 0 }").module.ops["f"]
    with pytest.raises(BindError, match="H//0 would divide by zero at H = 8"):
        bind(op, {"X": f32(8)}, {"k": 0})


@pytest.mark.parametrize(
    ("arrays", "code", "argument", "words"),
    [
        ({"X": f32(3, 8), "F": f32(5, 2, 3)}, "shape", "F", "dimension 1 of `F` is 2, and should be C = 3"),
        ({"X": f32(3), "F": f32(5, 3, 3)}, "rank", "X", "`X` has 2 dimensions, and is given an array with 1"),
        ({"X": f32(3, 2), "F": f32(5, 3, 3)}, "fact", None, "requires R <= H + 2*pad, which does not hold at"),
        ({"X": f32(3, 8)}, "shape", "O", "the dimension `O` of `conv` is not known"),
    ],
)
def test_errors_name_the_argument(
    marked: Marked, arrays: dict[str, ArrayType], code: str, argument: str | None, words: str
) -> None:
    op = marked(CONV).module.ops["conv"]
    with pytest.raises(BindError) as raised:
        bind(op, arrays)
    assert (raised.value.code, raised.value.argument) == (code, argument)
    assert words in raised.value.message


def test_an_error_reads_as_its_message_and_notes(marked: Marked) -> None:
    op = marked(CONV).module.ops["conv"]
    with pytest.raises(ValueError, match=r"(?s)and should be C = 3.*C = 3 by `X`"):
        bind(op, {"X": f32(3, 8), "F": f32(5, 2, 3)})


def test_given_sizes_stand_for_inputs_that_are_not_given(marked: Marked) -> None:
    op = marked(CONV).module.ops["conv"]
    bound = bind(op, {"X": f32(3, 8)}, sizes={"O": 2, "R": 1})
    assert bound.output_shapes == {"Y": (2, 8)}
    with pytest.raises(BindError, match="dimension 0 of `X` is 3, and should be C = 4"):
        bind(op, {"X": f32(3, 8)}, sizes={"O": 2, "R": 1, "C": 4})


def test_dtypes_of_arrays_fix_dtype_parameters(marked: Marked) -> None:
    op = marked("""
        op f[T: float, U: integer = i32](X: T[N], I: U[N]) -> Y: T[N] { Y[i] = X[i] + T(I[i]) }
    """).module.ops["f"]
    bound = bind(op, {"X": ArrayType(F64, (3,)), "I": ArrayType(I32, (3,))})
    assert bound.program.parameters == {"T": F64, "U": I32}
    assert bind(op, {"X": ArrayType(F64, (3,)), "I": ArrayType(None, (3,))}).program.parameters["U"] == I32
    with pytest.raises(BindError, match="`I` is f32, and `U` takes a integer dtype") as raised:
        bind(op, {"X": ArrayType(F64, (3,)), "I": ArrayType(F32, (3,))})
    assert (raised.value.code, raised.value.argument) == ("dtype", "I")


def test_an_array_of_another_dtype_than_declared(marked: Marked) -> None:
    op = marked("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }").module.ops["f"]
    with pytest.raises(BindError, match="`X` is f64, and is declared as f32") as raised:
        bind(op, {"X": ArrayType(F64, (3,))})
    assert (raised.value.code, raised.value.argument) == ("dtype", "X")


def test_packs_take_their_rank_from_arrays_or_sizes(marked: Marked) -> None:
    op = marked("op f(X: f32[..S, N]) -> Y: f32[..S] { Y[..i] = sum(X[..i, n] for n) }").module.ops["f"]
    assert bind(op, {"X": f32(2, 3, 4)}).output_shapes == {"Y": (2, 3)}
    assert bind(op, {"X": f32(4)}).output_shapes == {"Y": ()}
    assert bind(op, {}, sizes={"S": [7], "N": 2}).output_shapes == {"Y": (7,)}
    assert sizes(bind(op, {"X": f32(2, 3, 4)})) == {"S.0": 2, "S.1": 3, "N": 4}


def test_an_op_with_errors_is_not_bound() -> None:
    analysed = analyse(Source("t.tdl", "op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] + b }"))
    with pytest.raises(BindError, match="`f` cannot run: unknown name `b`") as raised:
        bind(analysed.module.ops["f"], {"X": f32(3)})
    assert raised.value.code == "unknown-name"
    for text in ("{ Y[i] = X[i] + }", "{ Y[i] = g(X[i]) }\nfn g(x: f32) -> f32 = g(x)"):
        analysed = analyse(Source("t.tdl", f"op f(X: f32[N]) -> Y: f32[N] {text}"))
        with pytest.raises(BindError, match="`f` cannot run: a part of it"):
            bind(analysed.module.ops["f"], {"X": f32(3)})


@given(coefficient=st.integers(1, 5), offset=st.integers(-3, 7), size=st.integers(0, 30), name=st.sampled_from("NMAZ"))
@settings(max_examples=60, deadline=None)
def test_a_linear_dimension_is_solved_exactly_or_refused(coefficient: int, offset: int, size: int, name: str) -> None:
    form = f"{coefficient}*{name} + {offset}" if offset >= 0 else f"{coefficient}*{name} - {-offset}"
    analysed = analyse(Source("t.tdl", f"op f(X: f32[{form}]) -> Y: f32[{name}] {{ Y[i] = 0 }}"))
    op = analysed.module.ops["f"]
    value, remainder = divmod(size - offset, coefficient)
    if remainder or value < 0:
        with pytest.raises(BindError, match=f"`X` has {size} in dimension 0"):
            bind(op, {"X": f32(size)})
    else:
        bound = bind(op, {"X": f32(size)})
        assert bound.sizes == {Symbol(name, "dim"): value}
        assert forms.evaluate(bound.program.tensors["X"].shape[0], bound.sizes) == size


@given(order=st.permutations(["A*B*C", "A + 1", "2*B", "A + B + C"]))
@settings(max_examples=24, deadline=None)
def test_arguments_are_matched_to_a_fixpoint_whatever_their_order(order: list[str]) -> None:
    inputs = ", ".join(f"x{number}: f32[{form}]" for number, form in enumerate(order))
    op = analyse(Source("t.tdl", f"op f({inputs}) -> Y: f32 {{ Y = 0 }}")).module.ops["f"]
    known = {"A*B*C": 2 * 3 * 5, "A + 1": 3, "2*B": 6, "A + B + C": 10}
    bound = bind(op, {f"x{number}": f32(known[form]) for number, form in enumerate(order)})
    assert sizes(bound) == {"A": 2, "B": 3, "C": 5}
