"""Kernels that are not well formed are refused, with the reason."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tdl.compiler.kernel.tree import Allocate, Buffer, Guard, Init, Kernel, Lanes, Loop, Place, Store, Update
from tdl.compiler.kernel.verify import verify
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.language.check import check_op
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import BOOL, F32, I32
from tdl.language.forms import Symbol, constant, symbol
from tdl.language.tree import Access, Boundary, Compare, Integer, Local, Number, Reducer

I, J, L = Symbol("i", "index"), Symbol("j", "index"), Symbol("l", "index")
N = Symbol("N", "dim")
SUM = Reducer("sum", (F32,))
ONE = Number(1.0, F32)


def loop(index, *body):
    return Loop(index, constant(0), symbol(N), body)


def lanes(count, *body):
    return Lanes(L, count, None, body)


def place(offset=I, buffer="Y"):
    return Place(buffer, symbol(offset))


X_I = Access("X", (symbol(I),), F32)
T = Place("t", constant(0))

BROKEN = {
    "no loop counts j": (loop(I, Store(place(J), X_I)),),
    "no loop counts i": (Guard(Compare("eq", Integer(symbol(I)), Integer(constant(0))), ()),),
    "counted by an enclosing loop already": (loop(I, loop(I, Store(place(), X_I))),),
    "takes f32, not i32": (loop(I, Store(place(), Number(1, I32))),),
    "X is read as i32": (loop(I, Store(Place("n", constant(0)), Access("X", (symbol(I),), I32))),),
    "not read at an offset": (loop(I, Store(place(), replace(X_I, boundary=Boundary("edge")))),),
    "nothing binds s": (loop(I, Store(place(), Local("s", F32))),),
    "X cannot be written": (loop(I, Store(place(buffer="X"), ONE)),),
    "t does not live here": (Store(T, ONE),),
    "t lives already": (Allocate("t", (Allocate("t", (Store(T, ONE),)),)),),
    "X is no buffer that lives in a body": (Allocate("X", ()),),
    "its size is N": (Allocate("s", ()),),
    "depends on loops": (loop(I, Allocate("a", ())),),
    "no power of two": (lanes(3, Store(place(L), ONE)),),
    "inside of other lanes": (lanes(4, Lanes(I, 4, None, (Store(place(), ONE),))),),
    "takes 1 values": (loop(I, Update((place(),), SUM, ())),),
    "sum does not fit into n": (Init((Place("n", constant(0)),), SUM),),
    "a condition takes bool": (Guard(ONE, ()),),
}


@pytest.fixture(scope="module")
def kernel(load_text) -> Kernel:
    op = load_text("op f(X: f32[N]) -> Y: f32[N] { Y[i] = X[i] }").f
    made = lower(automatic_nest(check_op(op.declaration).program))
    more = (
        Buffer("n", I32, "workspace", ()),
        Buffer("t", F32, "register", (constant(1),)),
        Buffer("s", F32, "stack", (symbol(N),)),
        Buffer("a", F32, "arena", (symbol(I),)),
    )
    return replace(made, buffers={**made.buffers, **{buffer.name: buffer for buffer in more}})


def test_a_lowered_kernel_is_well_formed(kernel):
    assert verify(kernel) is kernel


def test_conditions_are_bool(kernel):
    body = (Guard(Number(True, BOOL), (Allocate("t", (Store(T, ONE),)),)),)
    assert verify(replace(kernel, body=body)).body == body


@pytest.mark.parametrize("reason", BROKEN)
def test_broken(kernel, reason):
    with pytest.raises(InternalError) as raised:
        verify(replace(kernel, body=BROKEN[reason]))
    assert reason in str(raised.value)
    assert "global X: f32[N]" in str(raised.value)
