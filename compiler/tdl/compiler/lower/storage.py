"""Where the elements of tensors are: from coordinates to an offset in a flat buffer.

    register Cr: f32[min(6, M - 6*ir), 64] of C[6*ir.., 64*jr..]        Cr[i, j]  is at  64*(i - 6*ir) + (j - 64*jr)

Strides of nearer memory come from what bounds the extents, numbers where there are any, so that addresses are constant
where loops are; rows in memory begin at multiples of a vector.
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.compiler.kernel import tree as nodes
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.polynomials import expanded
from tdl.compiler.lower.simplify import simplified
from tdl.compiler.schedule.extremes import sides
from tdl.compiler.schedule.tree import Buffer, Nest
from tdl.language import forms
from tdl.language.diagnostic import InternalError
from tdl.language.dtypes import DType, Type
from tdl.language.forms import FloorDiv, Form, Symbol

VECTOR_BYTES = 64
"""Rows and buffers are aligned to this, and may be read this far past their last element."""


@dataclass(frozen=True)
class Storage:
    """A buffer and the way from a tensor's coordinates into it. `sizes` are those of the tensor itself."""

    buffer: nodes.Buffer
    sizes: tuple[Form, ...]
    origin: tuple[Form, ...]
    layout: tuple[Form, ...] | None
    ring: tuple[tuple[int, int], ...]
    strides: tuple[Form, ...]

    def offset(self, coordinates: tuple[Form, ...], known: Known) -> Form:
        """Where the element is, as simple as is known there."""
        inside = [at - start for at, start in zip(coordinates, self.origin)]
        for axis, count in self.ring:
            inside[axis] = forms.modulo(inside[axis], forms.constant(count))
        if self.layout is not None:
            values = {_axis(axis): form for axis, form in enumerate(inside)}
            inside = [forms.substitute(form, values) for form in self.layout]
        offset = forms.ZERO
        for form, stride in zip(inside, self.strides):
            offset = offset + forms.product(form, stride)
        return simplified(expanded(offset), known)


def storage_of(nest: Nest, buffer: Buffer, known: Known) -> Storage:
    """The storage of a buffer in a place where the loops around are known."""
    tensor = nest.tensors[buffer.tensor]
    extents = list(buffer.extents)
    for axis, count in buffer.ring:
        extents[axis] = forms.constant(count)
    is_packed = buffer.tensor in nest.packed
    if buffer.layout is not None or buffer.at is not None:
        extents = [_bound(extent, size, known) for extent, size in zip(extents, tensor.shape)]
    if buffer.layout is not None:
        extents = [_reach(form, extents, known, is_packed) for form in buffer.layout]
    memory: nodes.Memory = "workspace" if buffer.at is None and buffer.memory == "arena" else buffer.memory
    is_own = memory not in ("global", "workspace")
    factors = [_natural(extent, known) for extent in extents]
    if is_own and len(factors) > 1:
        factors[-1] = _whole_vectors(factors[-1], tensor.dtype)
    strides = [forms.constant(1)] if extents else []
    for factor in reversed(factors[1:]):
        strides.insert(0, expanded(forms.product(factor, strides[0])))
    made = nodes.Buffer(buffer.tensor, tensor.dtype, memory, tuple(factors), is_packed=is_packed)
    return Storage(made, tensor.shape, buffer.origin, buffer.layout, buffer.ring, tuple(strides))


def _natural(extent: Form, known: Known) -> Form:
    """A size; never negative, whatever an inferred shape says of an empty range."""
    return extent if known.holds(extent) else forms.extreme("max", extent, forms.ZERO)


def _bound(extent: Form, size: Form, known: Known) -> Form:
    """What an extent never exceeds: a number, or a form over sizes; at worst that of the tensor's whole axis."""
    number = known.number(extent, "greatest")
    if number is None and (over_sizes := known.end(extent, "greatest")) is not None:
        return over_sizes
    if number is None:
        kind, parts = sides(extent)  # `min(N, f + 1) - max(0, f)` is at most 1, whatever f is
        numbers = [known.number(part, "greatest") for part in parts] if kind == "min" else []
        number = min((each for each in numbers if each is not None), default=None)
    return size if number is None else forms.constant(max(number, 0))


def _whole_vectors(extent: Form, dtype: Type) -> Form:
    """An extent rounded up so that rows begin at multiples of a vector; short rows stay as they are."""
    lanes = VECTOR_BYTES // (dtype.bytes if isinstance(dtype, DType) else 8)
    if extent.is_constant and extent.constant < lanes:
        return extent
    return forms.floor_div(extent + (lanes - 1), forms.constant(lanes)) * lanes


# ---- layouts


def _axis(axis: int) -> Symbol:
    return Symbol(str(axis), "index")


def _reach(form: Form, extents: list[Form], known: Known, is_packed: bool) -> Form:
    """How many values a stored coordinate takes: a digit's count, or how far the axes go, whichever is less.

    Of a packed tensor the count, so that its storage is the same whether sizes are known or not.
    """
    count = _digit_count(form)
    if count is not None and is_packed:
        return forms.constant(count)
    inside = known
    for axis, extent in enumerate(extents):
        inside = inside.inside(_axis(axis), forms.ZERO, extent)
    most = inside.number(form, "greatest")
    over_sizes = inside.end(form, "greatest") if most is None else forms.constant(most)
    reached = None if over_sizes is None else over_sizes + 1
    if count is not None and (reached is None or not reached.is_constant or reached.constant > count):
        return forms.constant(count)
    if reached is None:
        raise InternalError(f"the layout's {form} is not bounded by sizes")
    return reached


def _digit_count(form: Form) -> int | None:
    """`n` where the form is `(x//s) % n`, that is `x//s - n*(x//(s*n))`."""
    for atom, coefficient in form.terms:
        if isinstance(atom, FloorDiv) and coefficient < -1 and atom.divisor.is_constant:
            count = -coefficient
            step = atom.divisor.constant // count
            if step * count == atom.divisor.constant:
                whole = forms.floor_div(atom.dividend, forms.constant(step))
                if form - whole == Form(((atom, coefficient),), 0):
                    return count
    return None
