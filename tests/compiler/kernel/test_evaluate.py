"""Kernels that are run: what lanes do, and what is an error of ours."""

from __future__ import annotations

import numpy as np
import pytest
from tdl.compiler.kernel.evaluate import evaluate_kernel
from tdl.compiler.kernel.tree import (
    Allocate,
    Buffer,
    Checked,
    Guard,
    Init,
    Kernel,
    Lanes,
    Loop,
    Place,
    Prefetch,
    Store,
    Update,
)
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.language.check import check_op
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import I32, I64
from tdl.language.failure import DivisionByZero, OutOfBounds
from tdl.language.forms import ZERO, Symbol, constant, floor_div, opaque, symbol
from tdl.language.tree import Access, Binary, Compare, Convert, Integer, Number, Reducer, Select

I, J, L = Symbol("i", "index"), Symbol("j", "index"), Symbol("l", "index")
N = Symbol("N", "dim")
SUM = Reducer("sum", (I32,))
FIRST = Reducer("argmax", (I32,))


def access(offset, tensor="X"):
    return Access(tensor, (offset,), I32)


def loop(index, *body, hi=None, **more):
    return Loop(index, ZERO, symbol(N) if hi is None else hi, body, **more)


def lanes(*body, count=4, active=None):
    return Lanes(L, count, active, body)


def place(offset, buffer="Y"):
    return Place(buffer, offset)


def at_least(left, right):
    return Compare("ge", Integer(left), Integer(right))


ROW = symbol(I) * 4 + symbol(L)
ROWS = floor_div(symbol(N) + 3, constant(4))
LEFT = symbol(N) - symbol(I) * 4
COPY = loop(I, lanes(Store(place(ROW), access(ROW)), active=LEFT), hi=ROWS)
BUFFERS = (
    Buffer("t", I32, "stack", (constant(4),)),
    Buffer("a", I32, "arena", (constant(4),), ZERO),
    Buffer("b", I32, "arena", (constant(4),), ZERO),
    Buffer("n", I64, "stack", (constant(1),)),
)


@pytest.fixture(scope="module")
def kernel(load_text) -> Kernel:
    op = load_text("op f(X: i32[N]) -> Y: i32[N] { Y[i] = X[i] }").f
    made = lower(automatic_nest(check_op(op.declaration).program))
    buffers = {**made.buffers, **{buffer.name: buffer for buffer in BUFFERS}}
    return Kernel(made.program, buffers, (), arena=constant(64))


@pytest.fixture
def run(kernel):
    def run(*body, given=(5, 3, -7, 3, 9), **more):
        inputs = {"X": np.array(given, np.int32)}
        made = Kernel(kernel.program, kernel.buffers, body, arena=kernel.arena)
        return evaluate_kernel(made, inputs, {N: len(given)}, **more)["Y"].tolist()

    return run


# ---- what runs


def test_only_lanes_that_are_active_touch_anything(run):
    assert run(COPY) == [5, 3, -7, 3, 9]


def test_lanes_that_share_an_accumulator_are_combined_first(run):
    total = lanes(Update((place(ZERO),), SUM, (access(symbol(L)),)), active=symbol(N))
    rest = loop(I, Store(place(symbol(I)), access(symbol(I))))
    assert run(rest, Init((place(ZERO),), SUM), total, given=(5, 3, -7)) == [1, 3, -7]


def test_a_guard_in_lanes_is_a_mask(run):
    odd = Compare("eq", Integer(symbol(L) - floor_div(symbol(L), constant(2)) * 2), Integer(constant(1)))
    store = Guard(odd, (Store(place(symbol(L)), Number(1, I32)),))
    assert run(loop(I, Store(place(symbol(I)), Number(0, I32))), lanes(store), given=(7, 7, 7, 7)) == [0, 1, 0, 1]


def test_each_lane_reads_on_its_own_side_of_a_select(run):
    back = Select(at_least(symbol(L), constant(1)), access(symbol(L) - 1), Number(8, I32), I32)
    assert run(lanes(Store(place(symbol(L)), back)), given=(1, 2, 3, 4)) == [8, 1, 2, 3]


def test_lanes_have_loops_of_their_own(run):
    begin = Init((place(symbol(L)),), SUM)
    body = loop(J, Update((place(symbol(L)),), SUM, (access(symbol(J)),)), hi=symbol(L) + 1)
    assert run(lanes(begin, body), given=(1, 2, 3, 4)) == [1, 3, 6, 10]


