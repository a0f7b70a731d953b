"""An op after each line of its schedule: at sizes, at some of them, at none; with knobs; with refused lines."""

from __future__ import annotations

import numpy as np
import pytest
from tdl.compiler import load
from tdl.compiler.preview import render_nest
from tdl.compiler.schedule.choose import schedules_of
from tdl.compiler.steps import knobs_of, steps_of
from tdl.language.analysis import analyse
from tdl.language.binding import BindError
from tdl.language.source import Source

TEXT = """op f[by: int = 2](A: f32[M, N]) -> B: f32[M, N] {
    B[i, j] = f32(by) * A[i, j]
}
schedule f for cpu when N >= 8 {
    knob tile = 8 in [4, 8]
    split B.j by tile -> jo, ji
    unroll ji
}
schedule f for gpu {
    parallel B.i
}
"""


def steps(text: str = TEXT, **options):
    module = analyse(Source("f.tdl", text)).module
    op = module.ops["f"]
    return steps_of(op, schedules_of(op, module.schedules), **options)


def loops(nest) -> list[str]:
    lines = render_nest(nest, "nest").splitlines()
    return [line.split("#")[0].strip() for line in lines if line.lstrip().startswith(("for", "unrolled", "parallel"))]


def test_after_each_line():
    made = steps()
    assert len(made.steps) == 4
    assert loops(made.nest(0)) == ["for i in 0..M", "for j in 0..N"]
    assert made.nest(1) == made.nest(0)
    assert loops(made.nest(2)) == ["for i in 0..M", "for jo in 0..(N + 7)//8", "for ji in 0..min(8, N - 8*jo)"]
    assert loops(made.nest())[-1] == "unrolled for ji in 0..min(8, N - 8*jo)"
    assert made.nest(3) == made.nest()


def test_at_sizes_and_with_knobs():
    made = steps(sizes={"M": 5, "N": 16}, knobs={"tile": 4}, parameters={"by": 3})
    assert loops(made.nest()) == ["for i in 0..5", "for jo in 0..4", "unrolled for ji in 0..4"]
    assert not made.program.dims
    some = steps(sizes={"N": 16})
    assert [dim.name for dim in some.program.dims] == ["M"]
    assert loops(some.nest())[0] == "for i in 0..M"


def test_no_schedule_holds():
    made = steps(sizes={"N": 7})
    assert made.schedule is None
    assert loops(made.nest()) == ["for i in 0..M", "for j in 0..7"]
    assert made.nest() == made.nest(0)


def test_a_schedule_whose_condition_has_an_error_does_not_hold():
    assert steps(TEXT.replace("N >= 8", "Q >= 8")).schedule is None


def test_refused_lines_are_steps():
    text = TEXT.replace("    unroll ji\n", "    parallel nothing\n    unroll ji\n")
    made = steps(text)
    assert [step.refusal.code for step in made.refused] == ["unknown-loop"]
    assert made.nest(3) == made.nest(2)
    assert loops(made.nest())[-1].startswith("unrolled")


@pytest.mark.parametrize("count", [-1, 4])
def test_a_step_that_is_not_there(count):
    with pytest.raises(ValueError, match="has 3 lines, and no step"):
        steps().nest(count)


def test_names_that_are_not_there():
    with pytest.raises(ValueError, match=r"no schedule of `f` has a knob `wide` \(there is tile\)"):
        steps(knobs={"wide": 3})
    assert steps(sizes={"N": 2}, knobs={"tile": 3}).schedule is None, "a knob of a schedule that does not hold"
    with pytest.raises(BindError, match="has no dimension `K`"):
        steps(sizes={"K": 3})


def test_from_a_loaded_op():
    f = load(Source("f.tdl", TEXT)).f
    schedule = f.schedule()
    assert knobs_of(schedule) == ("tile",)
    assert f.schedule(N=3) is None
    assert f.schedule(N=9, by=3) == schedule
    assert loops(f.nest(N=16, knobs={"tile": 4}))[-1] == "unrolled for ji in 0..4"
    assert loops(f.nest(0, N=16))[-1] == "for j in 0..16"


def test_an_op_with_other_knobs():
    f = load(Source("f.tdl", TEXT)).f
    narrow = f.with_knobs(tile=4)
    assert loops(narrow.nest(N=16))[-1] == "unrolled for ji in 0..4"
    assert loops(narrow.with_knobs(tile=2).nest(N=16))[-1] == "unrolled for ji in 0..2"
    assert loops(f.nest(N=16))[-1] == "unrolled for ji in 0..8"
    A = np.arange(80, dtype=np.float32).reshape(5, 16)
    assert (narrow(A, by=3) == 3 * A).all()
    assert (f(A, by=3) == 3 * A).all()
    with pytest.raises(ValueError, match="no schedule of `f` has a knob `wide`"):
        f.with_knobs(wide=3)
    with pytest.raises(TypeError, match="the knob `tile` is an integer"):
        f.with_knobs(tile=2.5)


@pytest.mark.parametrize("stage", ["kernel", "c", "llvm-made", "llvm", "asm"])
def test_stages_of_a_scheduled_op(stage):
    assert render_nest(steps(sizes={"M": 5, "N": 16}).nest(), stage)
