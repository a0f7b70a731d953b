"""What is wrong with the schedules of a file, where lines wait for sizes to have numbers."""

from __future__ import annotations

import pytest
from tdl.compiler.schedule.check import check_schedules, legality_after, steps_at, wrong_lines
from tdl.language.analysis import analyse
from tdl.language.parse import parse_item
from tdl.language.source import Source
from tdl.language.syntax import Line

OP = "op f(X: f32[M, N]) -> Y: f32[M] { Y[i] = sum(X[i, k] for k) }\n"
TEST = "test odd: f(M=37, N=5)\n"


def refused(text: str) -> list[str]:
    return [each.message for each in check_schedules(analyse(Source("f.tdl", text)))]


def test_a_line_that_names_what_a_line_by_size_makes_is_asked_at_the_sizes_of_tests() -> None:
    schedule = "schedule f {\n    split Y.i by M -> io, ii\n    unroll ii\n}\n"
    assert refused(OP + schedule) == []
    assert refused(OP + TEST + schedule) == []


def test_a_line_behind_one_by_size_is_refused_at_the_sizes_of_tests() -> None:
    schedule = "schedule f {\n    split Y.i by M -> io, ii\n    parallel Y.k\n}\n"
    assert refused(OP + schedule) == []
    assert refused(OP + TEST + schedule) == ["`Y.k` cannot be parallel: two of its iterations touch Y[0]"]


@pytest.mark.parametrize(("line", "is_legal"), [("parallel io", True), ("parallel Y.k", False), ("unroll iii", False)])
def test_one_more_line_is_tried_by_itself(line: str, is_legal: bool) -> None:
    module = analyse(Source("f.tdl", OP + TEST + "schedule f { split Y.i by 8 -> io, ii }")).module
    schedule, case = module.entries[2].declaration, module.entries[1].declaration
    item = parse_item(f"schedule f {{ {line} }}").item
    added = item.body[0]  # type: ignore[union-attr]
    assert isinstance(added, Line)
    for more in (legality_after(schedule), legality_after(schedule, case)):
        assert more is not None
        assert (more(added).refusal is None) == is_legal


def test_the_steps_of_a_schedule_whose_op_is_wrong_are_not_known() -> None:
    module = analyse(Source("f.tdl", "op f(X: f32[N]) -> Y: f32[N] { Y[i] = Z }\nschedule f { unroll Y.i }")).module
    assert steps_at(module.entries[1].declaration) is None


def test_lines_that_are_wrong_by_themselves_do_nothing() -> None:
    schedule = "schedule f {\n    split Y.i into 4 -> io\n    split\n    vectorize Y.k by 8\n}"
    declaration = analyse(Source("f.tdl", OP + schedule)).module.entries[1].declaration
    assert wrong_lines(declaration) == {0, 1}
    applied = steps_at(declaration)
    assert applied is not None
    assert [step.refusal for step in applied.steps] == [None] * 4
    assert applied.steps[2].nest is applied.steps[0].nest is not applied.nest
    assert legality_after(declaration) is None
