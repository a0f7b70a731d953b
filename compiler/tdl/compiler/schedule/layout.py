"""The order in which a tensor is stored.

    layout W(k, j) [k//16, j, k%16]        element (k, j) is kept at [k//16, j, k%16]

Of an intermediate tensor freely; the order may leave holes, and must not put two elements in one place. An input comes
as its caller has it, unless the line says `pack`: then the op takes it packed, and `OP.pack_W` does the packing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Nest
from tdl.language import forms
from tdl.language.conditions import AtLeast, Equal, Formula, negation, some
from tdl.language.forms import Form, Symbol
from tdl.language.sets import is_empty
from tdl.language.witness import find_witness, show_element, size_facts, size_symbols


def store_in(nest: Nest, tensor: str, layout: Sequence[Form], line: int = -1, *, pack: float | None = None) -> Nest:
    """The nest with a tensor stored in an order; `layout` speaks of its axes as `Symbol("0", "index")`, ...

    `pack` is for inputs: what fills the holes in the order when it is packed.
    """
    role = nest.tensors[tensor].role
    if role == "output":
        raise Refusal("cache", f"`{tensor}` is an output, which is stored as its caller has it")
    if role == "input" and pack is None:
        raise Refusal(
            "cache", f"`{tensor}` is an input, which comes as its caller has it", "add `pack` to take it packed"
        )
    if role != "input" and pack is not None:
        raise Refusal("cache", f"`{tensor}` is computed here; only inputs are packed")
    for form in layout:
        if not form.is_affine:
            raise Refusal("cache", f"the storage order has {form}, which is not affine")
    _check_places(nest, tensor, tuple(layout))
    buffer = replace(nest.buffers[tensor], layout=tuple(layout), line=line)
    packed = nest.packed if pack is None else {**nest.packed, tensor: pack}
    return replace(nest, buffers={**nest.buffers, tensor: buffer}, packed=packed)


def _check_places(nest: Nest, tensor: str, layout: tuple[Form, ...]) -> None:
    """No two elements may share a place."""
    shape = nest.tensors[tensor].shape
    axes = [Symbol(str(axis), "index") for axis in range(len(shape))]
    others = [Symbol(f"{axis}'", "index") for axis in range(len(shape))]
    renamed = {old: forms.symbol(new) for old, new in zip(axes, others)}
    known: list[Formula] = [*size_facts(nest.program).formulas]
    for symbols in (axes, others):
        for symbol, size in zip(symbols, shape):
            known += [AtLeast(forms.symbol(symbol)), AtLeast(size - forms.symbol(symbol) - 1)]
    known += [Equal(form - forms.substitute(form, renamed)) for form in layout]
    differ = some(negation(Equal(forms.symbol(a) - forms.symbol(b))) for a, b in zip(axes, others))
    if is_empty((*known, differ)):
        return
    point = find_witness(known, differ, [*size_symbols(nest.program), *axes, *others]) or {}
    first = show_element(tensor, map(forms.symbol, axes), point)
    second = show_element(tensor, map(forms.symbol, others), point)
    raise Refusal("cache", f"{first} and {second} would be stored in one place")
