"""The evaluator on programs built by hand: steps, writes, accesses, reductions."""

from dataclasses import replace

import numpy as np
import pytest
from tdl.language import forms
from tdl.language.dtypes import BOOL, F32, I32, I64
from tdl.language.evaluate import evaluate
from tdl.language.failure import DivisionByZero, OutOfBounds
from tdl.language.forms import Form, Symbol
from tdl.language.tree import (
    Access,
    Binary,
    Binder,
    Boundary,
    Compare,
    Convert,
    Definition,
    Integer,
    Number,
    Parameter,
    Program,
    Reduce,
    Reducer,
    Run,
    Select,
    Sweep,
    Target,
    Tensor,
)  # fmt: skip

I, J, K, T = (Symbol(name, "index") for name in "ijkt")
M, N, L = (Symbol(name, "dim") for name in "MNL")


def form(value) -> Form:
    if isinstance(value, Form):
        return value
    return forms.constant(value) if isinstance(value, int) else forms.symbol(value)


def read(tensor, *subscripts, boundary=None, checked=(), dtype=F32):
    return Access(tensor, tuple(map(form, subscripts)), dtype, boundary, checked)


def index_of(tensor, subscript):
    return forms.opaque(Convert(read(tensor, subscript, dtype=I32), I64))


def over(index, hi, lo=0):
    return Binder(index, form(lo), form(hi))


def define(number, target, coordinates, value, *indices, only=None):
    targets = (Target(target, tuple(map(form, coordinates))),) if isinstance(target, str) else target
    return Definition(number, targets, indices, only, value)


def total(arg, *binders, name="sum", dtypes=(F32,), only=None):
    args = arg if isinstance(arg, tuple) else (arg,)
    return Reduce(Reducer(name, dtypes), binders, only, args)


def program(definitions, steps=None, **tensors):
    declared = {
        name: Tensor(name, role, dtype, tuple(map(form, shape))) for name, (role, dtype, shape) in tensors.items()
    }
    names = {role: tuple(name for name, each in declared.items() if each.role == role) for role in ("input", "output")}
    steps = steps or tuple(Run(each.number) for each in definitions)
    return Program("op", {}, (M, N, L), {}, declared, names["input"], names["output"], (), tuple(definitions), steps)


