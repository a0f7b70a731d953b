"""What is said of a loop: what it runs over, what a step moves, what an iteration touches."""

from __future__ import annotations

import pytest
from tdl.compiler.schedule.check import steps_at
from tdl.compiler.schedule.names import find_loop
from tdl.compiler.schedule.tree import Nest
from tdl.compiler.schedule.views import extent_of, loops_made, most, range_of, view_of
from tdl.language.analysis import analyse
from tdl.language.forms import Symbol
from tdl.language.source import Source

PRODUCT = "op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }\n"
STENCIL = """\
op f(X: f32[H, W]) -> Y: f32[H - 2, W] {
    S[i, j] = X[i, j] * 2
    Y[i, j] = S[i, j] + S[i + 2, j]
}
"""


def nests(op: str, *lines: str) -> list[Nest]:
    module = analyse(Source("f.tdl", f"{op}schedule f {{\n{chr(10).join(lines)}\n}}")).module
    applied = steps_at(module.entries[1].declaration)
    assert applied is not None
    assert [step.refusal for step in applied.steps] == [None] * (len(lines) + 1)
    return [step.nest for step in applied.steps]


def test_a_split_loop() -> None:
    before, after = nests(PRODUCT, "split C.i by 8 -> io, ii")
    assert [loop.label for loop in loops_made(before, after)] == ["C.io", "C.ii"]
    outer, inner = (view_of(after, find_loop(after, name)) for name in ("io", "ii"))
    assert (outer.range, inner.range) == ("0..(M + 7)//8", "0..min(8, M - 8*io)")
    assert (outer.moves, inner.moves) == ((("C.i", "8"),), (("C.i", "1"),))
    assert [(box.text, box.is_written) for box in inner.boxes] == [
        ("C[8*io + ii, 0..N]", True),
        ("A[8*io + ii, 0..K]", False),
        ("B[0..K, 0..N]", False),
    ]


def test_a_line_that_makes_no_loops() -> None:
    before, after = nests(PRODUCT, "parallel C.i")
    assert loops_made(before, after) == ()


def test_what_an_iteration_touches_of_a_stage_that_is_computed_in_it() -> None:
    *_, nest = nests(STENCIL, "compute S at Y.i")
    view = view_of(nest, find_loop(nest, "Y.i"))
    assert {box.text: str(box.count) for box in view.boxes}["X[Y.i..Y.i + 3, 0..W]"] == "3*W"
    assert {box.bytes for box in view.boxes} == {4}


@pytest.mark.parametrize(("size", "expected"), [(16, (2, True)), (17, (3, True))])
def test_an_extent_at_some_sizes(size: int, expected: tuple[int, bool]) -> None:
    *_, nest = nests(PRODUCT, "split C.i by 8 -> io, ii")
    sizes = {Symbol("M", "dim"): size}
    assert most(extent_of(nest, find_loop(nest, "io")), sizes) == expected
    assert most(extent_of(nest, find_loop(nest, "ii")), sizes) == (8, False)
    assert range_of(nest, find_loop(nest, "C.k")) == "0..K"
