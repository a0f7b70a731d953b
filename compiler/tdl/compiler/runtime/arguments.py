"""Arguments of a call: what each is, and whether it may be used. All of it before any generated code runs.

An array keeps its dtype, which must be the declared one; numbers and lists of numbers have none of their own and take
the declared one if it can hold them. Every message names the op and the argument, what is expected and what was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tdl.compiler.runtime.dlpack import from_dlpack
from tdl.compiler.runtime.packing import Packed
from tdl.compiler.runtime.table import Spec
from tdl.language.arrays import Array, dtype_of
from tdl.language.binding import ArrayType

_LITERALS = (bool, int, float, list, tuple)


@dataclass(frozen=True)
class Argument:
    """An input as an array of NumPy's. `is_literal` where it had no dtype of its own; `packed` where it is packed."""

    name: str
    array: Array
    is_literal: bool
    type: ArrayType
    packed: Packed | None = None


def sort_arguments(
    op: str, inputs: Sequence[str], parameters: Sequence[str], args: tuple[object, ...], named: Mapping[str, object]
) -> tuple[dict[str, object], dict[str, object]]:
    """Inputs and compile-time parameters by name. Raises TypeError for too many, too few, twice or unknown."""
    if len(args) > len(inputs):
        takes = f"takes {len(inputs)} input{'s' * (len(inputs) != 1)} ({', '.join(inputs)})"
        raise TypeError(f"{op} {takes}, and is given {len(args)}; compile-time parameters and out are given by name")
    given = dict(zip(inputs, args))
    chosen: dict[str, object] = {}
    for name, value in named.items():
        if name in given:
            raise TypeError(f"{op} is given {name} twice")
        if name in inputs:
            given[name] = value
        elif name in parameters:
            chosen[name] = value
        else:
            known = ", ".join((*inputs, *parameters, "out"))
            raise TypeError(f"{op} has no argument {name}; it has {known}")
    missing = [name for name in inputs if name not in given]
    if missing:
        raise TypeError(f"{op} needs {' and '.join(missing)} as well; its inputs are {', '.join(inputs)}")
    return {name: given[name] for name in inputs}, chosen


def read_argument(op: str, name: str, value: object) -> Argument:
    """An argument as an array: NumPy's, anything with the array interface or DLPack, numbers, lists of numbers."""
    if isinstance(value, Packed):
        return Argument(name, value.array, False, ArrayType(dtype_of(value.dtype), value.shape), value)
    is_literal = isinstance(value, _LITERALS) and not isinstance(value, np.generic)
    array = _as_array(op, name, value)
    if is_literal:
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{op}: {name} is not a number or a list of numbers that 64 bits can hold")
        return Argument(name, array, True, ArrayType(None, array.shape))
    native = array.dtype.newbyteorder("=")
    dtype = dtype_of(native)
    if dtype is None:
        raise TypeError(f"{op}: {name} is an array of {array.dtype}, which is no dtype of the language")
    return Argument(name, array, False, ArrayType(dtype, array.shape))


def _as_array(op: str, name: str, value: object) -> Array:
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
            return from_dlpack(value)
        if isinstance(value, _LITERALS) or _is_array_like(value):
            array: Array = np.asarray(value)
            return array
    except (TypeError, ValueError, BufferError, RuntimeError, OverflowError) as error:
        raise TypeError(f"{op}: {name} cannot be read as an array: {error}") from None
    raise TypeError(f"{op}: {name} is a {type(value).__name__}, not an array, a number or a list of numbers")


def _is_array_like(value: object) -> bool:
    return any(hasattr(value, name) for name in ("__array_interface__", "__array__", "__array_struct__"))


def as_scalar(value: object, dtype: np.dtype[Any]) -> object:
    """A plain number as an array of rank 0, where the dtype surely holds it; anything else as it is."""
    kind = type(value)
    if kind is float:
        fits = dtype.kind not in "iub"
    elif kind is int:
        fits = dtype.kind != "b"
    else:
        fits = kind is dtype.type or (kind is bool and dtype.kind == "b")
    try:
        return np.array(value, dtype) if fits else value
    except OverflowError:
        return value


def prepare_input(op: str, argument: Argument, spec: Spec) -> Array:
    """The argument as a dense, aligned, native array of the declared dtype; a copy only where it is not one already."""
    array = argument.array
    if argument.is_literal:
        return _converted(op, argument.name, array, spec)
    return np.require(np.asarray(array, dtype=spec.dtype), requirements=["C", "A"])


def _converted(op: str, name: str, array: Array, spec: Spec) -> Array:
    """Numbers without a dtype in the declared one."""
    target = spec.dtype
    if array.size == 0:
        return np.empty(array.shape, target)
    wanted = dtype_of(target)
    assert wanted is not None
    kind = array.dtype.kind
    if (kind == "b") != (wanted.kind == "bool") or (kind == "f" and wanted.is_integer):
        what = {"b": "bools", "f": "floats", "i": "integers", "u": "integers"}[kind]
        raise TypeError(f"{op}: {name} is {target}, and {what} are given")
    if wanted.is_integer and (int(array.min()) < wanted.least or int(array.max()) > wanted.greatest):
        raise ValueError(f"{op}: {name} is {target}, which cannot hold {array.min()}..{array.max()}")
    with np.errstate(over="ignore"):
        return np.require(array.astype(target), requirements=["C", "A"])


def check_outputs(op: str, out: object, specs: Sequence[Spec], inputs: Sequence[tuple[str, Array]]) -> list[Array]:
    """The arrays to write results into. Raises TypeError or ValueError for one that cannot be written as it is."""
    given = out if len(specs) > 1 else (out,)
    if not isinstance(given, tuple) or len(given) != len(specs):
        names = ", ".join(spec.name for spec in specs)
        raise TypeError(f"{op}: out is a tuple of {len(specs)} arrays ({names}), not {_described(out)}")
    arrays = [_check_output(op, array, spec) for array, spec in zip(given, specs)]
    taken = [*inputs]
    for array, spec in zip(arrays, specs):
        for name, other in taken:
            if _overlap(array, other):
                raise ValueError(f"{op}: the array given for {spec.name} overlaps {name}; results are written apart")
        taken.append((spec.name, array))
    return arrays


def _check_output(op: str, array: object, spec: Spec) -> Array:
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{op}: out for {spec.name} is {_described(array)}, not a NumPy array")
    if array.dtype != spec.dtype or not array.dtype.isnative:
        raise TypeError(f"{op}: out for {spec.name} is {array.dtype.newbyteorder('=')}, and should be {spec.dtype}")
    if array.shape != spec.shape:
        raise ValueError(f"{op}: out for {spec.name} has shape {array.shape}, and should have {spec.shape}")
    if not array.flags.writeable:
        raise ValueError(f"{op}: out for {spec.name} is read-only")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{op}: out for {spec.name} is not contiguous")
    return array


def _overlap(one: Array, other: Array) -> bool:
    if one.nbytes == 0 or other.nbytes == 0:
        return False
    return one.ctypes.data < other.ctypes.data + other.nbytes and other.ctypes.data < one.ctypes.data + one.nbytes


def _described(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"a {type(value).__name__}"
