"""What a loop of a nest is, in words: for editors and for whoever wants to see what a line did.

split C.i by 8 -> io, ii        io: 0..(M + 7)//8, a step moves C.i by 8
                                one iteration touches A[8*io..min(8*io + 8, M), 0..K], 8*K elements at most
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tdl.compiler.schedule.bounds import greatest_value
from tdl.compiler.schedule.names import index_name
from tdl.compiler.schedule.printer import short_names
from tdl.compiler.schedule.regions import region, touching
from tdl.compiler.schedule.text import form_text
from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Kind, Loop, Nest
from tdl.compiler.schedule.walk import leaves_of, loops_of, path_to
from tdl.language import forms
from tdl.language.dtypes import DType
from tdl.language.forms import Form, Symbol
from tdl.language.sets import Undecided


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a tensor that one iteration touches: how many elements, of how many bytes each, if that is known."""

    text: str
    count: Form
    bytes: int | None
    is_written: bool


@dataclass(frozen=True, slots=True)
class View:
    """A loop. `moves` says by how much a step moves each index; `boxes` what one iteration touches.

    Forms speak of sizes, and of the loops around by their short names.
    """

    name: str
    kind: Kind
    range: str
    extent: Form
    moves: tuple[tuple[str, str], ...] = ()
    boxes: tuple[Box, ...] = ()


def most(form: Form, sizes: Mapping[Symbol, int]) -> tuple[int | None, bool]:
    """The greatest value that is known of a form at some sizes, and whether it is the only one."""
    known = forms.substitute(form, {symbol: forms.constant(size) for symbol, size in sizes.items()})
    return greatest_value(known), known.is_constant


def range_of(nest: Nest, loop: Loop) -> str:
    """`0..(M + 7)//8`, in the short names of the loops around."""
    named = _named(nest)
    return f"{_text(loop.lo, named, 5)}..{_text(loop.hi, named, 5)}"


def extent_of(nest: Nest, loop: Loop) -> Form:
    """How often a loop runs, in the short names of the loops around."""
    return forms.substitute(loop.hi - loop.lo, _named(nest))


def view_of(nest: Nest, loop: Loop) -> View:
    """A loop with what a step of it moves and what an iteration touches."""
    named = _named(nest)
    moves, boxes = tuple(_moves(nest, loop, named).items()), tuple(_boxes(nest, loop, named))
    return View(loop.label, loop.kind, range_of(nest, loop), extent_of(nest, loop), moves, boxes)


def loops_made(before: Nest, after: Nest) -> tuple[Loop, ...]:
    """The loops of a nest that the one before has not, or not over the same range; those of copies once."""
    known = {(loop.label, loop.lo, loop.hi) for loop in loops_of(before.body)}
    found = {loop.label: loop for loop in loops_of(after.body) if (loop.label, loop.lo, loop.hi) not in known}
    return tuple(found.values())


def _named(nest: Nest) -> dict[Symbol, Form]:
    return {symbol: forms.symbol(Symbol(name, "index")) for symbol, name in short_names(nest).items()}


def _text(form: Form, named: Mapping[Symbol, Form], above: int = 0) -> str:
    return form_text(forms.substitute(form, named), above)


def _moves(nest: Nest, loop: Loop, named: Mapping[Symbol, Form]) -> dict[str, str]:
    """By how much a step of a loop moves the indices of what runs in it."""
    step = {loop.symbol: forms.symbol(loop.symbol) + 1}
    found: dict[str, str] = {}
    for _, leaf in leaves_of(loop.body):
        for own, form in leaf.at:
            moved = forms.substitute(form, step) - form
            if moved != forms.ZERO and leaf.stage in nest.stages and "." not in leaf.stage:
                found.setdefault(f"{leaf.stage}.{index_name(own)}", _text(moved, named))
    return found


def _boxes(nest: Nest, loop: Loop, named: Mapping[Symbol, Form]) -> list[Box]:
    written: dict[str, bool] = {}
    for _, leaf in leaves_of(loop.body):
        for touch in touches(nest, leaf):
            written[touch.tensor] = written.get(touch.tensor, False) or touch.is_write
    found: list[Box] = []
    outer = path_to(nest.body, loop.symbol)
    for tensor, is_written in written.items():
        try:
            box = region(nest, tensor, touching(nest, loop, [tensor]), outer)
        except Undecided:
            continue
        ends = ", ".join(_axis(lo, hi, named) for lo, hi in zip(box.lo, box.hi))
        count = forms.constant(1)
        for extent in box.extents:
            count = forms.product(count, extent)
        dtype = nest.tensors[tensor].dtype
        size = dtype.bytes if isinstance(dtype, DType) else None
        text = f"{tensor}[{ends}]" if box.lo else tensor
        found.append(Box(text, forms.substitute(count, named), size, is_written))
    return found


def _axis(lo: Form, hi: Form, named: Mapping[Symbol, Form]) -> str:
    return _text(lo, named) if hi - lo == forms.constant(1) else f"{_text(lo, named, 5)}..{_text(hi, named, 5)}"