def test_the_last_lane_has_its_way_with_what_all_store(run):
    store = Store(place(ZERO), access(symbol(L)))
    assert run(loop(I, Store(place(symbol(I)), access(symbol(I)))), lanes(store), given=(4, 5, 6, 7)) == [7, 5, 6, 7]


def test_parallel_loops_run_in_either_direction(run):
    last = loop(I, Store(place(ZERO), access(symbol(I))), kind="parallel")
    rest = loop(I, Store(place(symbol(I)), access(symbol(I))))
    assert run(rest, last, given=(1, 2, 3)) == [3, 2, 3]
    assert run(rest, last, given=(1, 2, 3), is_backwards=True) == [1, 2, 3]


def test_a_winner_is_the_first_of_equals_wherever_it_is_found(run):
    found = Place("n", ZERO)
    best = Update((place(ZERO), found), FIRST, (access(symbol(I)), Integer(symbol(I))))
    at = Store(place(ZERO), Convert(Access("n", (ZERO,), I64), I32))
    rest = loop(I, Store(place(symbol(I)), access(symbol(I))))
    body = Allocate("n", (Init((place(ZERO), found), FIRST), loop(I, best, descending=True), at))
    assert run(rest, body, given=(2, 9, 9, 1)) == [1, 9, 9, 1]


def test_what_is_copied_may_be_unwritten_as_long_as_nobody_uses_it(run):
    t = Place("t", symbol(I))
    fill = loop(I, Store(place(symbol(I)), access(symbol(I))))
    spare = loop(I, Store(t, Access("a", (symbol(I),), I32)), hi=constant(4))
    assert run(fill, Allocate("t", (Allocate("a", (spare,)),))) == [5, 3, -7, 3, 9]


def test_a_prefetch_may_be_of_anything(run):
    assert run(COPY, Prefetch(Place("X", constant(1000)))) == [5, 3, -7, 3, 9]


# ---- failures of the program


def test_failures_are_the_programs(run):
    subscript = Checked("index", (Integer(symbol(I)), Integer(constant(3))), I64, tensor="X")
    with pytest.raises(OutOfBounds, match=r"index 3 is outside X\.0 of size 3"):
        run(loop(I, Store(place(symbol(I)), access(opaque(subscript)))))
    zero = Binary("floordiv", access(symbol(I)), Number(0, I32), I32)
    with pytest.raises(DivisionByZero):
        run(loop(I, Store(place(symbol(I)), zero)))


# ---- errors of ours

UNWRITTEN = Access("t", (ZERO,), I32)
BROKEN = {
    "X[5] is outside of its 5 elements": (loop(I, Store(place(symbol(I)), access(symbol(I) + 1))),),
    "Y[-1] is outside of its 5 elements": (Store(place(constant(-1)), Number(0, I32)),),
    "X[6] is outside": (lanes(Store(place(symbol(L)), access(symbol(L) * 3)), active=constant(3)),),
    "t[0] is read before it is written": (
        Allocate("t", (Store(place(ZERO), Binary("add", UNWRITTEN, UNWRITTEN, I32)),)),
    ),
    "Y[0] is read before it is written": (Update((place(ZERO),), SUM, (Number(1, I32),)),),
    "Y[1] is an output, and nothing writes it": (Store(place(ZERO), Number(0, I32)),),
    "lanes update one element of Y": (
        Init((place(ZERO),), SUM),
        Init((place(constant(1)),), SUM),
        lanes(Update((place(floor_div(symbol(L), constant(2))),), SUM, (Number(1, I32),))),
    ),
    "b is at 0..16 of the arena, and a at 0..16": (Allocate("a", (Allocate("b", (COPY,)),)),),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_broken(run, reason):
    with pytest.raises(InternalError) as raised:
        run(*BROKEN[reason])
    assert reason in str(raised.value)


def test_the_arena_holds_what_lies_in_it(kernel):
    small = Kernel(kernel.program, kernel.buffers, (Allocate("a", (COPY,)),), arena=constant(8))
    with pytest.raises(InternalError, match=r"a is at 0\.\.16 of an arena of 8 bytes"):
        evaluate_kernel(small, {"X": np.zeros(1, np.int32)}, {N: 1})


def test_an_error_says_where(run):
    with pytest.raises(InternalError) as raised:
        run(loop(I, Store(place(symbol(I)), access(symbol(I) + 1))))
    assert "kernel of f, `Y[i] = X[i + 1]` at {'i': 4}: X[5] is outside" in str(raised.value)
