"""Reading and writing buffers, one element or a vector of them.

An offset that moves by one element from lane to lane is a vector in memory; by none, an element that all lanes share;
otherwise the lanes' elements are gathered. What lanes that do not run would touch is not touched, except in registers,
which nobody else sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

from tdl.compiler.backends.llvm.context import Buffer, Context, Site
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.lowering import Lower
from tdl.compiler.backends.llvm.scalars import loaded, memory_type, stored
from tdl.compiler.backends.llvm.values import (
    TRUE,
    Value,
    any_of,
    element,
    mangled,
    operate,
    reverse,
    select,
    spread,
    vector_type,
)
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.source import Span


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a buffer, or one for each lane. `step` is how far apart the lanes' are; None: anywhere.

    `pointer` is of the first lane's element, or a vector of pointers where the step is None.
    """

    buffer: Buffer
    pointer: Value
    step: int | None
    alignment: int

    @property
    def is_shared(self) -> bool:
        return self.step == 0


def locate(context: Context, name: str, offset: Form, lower: Lower, span: Span) -> Element:
    """The element at an offset."""
    buffer = context.buffers[name]
    step, rest = _lane_step(context, offset)
    whole = rest if step is not None else offset
    if step == -1:
        whole = whole - (context.lanes - 1)
    at = form_value(context, whole, lower, Site(span, name))
    return Element(buffer, _address(context, buffer, at), step, alignment_of(buffer, whole, context.multiples))


def _lane_step(context: Context, offset: Form) -> tuple[int | None, Form]:
    """How the offset moves from lane to lane, and what it is in the first."""
    if context.lane is None or not context.form_varies(offset):
        return 0, offset
    step = dict(offset.terms).get(context.lane, 0)
    rest = Form(tuple(term for term in offset.terms if term[0] != context.lane), offset.constant)
    return (None, offset) if context.form_varies(rest) or abs(step) != 1 else (step, rest)


def _address(context: Context, buffer: Buffer, offset: Value) -> Value:
    if offset.text == "0":
        return Value(buffer.pointer, "ptr")
    kind = memory_type(buffer.dtype)
    text = context.block.value(f"getelementptr inbounds {kind}, ptr {buffer.pointer}, {offset.typed}")
    return Value(text, "ptr", offset.lanes)


def alignment_of(buffer: Buffer, offset: Form, multiples: Mapping[Symbol, int]) -> int:
    """What is certain of an address: the steps of everything that moves it are multiples of this."""
    step = _divisor(offset, multiples)
    return gcd(buffer.alignment, step * buffer.dtype.bytes) if step else buffer.alignment


def _divisor(form: Form, multiples: Mapping[Symbol, int]) -> int:
    """A number that the form is a multiple of."""
    return gcd(form.constant, *(count * _divisor_of_atom(atom, multiples) for atom, count in form.terms))


def _divisor_of_atom(atom: forms.Atom, multiples: Mapping[Symbol, int]) -> int:
    match atom:
        case Symbol():
            return multiples.get(atom, 1)
        case forms.Extreme(_, left, right):
            return gcd(_divisor(left, multiples), _divisor(right, multiples))
        case forms.Product(left, right):
            return _divisor(left, multiples) * _divisor(right, multiples)
        case forms.FloorDiv() | forms.Opaque():
            return 1


def ask_for(context: Context, name: str, offset: Form, lower: Lower, span: Span) -> None:
    """Prefetch the line of an element. The address may be outside of the buffer, so nothing is said of it."""
    buffer = context.buffers[name]
    step, first = _lane_step(context, offset)
    if step is None:
        return  # lanes all over memory: as dear as the loads
    at = form_value(context, first, lower, Site(span, name))
    kind = memory_type(buffer.dtype)
    pointer = context.block.value(f"getelementptr {kind}, ptr {buffer.pointer}, {at.typed}")
    context.block.do(f"call void @llvm.prefetch.p0(ptr {pointer}, i32 0, i32 3, i32 1)")


# ---- reading


def read(context: Context, place: Element) -> Value:
    """The element as a register value, or those of the lanes."""
    block, buffer = context.block, place.buffer
    kind = memory_type(buffer.dtype)
    if place.is_shared:
        return loaded(block, _read_shared(context, place, kind), buffer.dtype)
    if place.step is None:
        return loaded(block, _gathered(context, place, kind), buffer.dtype)
    raw = Value(_read_row(context, place, kind), kind, context.lanes)
    return loaded(block, reverse(block, raw) if place.step < 0 else raw, buffer.dtype)


