"""The evaluator against the meaning written down once more, element by element, on programs made up by Hypothesis."""

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tdl.language import forms
from tdl.language.dtypes import BOOL, I32, I64
from tdl.language.evaluate import boxes, evaluate, programs
from tdl.language.failure import DivisionByZero, Failure, OutOfBounds
from tdl.language.forms import Symbol
from tdl.language.tree import (
    Access,
    Binary,
    Binder,
    Boundary,
    Compare,
    Convert,
    Definition,
    Integer,
    Let,
    Local,
    Number,
    Program,
    Reduce,
    Reducer,
    Run,
    Select,
    Target,
    Tensor,
)

I, J, K, L = (Symbol(name, "index") for name in "ijkl")
X = np.array([[3, -1, 4], [1, -5, 9], [2, 6, -5], [0, 0, 7]], np.int32)
P = np.array([0, 2, 1, 5, -1], np.int32)
ARRAYS = {"X": X, "P": P}
REDUCERS = {
    "sum": lambda values: sum(values),
    "prod": lambda values: wrapped_product(values),
    "max": lambda values: max(values, default=I32.least),
    "min": lambda values: min(values, default=I32.greatest),
}


# ---- the meaning


def wrap(value, dtype=I32):
    return (value - dtype.least) % (1 << dtype.bits) + dtype.least


def wrapped_product(values):
    result = 1
    for value in values:
        result = wrap(result * value)
    return result


def form_meaning(form, env):
    total = form.constant
    for atom, coefficient in form.terms:
        total += coefficient * atom_meaning(atom, env)
    return wrap(total, I64)


def atom_meaning(atom, env):
    match atom:
        case Symbol():
            return env[atom]
        case forms.FloorDiv(left, right):
            return divided(form_meaning(left, env), form_meaning(right, env))[0]
        case forms.Extreme(kind, left, right):
            return {"min": min, "max": max}[kind](form_meaning(left, env), form_meaning(right, env))
        case forms.Product(left, right):
            return wrap(form_meaning(left, env) * form_meaning(right, env), I64)
        case forms.Opaque(expr):
            return meaning(expr, env)


def divided(left, right):
    if right == 0:
        raise DivisionByZero("")
    return left // right, left % right


def landing(subscript, size, mode):
    match mode:
        case "edge":
            return min(max(subscript, 0), size - 1)
        case "wrap":
            return subscript % size
        case "mirror":
            while size > 1 and not 0 <= subscript < size:
                subscript = -subscript if subscript < 0 else 2 * (size - 1) - subscript
            return subscript if size > 1 else 0


def access_meaning(access, env):
    array = ARRAYS[access.tensor]
    subscripts = [form_meaning(form, env) for form in access.subscripts]
    is_inside = all(0 <= each < size for each, size in zip(subscripts, array.shape))
    if not is_inside and access.boundary is None:
        raise OutOfBounds("")
    if not is_inside and access.boundary.mode == "constant":
        return meaning(access.boundary.value, env)
    if not is_inside:
        subscripts = [landing(each, size, access.boundary.mode) for each, size in zip(subscripts, array.shape)]
    return int(array[tuple(subscripts)])


def runs(binders, env):
    if not binders:
        yield env
        return
    first, *rest = binders
    for value in range(form_meaning(first.lo, env), form_meaning(first.hi, env)):
        yield from runs(rest, {**env, first.index: value})


BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "min": min,
    "max": max,
    "bit_xor": lambda x, y: x ^ y,
    "floordiv": lambda x, y: divided(x, y)[0],
    "mod": lambda x, y: divided(x, y)[1],
}
COMPARE = {"lt": int.__lt__, "eq": int.__eq__, "ge": int.__ge__, "ne": int.__ne__}


def meaning(expr, env):
    match expr:
        case Number(value):
            return value
        case Integer(form):
            return form_meaning(form, env)
        case Local(name):
            return env[name]
        case Access():
            return access_meaning(expr, env)
        case Binary("and", left, right):
            return meaning(left, env) and meaning(right, env)
        case Binary("or", left, right):
            return meaning(left, env) or meaning(right, env)
        case Binary(operator, left, right):
            return wrap(BINARY[operator](meaning(left, env), meaning(right, env)))
        case Compare(operator, left, right):
            return COMPARE[operator](meaning(left, env), meaning(right, env))
        case Select(condition, then, other):
            return meaning(then if meaning(condition, env) else other, env)
        case Convert(operand, dtype):
            return wrap(meaning(operand, env), dtype)
        case Let(name, value, body):
            return meaning(body, {**env, name: meaning(value, env)})
        case Reduce(reducer, binders, condition, (argument,)):
            lanes = (lane for lane in runs(binders, env) if condition is None or meaning(condition, lane))
            return wrap(REDUCERS[reducer.name]([meaning(argument, lane) for lane in lanes]))


# ---- programs


@st.composite
def subscripts(draw, scope):
    index = forms.symbol(draw(st.sampled_from(scope)))
    other = forms.symbol(draw(st.sampled_from(scope)))
    shift = draw(st.integers(-3, 3))
    match draw(st.integers(0, 7)):
        case 0 | 1:
            return index + shift
        case 2:
            return index * 2 - shift
        case 3:
            return index + other + shift
        case 4:
            return forms.floor_div(index + shift, forms.constant(draw(st.sampled_from([2, 3, -2]))))
        case 5:
            return forms.extreme(draw(st.sampled_from(["min", "max"])), index, other + shift)
        case 6:
            return forms.product(index, other + shift)
    return through_data(index) + shift


