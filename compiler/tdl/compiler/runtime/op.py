"""An op as a Python function: arguments in, arrays out.

A call first tries the last signature's fast path; what that does not take is sorted, checked against the declaration by
the language, and then runs the same kernel. Calls may come from several threads at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from tdl.compiler.runtime.arguments import Argument, check_outputs, prepare_input, read_argument, sort_arguments
from tdl.compiler.runtime.compile import Kernel, compile_program
from tdl.compiler.runtime.entry import Entry, FastCall
from tdl.language import syntax
from tdl.language.arrays import Array, dtype_of
from tdl.language.binding import BindError, bind
from tdl.language.scope import Declaration
from tdl.language.tree import Program

_KEPT = 256  # signatures, of which each keeps a table of a few hundred bytes


def _missed(*_: object) -> Any:
    return NotImplemented


class Op:
    """A compiled op. Inputs by position or name, compile-time parameters by name, `out` for arrays to write into."""

    def __init__(self, declaration: Declaration) -> None:
        item = declaration.item
        assert isinstance(item, syntax.Op)
        self.declaration = declaration
        self.__name__ = self.__qualname__ = declaration.name
        self.__doc__ = item.doc
        self._inputs = tuple(each.name.text for each in item.inputs)
        self._parameters = tuple(each.name.text for each in item.params)
        self._fast: FastCall = _missed
        self._fast_with: dict[object, FastCall] = {}
        self._entries: dict[object, Entry] = {}
        self._kernels: dict[int, tuple[Program, Kernel]] = {}

    def __call__(self, *args: object, out: object = None, **named: object) -> Any:
        """Results as NumPy arrays: one alone, several as a tuple; those of rank 0 as NumPy scalars."""
        if named:
            return self._call_with(args, named, out)
        result = self._fast(out, *args)
        if result is NotImplemented:
            return self._call_checked(args, named, out)
        return result

    @property
    def __signature__(self) -> inspect.Signature:
        kinds = inspect.Parameter
        inputs = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in self._inputs if name != "out"]
        parameters = [kinds(name, kinds.KEYWORD_ONLY, default=...) for name in self._parameters if name != "out"]
        return inspect.Signature([*inputs, *parameters, kinds("out", kinds.KEYWORD_ONLY, default=None)])

    def __repr__(self) -> str:
        return f"<op {self.__name__}{self.__signature__}>"

    def _call_with(self, args: tuple[object, ...], named: dict[str, object], out: object) -> Any:
        """A call with names: fast where they are compile-time parameters that were given before."""
        try:
            fast = self._fast_with.get(_key(named))
        except TypeError:  # an array is no key
            fast = None
        result = NotImplemented if fast is None else fast(out, *args)
        return self._call_checked(args, named, out) if result is NotImplemented else result

    def _call_checked(self, args: tuple[object, ...], named: Mapping[str, object], out: object) -> Any:
        op = self.__name__
        given, parameters = sort_arguments(op, self._inputs, self._parameters, args, named)
        arguments = [read_argument(op, name, value) for name, value in given.items()]
        entry = self._entry(arguments, parameters)
        inputs = [prepare_input(op, argument, spec) for argument, spec in zip(arguments, entry.inputs)]
        if out is None:
            outputs = [_allocated(op, spec.name, spec.shape, spec.dtype) for spec in entry.outputs]
        else:
            outputs = check_outputs(op, out, entry.outputs, list(zip(self._inputs, inputs)))
        entry.call(inputs, outputs)
        self._remember(entry, parameters, named)
        if out is not None:
            return out
        results = [output if output.ndim else output[()] for output in outputs]
        return results[0] if len(results) == 1 else tuple(results)

    def _remember(self, entry: Entry, parameters: Mapping[str, object], named: Mapping[str, object]) -> None:
        """Make the next call like this one fast."""
        if not parameters:
            self._fast = entry.fast
        elif len(parameters) == len(named):
            if len(self._fast_with) >= _KEPT:
                self._fast_with.clear()
            self._fast_with[_key(named)] = entry.fast

    def _entry(self, arguments: list[Argument], parameters: Mapping[str, object]) -> Entry:
        """The kernel for these dtypes, shapes and parameters; bound and compiled on first use."""
        types = tuple((argument.type.dtype, argument.type.shape) for argument in arguments)
        try:
            key: object = (types, _key(parameters))
            found = self._entries.get(key)
        except TypeError:
            raise TypeError(f"{self.__name__}: compile-time parameters are numbers, bools or dtypes") from None
        if found is not None:
            return found
        entry = self._bind(arguments, parameters)
        if len(self._entries) >= _KEPT:
            self._entries.clear()
        self._entries[key] = entry
        return entry

    def _bind(self, arguments: list[Argument], parameters: Mapping[str, object]) -> Entry:
        chosen = {name: _parameter(value) for name, value in parameters.items()}
        try:
            bound = bind(self.declaration, {argument.name: argument.type for argument in arguments}, chosen)
        except BindError as error:
            kind = TypeError if error.code in ("dtype", "parameter") else ValueError
            raise kind(f"{self.__name__}: {error}") from None
        kept = self._kernels.get(id(bound.program))
        if kept is None:
            kept = self._kernels[id(bound.program)] = bound.program, compile_program(bound.program)
        return Entry(kept[1], bound)


def _key(named: Mapping[str, object]) -> tuple[object, ...]:
    """The arguments as a key under which 1, True and 1.0 differ, and 0.0 and -0.0."""
    return tuple([(name, type(value), _exact(value)) for name, value in named.items()])


def _exact(value: object) -> object:
    """Zeros by their text, which has the sign; an array stays as it is, and is no key."""
    return repr(value) if isinstance(value, (float, np.floating)) and value == 0 else value


def _parameter(value: object) -> object:
    """A compile-time parameter as the language takes it: NumPy's dtypes and numbers become plain ones."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return dtype_of(np.dtype(value)) or value
    return value


def _allocated(op: str, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    try:
        return np.empty(shape, dtype)
    except (ValueError, MemoryError) as error:
        raise MemoryError(f"{op}: {name} is too large: {error}") from None
