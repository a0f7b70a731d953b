"""An op as a Python function: arguments in, arrays out.

A call first tries the last signature's fast path, then what earlier calls left behind, and at last sorts its arguments
and has the language check them against the declaration. All of these run the same kernel. Calls may come from several
threads at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from tdl.compiler.runtime.arguments import (
    Argument,
    as_scalar,
    check_outputs,
    prepare_input,
    read_argument,
    sort_arguments,
)
from tdl.compiler.runtime.compile import Kernel
from tdl.compiler.runtime.entry import Entry, allocate, missed
from tdl.compiler.runtime.fastcall import FastCall
from tdl.compiler.runtime.kernels import Kernels
from tdl.compiler.runtime.packer import Packer
from tdl.compiler.runtime.packing import Packed, pack
from tdl.compiler.runtime.scheduled import FindSource, find_source
from tdl.compiler.runtime.table import Spec
from tdl.language import syntax
from tdl.language.arrays import Array, dtype_of
from tdl.language.binding import BindError, Bound, bind
from tdl.language.scope import Declaration

if TYPE_CHECKING:
    from tdl.compiler.schedule.tree import Nest
    from tdl.compiler.steps import Steps

_FLOATS = (float, np.floating)
_KEPT = 256  # signatures, of which each keeps a table of a few hundred bytes


class Op:
    """A compiled op. Inputs by position or name, compile-time parameters by name, `out` for arrays to write into.

    It runs under the first of `schedules` that holds, with `knobs` instead of the values that stand there; `find` gives
    the text of files for messages about them.
    """

    def __init__(
        self,
        declaration: Declaration,
        schedules: Sequence[Declaration] = (),
        find: FindSource = find_source,
        knobs: Mapping[str, int] | None = None,
    ) -> None:
        item = declaration.item
        assert isinstance(item, syntax.Op)
        self.declaration = declaration
        self.__name__ = self.__qualname__ = declaration.name
        self.__doc__ = item.doc
        self._inputs = tuple(each.name.text for each in item.inputs)
        self._parameters = tuple(each.name.text for each in item.params)
        self._scalars = tuple(position for position, each in enumerate(item.inputs) if not each.type.shape)
        self._last: Entry | None = None
        self._fast: FastCall = missed
        self._fast_by_key: dict[object, FastCall] = {}
        self._packed_calls: dict[object, FastCall] = {}
        self._entries: dict[object, Entry] = {}
        self._kernels = Kernels(declaration, schedules, find, dict(knobs or {}))

    def __call__(self, *args: object, out: object = None, **named: object) -> Any:
        """Results as NumPy arrays: one alone, several as a tuple; those of rank 0 as NumPy scalars."""
        result = NotImplemented if named else self._fast(out, *args)
        if result is NotImplemented and self._packed_calls:
            result = self._call_packed(args, named, out)
        if result is NotImplemented:
            result = self._call_again(args, named, out)
        if result is NotImplemented:
            result = self._call_checked(args, named, out)
        return result

    def pack(self, name: str, array: object, **settings: Any) -> Packed:
        """An input in the order in which the op's schedule takes it packed, to be given to calls in place of the array.

        Sizes and parameters may be given by name; which are needed says the error. Raises ValueError where no schedule
        packs the input, or several do, each in its own way.
        """
        argument = read_argument(self.__name__, name, array)
        kernels = self._kernels
        return Packer(self.declaration, kernels.schedules, kernels.knobs).packed(name, argument, settings)

    def prepack(self, *inputs: object, **parameters: object) -> tuple[object, ...]:
        """The inputs of a call, with those packed that its kernel takes packed."""
        given, chosen = sort_arguments(self.__name__, self._inputs, self._parameters, inputs, parameters)
        arguments = [read_argument(self.__name__, name, value) for name, value in given.items()]
        entry = self._entry(arguments, chosen)
        return tuple(
            self._stored(entry, argument) if argument.name in entry.packings else value
            for argument, value in zip(arguments, given.values())
        )

    def prepare(self, bound: Bound) -> Kernel:
        """Compile for calls at these sizes. Raises ScheduleError where the schedule that holds may not be applied."""
        return self._kernels.kernel(bound)

    def with_knobs(self, **knobs: int) -> Op:
        """The op with other values of its schedules' knobs; those that a tuner may choose from do not limit them.

        Raises ValueError for a knob that no schedule of the op has, TypeError for a value that is no integer.
        """
        from tdl.compiler.steps import check_knobs

        kernels = self._kernels
        check_knobs(self.declaration, kernels.schedules, knobs)
        return Op(self.declaration, kernels.schedules, kernels.find, {**kernels.knobs, **knobs})

    def schedule(self, **settings: Any) -> Declaration | None:
        """The schedule that holds at sizes and parameters, given by name; with open sizes the first that may hold."""
        return self._steps(settings).schedule

    def nest(self, step: int | None = None, knobs: Mapping[str, int] | None = None, **settings: Any) -> Nest:
        """The loops at sizes and parameters, given by name; after so many lines of the schedule, by default all."""
        return self._steps(settings, knobs).nest(step)

    def _steps(self, settings: Mapping[str, Any], knobs: Mapping[str, int] | None = None) -> Steps:
        from tdl.compiler.steps import steps_of

        parameters = {name: _parameter(value) for name, value in settings.items() if name in self._parameters}
        sizes = {name: value for name, value in settings.items() if name not in self._parameters}
        kernels = self._kernels
        schedules, values = kernels.schedules, {**kernels.knobs, **(knobs or {})}
        return steps_of(self.declaration, schedules, parameters=parameters, sizes=sizes, knobs=values)

    @property
    def __signature__(self) -> inspect.Signature:
        kinds = inspect.Parameter
        inputs = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in self._inputs if name != "out"]
        parameters = [kinds(name, kinds.KEYWORD_ONLY, default=...) for name in self._parameters if name != "out"]
        return inspect.Signature([*inputs, *parameters, kinds("out", kinds.KEYWORD_ONLY, default=None)])

    def __repr__(self) -> str:
        return f"<op {self.__name__}{self.__signature__}>"

    # ---- calls like earlier ones

    def _call_again(self, args: tuple[object, ...], named: dict[str, object], out: object) -> Any:
        """Run what an earlier call prepared for these dtypes and shapes; numbers may stand for tensors of rank 0."""
        if self._scalars and self._last is not None:
            args = self._with_scalars(args, self._last)
        try:
            fast = self._fast_by_key.get(_call_key(args, named))
        except (TypeError, AttributeError):  # something that is no array, or a named array, which is no key
            return NotImplemented
        if fast is None:
            return NotImplemented
        if not named:
            self._fast = fast
        return fast(out, *args)

    def _call_packed(self, args: tuple[object, ...], named: dict[str, object], out: object) -> Any:
        """The same where inputs are packed."""
        try:
            fast = self._packed_calls.get((tuple([_argument_key(each) for each in args]), _key(named)))
        except (TypeError, AttributeError):
            return NotImplemented
        if fast is None:
            return NotImplemented
        if not named:
            self._fast = fast
        return fast(out, *args)

    def _with_scalars(self, args: tuple[object, ...], entry: Entry) -> tuple[object, ...]:
        if len(args) != len(entry.inputs):
            return args
        changed = list(args)
        for position in self._scalars:
            changed[position] = as_scalar(args[position], entry.inputs[position].dtype)
        return tuple(changed)

    def _remember(self, entry: Entry, parameters: Mapping[str, object], named: dict[str, object]) -> None:
        """Make the next call like this one fast: one whose inputs are given by position."""
        if entry.packings:
            return
        self._last = entry
        if not parameters:
            self._fast = entry.fast
        if len(parameters) == len(named):
            if len(self._fast_by_key) >= _KEPT:
                self._fast_by_key.clear()
            types = tuple([(spec.dtype, spec.shape) for spec in entry.inputs])
            self._fast_by_key[types, _key(named)] = entry.fast

    # ---- calls that are checked

    def _call_checked(self, args: tuple[object, ...], named: dict[str, object], out: object) -> Any:
        op = self.__name__
        given, parameters = sort_arguments(op, self._inputs, self._parameters, args, named)
        arguments = [read_argument(op, name, value) for name, value in given.items()]
        entry = self._entry(arguments, parameters)
        inputs = [self._input(entry, argument, spec) for argument, spec in zip(arguments, entry.inputs)]
        if out is None:
            outputs = [allocate(op, spec, entry.empty) for spec in entry.outputs]
        else:
            outputs = check_outputs(op, out, entry.outputs, list(zip(self._inputs, inputs)))
        entry.call(inputs, outputs)
        self._remember(entry, parameters, named)
        if any(type(value) is Packed for value in args) and len(parameters) == len(named):
            if len(self._packed_calls) >= _KEPT:
                self._packed_calls.clear()
            self._packed_calls[tuple(map(_argument_key, args)), _key(named)] = _with_packed(entry.fast, args)
        if out is not None:
            return out
        results = [output if output.ndim else output[()] for output in outputs]
        return results[0] if len(results) == 1 else tuple(results)

    def _input(self, entry: Entry, argument: Argument, spec: Spec) -> Array:
        """What the kernel takes for an argument."""
        if argument.name in entry.packings:
            return self._stored(entry, argument).array
        if argument.packed is not None:
            message = f"{self.__name__}: {argument.name} is packed, and at these sizes no schedule takes it so"
            raise ValueError(f"{message}; give the array itself")
        return prepare_input(self.__name__, argument, spec)

    def _stored(self, entry: Entry, argument: Argument) -> Packed:
        """The argument packed as the kernel takes it: as it was given, or now."""
        packing = entry.packings[argument.name]
        if argument.packed is None:
            return pack(
                packing, prepare_input(self.__name__, argument, Spec(argument.name, packing.dtype, packing.shape))
            )
        if argument.packed.key != packing.key:
            message = f"{self.__name__}: {argument.name} is packed as {argument.packed.packing}"
            raise ValueError(f"{message}, and should be {packing}; pack it anew")
        return argument.packed

    def _entry(self, arguments: list[Argument], parameters: Mapping[str, object]) -> Entry:
        """The kernel for these dtypes, shapes and parameters; bound and compiled on first use."""
        types = tuple((argument.type.dtype, argument.type.shape) for argument in arguments)
        try:
            key = (types, _key(parameters))
            found = self._entries.get(key)
        except TypeError:
            raise TypeError(f"{self.__name__}: compile-time parameters are numbers, bools or dtypes") from None
        if found is not None and found.is_current:
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
        return Entry(self.prepare(bound), bound)


def _with_packed(fast: FastCall, given: tuple[object, ...]) -> FastCall:
    """What takes packed inputs where they were given so, packed in the same way."""
    places = [(position, value.key) for position, value in enumerate(given) if isinstance(value, Packed)]
    count = len(given)

    def call(out: object, *args: Any) -> Any:
        if len(args) != count:
            return NotImplemented
        plain = list(args)
        for position, key in places:
            value = args[position]
            if type(value) is not Packed or value.key != key:
                return NotImplemented
            plain[position] = value.array
        return fast(out, *plain)

    return call


def _argument_key(value: Any) -> object:
    return value.key if type(value) is Packed else (value.dtype, value.shape)


def _call_key(args: tuple[Any, ...], named: dict[str, object]) -> object:
    return tuple([(array.dtype, array.shape) for array in args]), _key(named)


def _key(named: Mapping[str, object]) -> tuple[object, ...]:
    """The arguments as a key under which 1, True and 1.0 differ, and 0.0 and -0.0."""
    return tuple(
        [(name, type(value), repr(value) if isinstance(value, _FLOATS) else value) for name, value in named.items()]
    )


def _parameter(value: object) -> object:
    """A compile-time parameter as the language takes it: NumPy's dtypes and numbers become plain ones."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return dtype_of(np.dtype(value)) or value
    return value