def _read_shared(context: Context, place: Element, kind: str) -> Value:
    block = context.block

    def load() -> str:
        return block.value(f"load {kind}, {place.pointer.typed}, align {place.alignment}")

    if context.mask is None or context.is_certain or place.buffer.memory == "register":
        return Value(load(), kind)
    nothing = "0" if kind.startswith("i") else "0.0"
    return Value(block.choose(any_of(block, context.mask).text, kind, load, lambda: nothing), kind)


def _read_row(context: Context, place: Element, kind: str) -> str:
    """Elements side by side, in the order of memory."""
    type_ = vector_type(kind, context.lanes)
    if context.mask is None or place.buffer.memory == "register":
        return context.block.value(f"load {type_}, {place.pointer.typed}, align {place.alignment}")
    name = f"llvm.masked.load.{mangled(kind, context.lanes)}.p0"
    args = f"{place.pointer.typed}, i32 {place.alignment}, {_row_mask(context, place).typed}, {type_} zeroinitializer"
    return context.block.value(f"call {type_} @{name}({args})")


def _gathered(context: Context, place: Element, kind: str) -> Value:
    type_, suffix = vector_type(kind, context.lanes), mangled(kind, context.lanes)
    mask = spread(context.block, context.mask or TRUE, context.lanes)
    name = f"llvm.masked.gather.{suffix}.v{context.lanes}p0"
    args = f"{place.pointer.typed}, i32 {place.buffer.dtype.bytes}, {mask.typed}, {type_} zeroinitializer"
    return Value(context.block.value(f"call {type_} @{name}({args})"), kind, context.lanes)


def _row_mask(context: Context, place: Element) -> Value:
    """The lanes that run, in the order of memory."""
    assert context.mask is not None
    return reverse(context.block, context.mask) if place.step == -1 else context.mask


# ---- writing


def write(context: Context, place: Element, value: Value) -> None:
    """Store a value; of lanes that share the element, the last that runs has its way."""
    block, buffer = context.block, place.buffer
    raw = stored(block, value, buffer.dtype)
    if place.is_shared:
        _write_shared(context, place, raw)
        return
    raw = spread(block, raw, context.lanes)
    if place.step is None:
        mask = spread(block, context.mask or TRUE, context.lanes)
        name = f"llvm.masked.scatter.{mangled(raw.kind, raw.lanes)}.v{raw.lanes}p0"
        block.do(f"call void @{name}({raw.typed}, {place.pointer.typed}, i32 {buffer.dtype.bytes}, {mask.typed})")
        return
    if place.step < 0:
        raw = reverse(block, raw)
    if context.mask is None:
        past = ", !nontemporal !{i32 1}" if buffer.is_streamed and _is_aligned(place, raw) else ""
        block.do(f"store {raw.typed}, {place.pointer.typed}, align {place.alignment}{past}")
    elif buffer.memory == "register":
        old = Value(_read_row(context, place, raw.kind), raw.kind, raw.lanes)
        kept = select(block, _row_mask(context, place), raw, old)
        block.do(f"store {kept.typed}, {place.pointer.typed}, align {place.alignment}")
    else:
        name = f"llvm.masked.store.{mangled(raw.kind, raw.lanes)}.p0"
        args = f"{raw.typed}, {place.pointer.typed}, i32 {place.alignment}, {_row_mask(context, place).typed}"
        block.do(f"call void @{name}({args})")


def _is_aligned(place: Element, raw: Value) -> bool:
    """Whether the vector is stored to whole registers' places, which stores past the caches need."""
    return place.alignment >= min(raw.lanes * place.buffer.dtype.bytes, ALIGNMENT)


def _write_shared(context: Context, place: Element, raw: Value) -> None:
    block = context.block

    def store() -> None:
        last = element(block, raw, _last_lane(context)) if raw.lanes else raw
        block.do(f"store {last.typed}, {place.pointer.typed}, align {place.alignment}")

    if context.mask is None or context.is_certain:
        store()
    else:
        block.when(any_of(block, context.mask).text, store)


def _last_lane(context: Context) -> int | Value:
    if context.mask is None:
        return context.lanes - 1
    kind = f"i{context.lanes}"
    bits = context.block.value(f"bitcast {context.mask.typed} to {kind}")
    above = context.block.value(f"call {kind} @llvm.ctlz.{kind}({kind} {bits}, i1 true)")
    return operate(context.block, "sub", Value(str(context.lanes - 1), kind), Value(above, kind))
