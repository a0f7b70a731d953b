"""Views of an op at each stage."""

from __future__ import annotations

import pytest
from tdl.compiler.preview import STAGES, nest_view, render_stage
from tdl.language.check import check_op

TEXT = "op twice(X: f32[N]) -> Y: f32[N] { Y[i] = 2*X[i] }"


@pytest.fixture(scope="module")
def program(load_text):
    return check_op(load_text(TEXT).twice.declaration).program


def test_stages(program):
    shown = {stage: render_stage(program, stage) for stage in STAGES}
    assert shown["nest"].startswith("op twice(X: f32[N]) -> Y: f32[N]\nfor i in 0..N")
    assert "define internal i32 @twice" in shown["llvm-made"]
    assert "fmul float" in shown["llvm-made"]
    assert "x float>" in shown["llvm"]  # vectors: LLVM's passes have run
    assert "twice" in shown["asm"]
    assert "define" not in shown["asm"]


def test_lines_link_to_the_source(program):
    linked = [line for line in nest_view(program) if line.origin is not None]
    assert [line.loop for line in linked] == ["Y.i", None]
    span = linked[-1].origin.span
    assert TEXT[span.start : span.end] == "Y[i] = 2*X[i]"


def test_a_text_is_the_same_each_time(program):
    """Caches are keyed by it."""
    assert render_stage(program, "llvm-made") == render_stage(program, "llvm-made")