def f32(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def product_of(dtype=F32):
    value = total(
        Binary("mul", read("X", I, K, dtype=dtype), read("W", K, J, dtype=dtype), dtype), over(K, L), dtypes=(dtype,)
    )
    return program(
        [define(0, "Y", (I, J), value, over(I, M), over(J, N))],
        X=("input", dtype, (M, L)), W=("input", dtype, (L, N)), Y=("output", dtype, (M, N)),
    )  # fmt: skip


@pytest.mark.parametrize(("m", "n", "l"), [(3, 4, 5), (0, 4, 5), (3, 4, 0), (700, 513, 3), (1, 1, 600_000)])
def test_matrix_product(m, n, l):
    X, W = f32(m, l), f32(l, n, seed=1)
    Y = evaluate(product_of(), {"X": X, "W": W}, {M: m, N: n, L: l})["Y"]
    assert Y.dtype == np.float32
    np.testing.assert_allclose(Y, X.astype(float) @ W, rtol=1e-4, atol=1e-3)


def test_integer_sum_wraps():
    X = np.full((1, 3), 2**30, np.int32)
    Y = evaluate(product_of(I32), {"X": X, "W": np.full((3, 1), 2, np.int32)}, {M: 1, N: 1, L: 3})["Y"]
    assert Y.tolist() == [[-(2**31)]]


def test_transposed_write_and_constant_coordinates():
    ops = [
        define(0, "Y", (J, 0, I), read("X", I, J), over(I, M), over(J, N)),
        define(1, "Y", (J, 1, I), Number(2.0, F32), over(I, M), over(J, N)),
    ]
    X = f32(600, 500)
    Y = evaluate(program(ops, X=("input", F32, (M, N)), Y=("output", F32, (N, 2, M))), {"X": X}, {M: 600, N: 500})["Y"]
    assert (Y[:, 0] == X.T).all()
    assert (Y[:, 1] == 2).all()


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize(("mode", "pad"), [("edge", "edge"), ("wrap", "wrap"), ("mirror", "reflect"), (0, "constant")])
def test_boundaries_are_numpys_pad(size, mode, pad):
    boundary = Boundary("constant", Number(0.0, F32)) if mode == 0 else Boundary(mode)
    reach = 20
    X = f32(size)
    op = program(
        [define(0, "Y", (I,), read("X", form(I) - reach, boundary=boundary), over(I, form(M) + 2 * reach))],
        X=("input", F32, (M,)), Y=("output", F32, (form(M) + 2 * reach,)),
    )  # fmt: skip
    Y = evaluate(op, {"X": X}, {M: size})["Y"]
    expected = np.pad(X, reach, mode="edge" if size == 1 and pad == "reflect" else pad)
    assert Y.tolist() == expected.tolist()


def test_a_checked_access_raises_with_its_indices():
    op = program(
        [define(0, "Y", (I,), read("X", index_of("I", I), checked=(True,)), over(I, N))],
        X=("input", F32, (M,)), I=("input", I32, (N,)), Y=("output", F32, (N,)),
    )  # fmt: skip
    index = np.array([2, 0, 7], np.int32)
    with pytest.raises(OutOfBounds, match=r"^index 7 is outside X.0 of size 3, at i = 2$") as raised:
        evaluate(op, {"X": f32(3), "I": index}, {M: 3, N: 3})
    assert raised.value.op == "op"
    assert evaluate(op, {"X": f32(3), "I": index % 3}, {M: 3, N: 3})["Y"].tolist() == f32(3)[[2, 0, 1]].tolist()


def test_only_the_chosen_branch_runs():
    quotient = Binary("floordiv", read("X", I, dtype=I32), read("D", I, dtype=I32), I32)
    nonzero = Compare("ne", read("D", I, dtype=I32), Number(0, I32))
    tensors = {"X": ("input", I32, (N,)), "D": ("input", I32, (N,)), "Y": ("output", I32, (N,))}
    inputs = {"X": np.array([-7, 5], np.int32), "D": np.array([2, 0], np.int32)}
    lazy = program([define(0, "Y", (I,), Select(nonzero, quotient, Number(-1, I32), I32), over(I, N))], **tensors)
    assert evaluate(lazy, inputs, {N: 2})["Y"].tolist() == [-4, -1]
    eager = program([define(0, "Y", (I,), quotient, over(I, N))], **tensors)
    with pytest.raises(DivisionByZero, match=r"^integer division by zero, at i = 1$"):
        evaluate(eager, inputs, {N: 2})


def test_a_sweep_runs_a_recurrence():
    definitions = [
        define(0, "S", (0, J), read("X", 0, J), over(J, N)),
        define(
            1, "S", (T, J), Binary("add", read("S", form(T) - 1, J), read("X", T, J), F32), over(T, M, 1), over(J, N)
        ),
    ]
    steps = (Sweep({0: 0, 1: 0}, True, form(0), form(M), (Run(0), Run(1))),)
    op = program(definitions, steps, X=("input", F32, (M, N)), S=("output", F32, (M, N)))
    X = f32(9, 4)
    assert (evaluate(op, {"X": X}, {M: 9, N: 4})["S"] == np.cumsum(X, axis=0)).all()


def test_argmax_takes_the_first_and_nan_wins():
    key = read("X", I, K)
    value = total((key, Convert(Integer(form(K)), I32)), over(K, N), name="argmax", dtypes=(F32, I32))
    op = program(
        [define(0, (Target("V", (form(I),)), Target("P", (form(I),))), (), value, over(I, M))],
        X=("input", F32, (M, N)), V=("output", F32, (M,)), P=("output", I32, (M,)),
    )  # fmt: skip
    X = np.array([[1, 3, 3], [5, np.nan, np.nan], [-np.inf] * 3], np.float32)
    found = evaluate(op, {"X": X}, {M: 3, N: 3})
    assert found["P"].tolist() == [1, 1, 0]
    np.testing.assert_array_equal(found["V"], X[[0, 1, 2], [1, 1, 0]])
    empty = evaluate(op, {"X": X[:, :0]}, {M: 3, N: 0})
    assert (empty["V"].tolist(), empty["P"].tolist()) == ([-np.inf] * 3, [0] * 3)


def test_a_range_may_depend_on_data_and_be_filtered():
    ends = [forms.opaque(read("ptr", form(I) + each, dtype=I64)) for each in (0, 1)]
    value = total(
        read("X", K, checked=(True,)),
        Binder(K, *ends),
        only=Compare("gt", read("X", K, checked=(True,)), Number(0.0, F32)),
    )
    op = program(
        [define(0, "Y", (I,), value, over(I, N))],
        ptr=("input", I64, (form(N) + 1,)), X=("input", F32, (M,)), Y=("output", F32, (N,)),
    )  # fmt: skip
    inputs = {"ptr": np.array([0, 3, 3, 5, 4]), "X": np.array([1, -1, 2, 3, 4], np.float32)}
    assert evaluate(op, inputs, {M: 5, N: 4})["Y"].tolist() == [3, 0, 7, 0]


def test_bool_reductions_of_nothing():
    definitions = [
        define(number, name, (), total(read("X", I, dtype=BOOL), over(I, N), name=name, dtypes=(BOOL,)))
        for number, name in enumerate(("any", "all"))
    ]
    tensors = {"X": ("input", BOOL, (N,)), "any": ("output", BOOL, ()), "all": ("output", BOOL, ())}
    found = evaluate(program(definitions, **tensors), {"X": np.zeros(0, bool)}, {N: 0})
    assert (found["any"].shape, bool(found["any"]), bool(found["all"])) == ((), False, True)


def test_parameters_have_their_values():
    value = Select(Parameter("up", BOOL), Parameter("scale", F32), read("X", I), F32)
    op = program(
        [define(0, "Y", (I,), value, over(I, form(N) * 2 - forms.symbol(Symbol("k", "param"))))],
        X=("input", F32, (N,)), Y=("output", F32, (form(N) * 2 - forms.symbol(Symbol("k", "param")),)),
    )  # fmt: skip
    for up, wanted in ((True, [0.5, 0.5]), (False, [1, 2])):
        bound = replace(op, parameters={"up": up, "scale": 0.5, "k": 2, "T": F32})
        assert evaluate(bound, {"X": np.array([1, 2], np.float32)}, {N: 2})["Y"].tolist() == wanted


def test_every_tensor_can_be_had():
    definitions = [
        define(0, "h", (I,), Binary("add", read("X", I), Number(1.0, F32), F32), over(I, N)),
        define(1, "Y", (I,), Binary("mul", read("h", I), Number(2.0, F32), F32), over(I, N)),
    ]
    op = program(definitions, X=("input", F32, (N,)), h=("intermediate", F32, (N,)), Y=("output", F32, (N,)))
    X = np.array([1, 2], np.float32)
    assert list(evaluate(op, {"X": X}, {N: 2})) == ["Y"]
    found = evaluate(op, {"X": X}, {N: 2}, every_tensor=True)
    assert {name: array.tolist() for name, array in found.items()} == {"X": [1, 2], "h": [2, 3], "Y": [4, 6]}


@pytest.mark.parametrize("given", [np.zeros((2, 3), np.float64), np.zeros((3, 2), np.float32), np.float32(0)])
def test_an_input_that_does_not_fit_is_refused(given):
    with pytest.raises(ValueError, match=r"^X must be float32\[2, 3\], not float"):
        evaluate(product_of(), {"X": given, "W": f32(3, 4)}, {M: 2, N: 4, L: 3})