def through_data(index):
    return forms.opaque(Convert(Access("P", (index,), I32, Boundary("wrap")), I64))


@st.composite
def accesses(draw, scope):
    tensor = draw(st.sampled_from(["X", "P"]))
    places = tuple(draw(subscripts(scope)) for _ in ARRAYS[tensor].shape)
    mode = draw(st.sampled_from([None, "constant", "edge", "wrap", "mirror"]))
    if mode is None:
        return Access(tensor, places, I32, checked=(True,) * len(places))
    value = Number(draw(st.integers(-9, 9)), I32) if mode == "constant" else None
    return Access(tensor, places, I32, Boundary(mode, value))


@st.composite
def ranges(draw, scope):
    lo = draw(st.sampled_from([forms.ZERO, forms.constant(-2), forms.symbol(scope[0])]))
    match draw(st.integers(0, 2)):
        case 0:
            return lo, lo + draw(st.integers(-1, 4))
        case 1:
            return lo, forms.symbol(draw(st.sampled_from(scope)))
    return lo, through_data(forms.symbol(draw(st.sampled_from(scope))))


@st.composite
def reductions(draw, scope, depth, names):
    binders, inner = [], scope
    for index in draw(st.sampled_from([(K,), (L,), (K, L)])):
        if index not in inner:
            binders.append(Binder(index, *draw(ranges(inner))))
            inner = [*inner, index]
    if not binders:
        return draw(accesses(scope))
    only = draw(st.none() | conditions(inner, depth - 1, names))
    reducer = Reducer(draw(st.sampled_from([*REDUCERS])), (I32,))
    return Reduce(reducer, tuple(binders), only, (draw(values(inner, depth - 1, names)),))


@st.composite
def conditions(draw, scope, depth, names):
    if depth > 0 and draw(st.booleans()):
        sides = draw(conditions(scope, depth - 1, names)), draw(conditions(scope, depth - 1, names))
        return Binary(draw(st.sampled_from(["and", "or"])), *sides, BOOL)
    sides = draw(values(scope, depth - 1, names)), draw(values(scope, depth - 1, names))
    return Compare(draw(st.sampled_from([*COMPARE])), *sides)


@st.composite
def values(draw, scope, depth, names):
    if depth <= 0:
        leaves = [accesses(scope), st.builds(Number, st.integers(-9, 9), st.just(I32))]
        leaves.append(subscripts(scope).map(lambda form: Convert(Integer(form), I32)))
        leaves += [st.just(Local(name, I32)) for name in names]
        return draw(st.one_of(leaves))

    def below():
        return draw(values(scope, depth - 1, names))

    match draw(st.integers(0, 5)):
        case 0 | 1:
            return Binary(draw(st.sampled_from([*BINARY])), below(), below(), I32)
        case 2:
            return Select(draw(conditions(scope, depth - 1, names)), below(), below(), I32)
        case 3:
            name = f"x{len(names)}"
            return Let(name, below(), draw(values(scope, depth - 1, [*names, name])))
    return draw(reductions(scope, depth, names))


def program(value, only, rows, columns):
    shape = (forms.constant(rows), forms.constant(columns))
    indices = tuple(Binder(index, forms.ZERO, size) for index, size in zip((I, J), shape))
    target = Target("Y", (forms.symbol(I), forms.symbol(J)))
    tensors = {
        name: Tensor(name, "input", I32, tuple(map(forms.constant, array.shape))) for name, array in ARRAYS.items()
    }
    tensors["Y"] = Tensor("Y", "output", I32, shape)
    definition = Definition(0, (target,), indices, only, value)
    return Program("op", {}, (), {}, tensors, ("X", "P"), ("Y",), (), (definition,), (Run(0),))


def wanted_of(value, only, rows, columns):
    """The result by the meaning, or None where it raises."""
    wanted = np.zeros((rows, columns), np.int32)
    try:
        for i, j in product(range(rows), range(columns)):
            env = {I: i, J: j}
            if only is None or meaning(only, env):
                wanted[i, j] = meaning(value, env)
    except Failure:
        return None
    return wanted


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
SIZES = st.integers(0, 4)


@pytest.mark.parametrize(("box", "block"), [(1, 1), (4, 9), (1 << 16, 1 << 19)])
@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(value=values([I, J], 3, []), only=st.none() | conditions([I, J], 1, []), rows=SIZES, columns=SIZES)
def test_every_element_is_what_it_means(monkeypatch, box, block, value, only, rows, columns):
    monkeypatch.setattr(programs, "BOX", box)
    monkeypatch.setattr(boxes, "BLOCK", block)
    wanted = wanted_of(value, only, rows, columns)
    if wanted is None:
        with pytest.raises(Failure):
            evaluate(program(value, only, rows, columns), ARRAYS, {})
    else:
        assert (evaluate(program(value, only, rows, columns), ARRAYS, {})["Y"] == wanted).all()
