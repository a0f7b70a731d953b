"""The automatic schedule as text: pasted into the file it checks, and gives the same nest."""

from __future__ import annotations

from pathlib import Path

import pytest
from tdl.compiler.preview import render_nest
from tdl.compiler.schedule.apply import apply_schedule
from tdl.compiler.schedule.check import cases_of, diagnose
from tdl.compiler.schedule.planner.automatic import automatic_schedule
from tdl.compiler.schedule.planner.text import block
from tdl.language import syntax
from tdl.language.analysis import analyse
from tdl.language.format import format_text
from tdl.language.source import Source

PROGRAMS = sorted((Path(__file__).parents[3] / "programs").glob("*.tdl"))


def analysed(path, more=""):
    return analyse(Source(str(path), f"{path.read_text(encoding='utf-8')}\n{more}"))


def ops():
    for path in PROGRAMS:
        for entry in analysed(path).module.entries:
            if isinstance(entry.declaration.item, syntax.Op):
                yield pytest.param(path, entry.declaration, id=entry.declaration.name)


@pytest.mark.parametrize(("path", "op"), list(ops()))
def test_pasted_it_gives_the_same_nest(path, op):
    made = automatic_schedule(op, cases=cases_of(analysed(path), op))
    text = block(made)
    pasted = analysed(path, text)
    assert [each.message for each in diagnose(pasted) if each.severity == "error"] == []
    schedule = pasted.module.schedules[-1]
    applied = apply_schedule(made.program, schedule, sizes=made.sizes)
    assert applied.errors == ()
    assert render_nest(applied.nest, "nest") == render_nest(made.nest, "nest")
    assert format_text(text) == text


@pytest.mark.parametrize(("path", "op"), list(ops()))
def test_each_line_says_why(path, op):
    assert all(line.reason for line in automatic_schedule(op).lines)
