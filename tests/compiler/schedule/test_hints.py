"""`stream`, `prefetch` and `double_buffer`: what is refused, on which line, and what the nest's print says."""

from __future__ import annotations

import pytest
from tdl.compiler.schedule.check import diagnose
from tdl.compiler.schedule.printer import print_nest
from tdl.language.analysis import analyse
from tdl.language.source import Source

PRODUCT = "op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"
SCALE = "op f(X: f32[M, N]) -> Y: f32[M, N] { Y[i, j] = 2 * X[i, j] }\n"
TWO = "op f(X: f32[N]) -> Y: f32[N] {\n T[i] = X[i] + 1\n Y[i] = T[i] * 2 }\n"
SCAN = "op f(X: f32[N]) -> S: f32[N] where N >= 1 {\n S[0] = X[0]\n S[i] = S[i - 1] + X[i] for i in 1..N }\n"
TILED = "split C.k by 64 -> ko, ki\n split C.j by 32 -> jo, ji\n reorder ko, C.i, jo, ki, ji\n"

LEGAL = {
    "a result stored once": (SCALE, "vectorize Y.j by 16\n stream Y"),
    "a result from registers": (PRODUCT, "cache C at C.j in register as Cr\n stream C"),
    "one row ahead": ("test t: f(M=4, N=100)\n" + SCALE, "prefetch X at Y.i ahead 2"),
    "a copy of an input": (PRODUCT, TILED + "cache B at jo in stack as Bp\n double_buffer Bp"),
}
REFUSED = {
    "accumulated in place": (PRODUCT, "stream C", "`C` is accumulated in place"),
    "gathered in several tiles": (
        "test t: f(M=8, N=32, K=128)\n" + PRODUCT,
        TILED + "cache C at jo in register as Cr\n stream C",
        "`C` is accumulated in place",
    ),
    "read by another stage": (TWO, "stream T", "`Y` reads `T` again"),
    "read by itself": (SCAN, "stream S", "reads `S` again"),
    "too much at once": ("test t: f(M=99, N=2000)\n" + SCALE, "prefetch X at Y.i ahead 1", "touches more than"),
    "the loop goes": (SCALE, "prefetch X at Y.j ahead 1\nsplit Y.j by 8 -> a, b", "takes the loop"),
    "the loop is cut up": (SCALE, "prefetch X at Y.j ahead 1\nparallel Y.j", "makes `j` parallel"),
    "of registers": (PRODUCT, "cache B at C.k in register as Bp\ndouble_buffer Bp", "is in registers"),
    "of what is made there": (
        TWO,
        "split Y.i by 8 -> o, i\ncache T at o in stack as Tp\ndouble_buffer Tp\ncompute T at o",
        "the body of `o` writes `T`",
    ),
}


def found(op: str, schedule: str):
    text = f"{op}schedule f for cpu {{\n{schedule}\n}}\n"
    return text, diagnose(analyse(Source("h.tdl", text)))


@pytest.mark.parametrize("name", LEGAL)
def test_legal(name):
    op, schedule = LEGAL[name]
    assert found(op, schedule)[1] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_refused_on_its_own_line(name):
    op, schedule, reason = REFUSED[name]
    text, (diagnostic,) = found(op, schedule)
    assert reason in diagnostic.message
    hints = ("stream", "prefetch", "double_buffer")
    line = next(each.strip() for each in schedule.splitlines() if each.split()[0] in hints)
    assert text[diagnostic.primary.start : diagnostic.primary.end] == line


def test_the_nest_shows_them(load_text):
    schedule = TILED + "cache B at jo in stack as Bp\n double_buffer Bp\n prefetch A at ki ahead 3\n"
    text = print_nest(load_text(f"{PRODUCT}schedule f {{ {schedule} }}").f.nest())
    assert "stack Bp: f32[min(64, K - 64*ko), min(32, N - 32*jo)] twice" in text
    assert "prefetch A for ki + 3" in text
    text = print_nest(load_text(f"{SCALE}schedule f {{ stream Y\n }}").f.nest())
    assert "stream Y[i, j] = " in text
