"""The nest of an op without a schedule, as it is printed: one file of text beside each program."""

from __future__ import annotations

from pathlib import Path

import pytest
from tdl.compiler import load
from tdl.compiler.preview import nest_view, render_stage
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.compiler.schedule.tree import Update
from tdl.compiler.schedule.walk import leaves_of
from tdl.language.check import check_op

GOLDEN = Path(__file__).parents[2] / "golden" / "nest"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.tdl")), ids=lambda path: path.stem)
def test_print(path, update_golden):
    found = render_stage(check_op(load(path)[path.stem].declaration).program, "nest")
    expected = path.with_suffix(".nest")
    if update_golden:
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text(encoding="utf-8")


def test_every_line_knows_its_definition(load_text):
    text = "op f(X: f32[N]) -> Y: f32[N] {\n    t[i] = X[i] * 2\n    Y[i] = t[i] + 1\n}"
    lines = nest_view(check_op(load_text(text).f.declaration).program)
    origins = {line.text.strip(): line.origin for line in lines}
    made = origins["Y[i] = t[i] + 1"]
    assert made is not None
    assert made.definition == 1
    assert text[made.span.start : made.span.end] == "Y[i] = t[i] + 1"
    assert [line.loop for line in lines if line.loop] == ["t.i", "Y.i"]


def loops_around_updates(op):
    nest = automatic_nest(check_op(op.declaration).program)
    return [
        [loop.label for loop in path]
        for path, leaf in leaves_of(nest.body)
        if isinstance(nest.stages[leaf.stage].work, Update)
    ]


@pytest.mark.parametrize(
    ("shape", "value", "loops"),
    [
        ("M, N", "sum(A[i, k] * B[k, j] for k)", ["C.i", "C.k", "C.j"]),  # rows of B in order
        ("M, N", "sum(A[i, k] * B[j, k] for k)", ["C.i", "C.j", "C.k"]),  # sums in order
        ("M, N", "argmax((A[i, k], k) for k)", ["C.i", "C.j", "C.k"]),  # winners stay in registers
    ],
)
def test_the_last_axis_goes_inside_where_that_is_kinder(load_text, shape, value, loops):
    arg = value.startswith("argmax")
    target = "(C[i, j], D[i, j])" if arg else "C[i, j]"
    outputs = f"(C: f32[{shape}], D: i64[{shape}])" if arg else f"C: f32[{shape}]"
    op = load_text(f"op f(A: f32[M, K], B: f32[K, N]) -> {outputs} where K == N {{ {target} = {value} }}").f
    assert loops_around_updates(op) == [loops]


def test_a_range_that_depends_on_the_last_axis_keeps_it_outside(load_text):
    op = load_text("op f(A: f32[N, N]) -> C: f32[N, N] { C[i, j] = sum(A[k, j] for k in 0..j) }").f
    assert loops_around_updates(op) == [["C.i", "C.j", "C.k"]]
