"""Inputs in the order in which a schedule stores them: `layout W(k, j) [j//16, k, j % 16] pad 0 pack`.

    Wp = m.dense.pack("W", W)       once
    Y = m.dense(X, Wp)              as often as you like

A `Packing` says how an array of a shape is stored. Where the order is made of the digits of each index, as in almost
every schedule, an op of the language does the packing, compiled like any other:

    op pack(W: f32[64, 100]) -> P: f32[7, 64, 16] { P[d0, d1, d2] = W[d1, 16*d0 + d2 | 0] }

In any other order NumPy puts the elements in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.storage import storage_of
from tdl.compiler.schedule.digits import Digit
from tdl.compiler.schedule.text import form_text
from tdl.compiler.schedule.tree import Nest
from tdl.language import forms
from tdl.language.arrays import Array, dtype_of, numpy_dtype
from tdl.language.forms import FloorDiv, Form, Symbol
from tdl.language.witness import size_facts

if TYPE_CHECKING:
    from tdl.compiler.runtime.op import Op


@dataclass(frozen=True, slots=True)
class Packing:
    """How an array is stored: element x at the coordinates `layout`, forms over `Symbol("0", "index")`, ... of x.

    `stored` is the shape of the storage, whose holes hold `pad`.
    """

    tensor: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    layout: tuple[Form, ...]
    stored: tuple[int, ...]
    pad: float

    @property
    def key(self) -> int:
        """A number that stands for this way of storing, whatever the tensor is called."""
        what = (self.dtype, self.shape, self.layout, self.stored, self.pad)
        return _keys.setdefault(what, len(_keys))

    def __str__(self) -> str:
        names = self._names()
        values = {_axis(axis): forms.symbol(Symbol(name, "index")) for axis, name in enumerate(names)}
        layout = ", ".join(form_text(forms.substitute(form, values)) for form in self.layout)
        shape = ", ".join(map(str, self.shape))
        return f"{dtype_of(self.dtype)}[{shape}] with element ({', '.join(names)}) at [{layout}]"

    def _names(self) -> Sequence[str]:
        rank = len(self.shape)
        return "ijklmnop"[:rank] if rank <= 8 else [f"i{axis}" for axis in range(rank)]


_keys: dict[object, int] = {}


class Packed:
    """An array in the storage order of a schedule, made by an op's `pack`. `np.asarray` gives it back as it was."""

    __slots__ = ("array", "key", "packing")

    def __init__(self, array: Array, packing: Packing) -> None:
        self.array = array
        self.packing = packing
        self.key = packing.key

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape before packing."""
        return self.packing.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The elements' dtype."""
        return self.packing.dtype

    @property
    def nbytes(self) -> int:
        """The bytes of the storage."""
        return self.array.nbytes

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("a packed array is put back in order, which takes a copy")
        unpacked: Array = self.array[_places(self.packing)]
        return unpacked if dtype is None else unpacked.astype(dtype)

    def __repr__(self) -> str:
        return f"<packed {self.packing}>"


