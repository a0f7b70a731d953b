"""Nests that are not well formed are refused, with the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tdl.compiler.kernel.default import default_nest
from tdl.compiler.kernel.tree import Accumulator, Guard, Init, Loop, Nest, Origin, Store, Update
from tdl.compiler.kernel.verify import verify_nest
from tdl.language.check import check_op
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import BOOL, F32, I32
from tdl.language.forms import Symbol, constant, symbol
from tdl.language.source import NOWHERE
from tdl.language.tree import Access, Compare, Integer, Local, Number, Reducer, Target

HERE = Origin(0, NOWHERE)
I, J = Symbol("i", "index"), Symbol("j", "index")
N = Symbol("N", "dim")
SUM = Reducer("sum", (F32,))


def loop(index, *body):
    return Loop("Y", index, constant(0), symbol(N), "spatial", body, HERE)


def store(value, *coordinates):
    return Store((Target("Y", coordinates),), (value,), HERE)


X_I = Access("X", (symbol(I),), F32)

BROKEN = {
    "no loop runs over j": (loop(I, store(X_I, symbol(J))),),
    "repeats an enclosing index": (loop(I, loop(I, store(X_I, symbol(I)))),),
    "is stored a i32": (loop(I, store(Number(1, I32), symbol(I))),),
    "is written with 2 subscripts": (loop(I, store(X_I, symbol(I), symbol(I))),),
    "is read with 0 subscripts": (loop(I, store(Access("X", (), F32), symbol(I))),),
    "nothing binds s": (loop(I, store(Local("s", F32), symbol(I))),),
    "X cannot be written": (loop(I, Store((Target("X", (symbol(I),)),), (X_I,), HERE)),),
    "before it is initialised": (loop(I, Update(Accumulator("s", SUM), (X_I,), HERE)),),
    "takes f32, not i32": (
        Init(Accumulator("s", SUM), HERE),
        Update(Accumulator("s", SUM), (Number(1, I32),), HERE),
    ),
    "takes 1 values": (Init(Accumulator("s", SUM), HERE), Update(Accumulator("s", SUM), (), HERE)),
    "Y is never written": (loop(I, Guard(Number(True, BOOL), (), HERE)),),
    "no loop runs over i": (Guard(Compare("eq", Integer(symbol(I)), Integer(constant(0))), (), HERE),),
}


@pytest.fixture(scope="module")
def nest(load_text) -> Nest:
    return default_nest(check_op(load_text("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }").f.declaration).program)


def test_the_default_nest_is_well_formed(nest):
    assert verify_nest(nest) is nest


@pytest.mark.parametrize("reason", BROKEN)
def test_broken(nest, reason):
    with pytest.raises(InternalError) as raised:
        verify_nest(replace(nest, body=BROKEN[reason]))
    assert reason in str(raised.value)
    assert "op f(X: f32[N])" in str(raised.value)
