"""Footprints against what the iterations really touch, counted one by one."""

from __future__ import annotations

from itertools import product

import pytest
from tdl.compiler.schedule.footprints import footprints, interval
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Loop, Nest
from tdl.compiler.schedule.walk import leaves_of, loops_of
from tdl.compiler.steps import steps_of
from tdl.language import forms
from tdl.language.analysis import analyse
from tdl.language.forms import Symbol
from tdl.language.source import Source

PRODUCT = """\
op f(A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] { C[i, j] = sum(A[i, k] * B[k, j] for k) }
"""
BLUR = """\
op f(X: f32[H, W]) -> Y: f32[H - 2, W - 2] where H >= 3, W >= 3 {
    let rows: f32[H, W - 2]
    rows[i, j] = (X[i, j] + X[i, j + 1] + X[i, j + 2]) / 3
    Y[i, j]    = (rows[i, j] + rows[i + 1, j] + rows[i + 2, j]) / 3
}
"""


def nest_of(text: str, **sizes: int) -> Nest:
    analysis = analyse(Source("f.tdl", text))
    steps = steps_of(analysis.module.ops["f"], analysis.module.schedules, sizes=sizes)
    assert not steps.refused
    return with_initialisations(steps.nest())


def counted(nest: Nest, symbol: Symbol | None) -> dict[str, int]:
    """Elements in the box that is touched while the loops down to one are at their first iteration."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for path, leaf in leaves_of(nest.body):
        if symbol is not None and symbol not in {loop.symbol for loop in path}:
            continue
        for values in _iterations(path, symbol):
            for touch in touches(nest, leaf):
                element = tuple(forms.evaluate(form, values) for form in touch.element)
                found.setdefault(touch.tensor, []).append(element)
    boxes = {name: [max(axis) - min(axis) + 1 for axis in zip(*all_)] for name, all_ in found.items()}
    return {name: _product(box) for name, box in boxes.items()}


def _iterations(path: tuple[Loop, ...], symbol: Symbol | None):
    rows: list[dict[Symbol, int]] = [{}]
    is_fixed = symbol is not None
    for loop in path:
        more = []
        for row in rows:
            low, high = forms.evaluate(loop.lo, row), forms.evaluate(loop.hi, row)
            more += [{**row, loop.symbol: value} for value in range(low, low + 1 if is_fixed else high)]
        rows, is_fixed = more, is_fixed and loop.symbol != symbol
    return rows


def _product(numbers: list[int]) -> int:
    total = 1
    for number in numbers:
        total *= number
    return total


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (PRODUCT, {"M": 7, "K": 5, "N": 6}),
        (
            PRODUCT + "schedule f for cpu {\n split C.i by 3 -> io, ii\n reorder io, C.k, ii, C.j\n}",
            {"M": 7, "K": 5, "N": 6},
        ),
        (
            PRODUCT + "schedule f for cpu {\n split C.j by 4 -> jo, ji\n reorder jo, C.k, C.i, ji\n}",
            {"M": 7, "K": 5, "N": 8},
        ),
        (BLUR, {"H": 9, "W": 8}),
    ],
)
def test_every_loop_touches_what_is_counted(text: str, sizes: dict[str, int]) -> None:
    nest = nest_of(text, **sizes)
    found = footprints(nest)
    symbols = [None, *dict.fromkeys(loop.symbol for loop in loops_of(nest.body))]
    assert set(found) == set(symbols)
    for symbol in symbols:
        wanted = {name: 4 * count for name, count in counted(nest, symbol).items()}
        assert {each.tensor: each.bytes for each in found[symbol]} == wanted, symbol


def test_registers_take_no_cache_and_a_ring_takes_its_length() -> None:
    text = (
        BLUR
        + """schedule f for cpu {
        split Y.i by 4 -> io, ii
        compute rows at ii
        store rows at io
        fold rows.i by 4
    }"""
    )
    nest = nest_of(text, H=18, W=10)
    loop = next(loop for loop in loops_of(nest.body) if loop.name == "io")
    sizes = {each.tensor: each.bytes for each in footprints(nest)[loop.symbol]}
    assert sizes["rows"] == 4 * 4 * 8
    copied = nest_of(PRODUCT + "schedule f for cpu {\n cache C at C.j in register as Cr\n}", M=4, K=4, N=4)
    assert "Cr" not in {each.tensor for each in footprints(copied)[None]}


def test_open_sizes_have_no_footprint() -> None:
    assert None not in footprints(nest_of(PRODUCT))


def test_writes_are_told_from_reads() -> None:
    found = {each.tensor: each.is_written for each in footprints(nest_of(PRODUCT, M=4, K=4, N=4))[None]}
    assert found == {"A": False, "B": False, "C": True}


@pytest.mark.parametrize("low", [-3, 0, 2])
def test_intervals_hold_every_value_and_their_ends(low: int) -> None:
    i, j = Symbol("i", "index"), Symbol("j", "index")
    x, y = forms.symbol(i), forms.symbol(j)
    four = forms.constant(4)
    cases = [x * 3 - y + 2, forms.floor_div(x * 5, four), forms.extreme("min", x, y + 1), forms.product(x, y)]
    ranges = {i: (low, low + 3), j: (-2, 1)}
    for form in cases:
        values = [forms.evaluate(form, {i: a, j: b}) for a, b in product(range(low, low + 4), range(-2, 2))]
        assert interval(form, ranges) == (min(values), max(values))