def canonical(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The object that NumPy has for a dtype of the language."""
    found = dtype_of(dtype)
    assert found is not None
    return numpy_dtype(found)


def packings_of(nest: Nest, sizes: Mapping[Symbol, int], only: str | None = None) -> tuple[Packing, ...]:
    """How the packed inputs of a nest (or one of them) are stored at sizes. Raises KeyError for one that is missing."""
    known = Known(size_facts(nest.program))
    found = []
    for tensor, pad in nest.packed.items():
        if only not in (None, tensor):
            continue
        buffer = nest.buffers[tensor]
        storage = storage_of(nest, buffer, known)
        shape, stored = (
            tuple(forms.evaluate(form, sizes) for form in each) for each in (storage.sizes, storage.buffer.factors)
        )
        dtype = numpy_dtype(concrete(nest.tensors[tensor].dtype))
        assert buffer.layout is not None
        found.append(Packing(tensor, dtype, shape, buffer.layout, stored, pad))
    return tuple(found)


def pack(packing: Packing, array: Array) -> Packed:
    """A dense array of the packing's dtype and shape, stored as it says."""
    stored = _aligned(packing.stored, packing.dtype)
    text = _op_text(packing)
    if text is None:
        stored[...] = packing.pad
        stored[_places(packing)] = array
    else:
        _op(text)(array, out=stored)
    return Packed(stored, packing)


def _aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """A new array at an aligned address."""
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    array: Array = memory[start : start + size].view(dtype).reshape(shape)
    return array


# ---- by an op


@lru_cache(maxsize=64)
def _op(text: str) -> Op:
    from tdl.compiler.runtime.module import load
    from tdl.language.source import Source

    return load(Source("<pack>", text))["pack"]


def _op_text(packing: Packing) -> str | None:
    """An op that packs; None where the order is not made of digits."""
    subscripts = _subscripts(packing)
    if subscripts is None:
        return None
    dtype, last = dtype_of(packing.dtype), len(packing.layout) - 1
    given, made = (", ".join(map(str, shape)) for shape in (packing.shape, packing.stored))
    indices = ", ".join(f"d{place}" for place in range(last + 1))
    match packing.dtype.kind:
        case "b":
            pad = str(bool(packing.pad)).lower()
        case "i" | "u":
            pad = str(int(packing.pad))
        case _:
            pad = repr(float(packing.pad))
    threads = "    parallel P.d0\n" if last else ""
    return f"""op pack(W: {dtype}[{given}]) -> P: {dtype}[{made}] {{
    P[{indices}] = W[{", ".join(subscripts)} | {pad}]
}}
schedule pack for cpu {{
    vectorize P.d{last} by {64 // packing.dtype.itemsize}
{threads}}}
"""


def _subscripts(packing: Packing) -> list[str] | None:
    """Each index of an element by the coordinates where it is stored, `16*d0 + d2`."""
    digits = [_digit(form, len(packing.shape)) for form in packing.layout]
    if None in digits:
        return None
    found = []
    for axis, size in enumerate(packing.shape):
        own = sorted((each.step, each.count or 0, at) for at, each in enumerate(digits) if each and each.axis == axis)
        reach = 1
        for step, count, _ in own:
            if step != reach:
                return None
            reach = step * count
        if own and 0 < reach < size:
            return None
        found.append(" + ".join(f"{step}*d{at}" for step, _, at in reversed(own)) or "0")
    return found


def _digit(form: Form, rank: int) -> Digit | None:
    """The digit of an axis that a form is."""
    divisors = sorted(
        atom.divisor.constant for atom, _ in form.terms if isinstance(atom, FloorDiv) and atom.divisor.is_constant
    )
    low, high = (divisors[0], divisors[-1]) if divisors else (1, 1)
    for axis in range(rank):
        for step, count in ((1, None), (low, None), (1, low), (low, high // low)):
            digit = Digit("", axis, step, count)
            if digit.of(forms.symbol(_axis(axis))) == form:
                return digit
    return None


# ---- by NumPy


def _places(packing: Packing) -> tuple[Array, ...]:
    """For every element, in order, where it is stored."""
    values = {_axis(axis): grid for axis, grid in enumerate(np.indices(packing.shape, sparse=True))}
    return tuple(np.broadcast_to(_values(form, values), packing.shape) for form in packing.layout)


def _values(form: Form, values: Mapping[Symbol, Any]) -> Any:
    total: Any = np.int64(form.constant)
    for atom, count in form.terms:
        total = total + _atom_values(atom, values) * count
    return total


def _atom_values(atom: forms.Atom, values: Mapping[Symbol, Any]) -> Any:
    match atom:
        case FloorDiv(dividend, divisor):
            return _values(dividend, values) // _values(divisor, values)
        case forms.Extreme(kind, left, right):
            least_or_greatest = np.minimum if kind == "min" else np.maximum
            return least_or_greatest(_values(left, values), _values(right, values))
        case Symbol():
            return values[atom]
    raise AssertionError(f"{atom} is not affine")  # `layout` refuses what is not


def _axis(axis: int) -> Symbol:
    return Symbol(str(axis), "index")
