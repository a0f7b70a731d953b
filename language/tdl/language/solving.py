"""The fixpoint that finds sizes and integer parameters from the shapes of arguments.

X: f32[2*N + 1], F: f32[K]     given arrays of shapes [5] and [3]      N = 2, K = 3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tdl.language import forms, syntax
from tdl.language.dtypes import I64, DType
from tdl.language.forms import Form, Symbol
from tdl.language.literals import shorten
from tdl.language.parameters import Kind, Value, compile_time
from tdl.language.scope import Declaration, SizeEntity, TensorEntity
from tdl.language.signature import Signature


@dataclass(frozen=True)
class ArrayType:
    """What is known of an argument. `dtype` is None for a list of literals, which takes the dtype declared."""

    dtype: DType | None
    shape: tuple[int, ...]


class BindError(ValueError):
    """Arguments that do not fit. `argument` is the input, parameter or dimension at fault, where there is one."""

    def __init__(self, code: str, message: str, argument: str | None = None, notes: tuple[str, ...] = ()) -> None:
        super().__init__("\n".join((message, *notes)))
        self.code = code
        self.message = message
        self.argument = argument
        self.notes = notes


@dataclass
class SizeSolver:
    """The fixpoint over dimensions and integer parameters."""

    op: Declaration
    item: syntax.Op
    signature: Signature
    chosen: dict[str, Value]
    kinds: Mapping[str, Kind]
    known: dict[Symbol, int] = field(default_factory=dict)
    source: dict[Symbol, str] = field(default_factory=dict)

    def take_sizes(self, given: Mapping[str, int | Sequence[int]], ranks: Mapping[str, int]) -> None:
        by_name = {symbol.name: symbol for symbol in self.signature.dims}
        for name, value in given.items():
            if name in self.signature.packs:
                entries = [value] if isinstance(value, int) else list(value)
                if name not in ranks:
                    raise BindError("shape", f"`{name}` is a pack: give a list, as in `{name}=[3, 50]`", name)
                if len(entries) != ranks[name]:
                    message = f"`{name}` has {len(entries)} entries, and stands for {ranks[name]} dimensions"
                    raise BindError("rank", message, name)
                for axis, entry in enumerate(entries):
                    self._set(Symbol(f"{name}.{axis}", "dim"), int(entry), f"`{name}`", name)
            elif name in by_name:
                if not isinstance(value, int) or isinstance(value, bool):
                    raise BindError("shape", f"the dimension `{name}` takes one integer, not {value!r}", name)
                self._set(by_name[name], value, f"`{name}`", name)
            else:
                known = ", ".join(f"`{each}`" for each in (*by_name, *self.signature.packs) if "." not in each)
                raise BindError("shape", f"`{self.op.name}` has no dimension `{name}` (it has {known or 'none'})", name)

    def _set(self, symbol: Symbol, value: int, source: str, argument: str) -> None:
        if value < 0:
            raise BindError("shape", f"the dimension `{symbol}` would be {value}", argument)
        if value > I64.greatest:
            raise BindError("shape", f"the dimension `{symbol}` would be {shorten(value)}, too large", argument)
        self.known[symbol] = value
        self.source[symbol] = source

    def run(self, arrays: Mapping[str, ArrayType]) -> None:
        pending = [
            (tensor, axis, form, arrays[tensor.name].shape[axis])
            for tensor in self.signature.inputs
            if tensor.name in arrays
            for axis, form in enumerate(tensor.shape or ())
        ]
        while True:
            left = [each for each in pending if not self._match(*each)]
            if len(left) < len(pending):
                pending = left
            elif not self._take_default():
                break
        for symbol in self.signature.dims:
            if symbol not in self.known:
                note = f"give an input that has it, or the size itself: `{symbol}=...`"
                raise BindError(
                    "shape", f"the dimension `{symbol}` of `{self.op.name}` is not known", symbol.name, (note,)
                )

    def _match(self, tensor: TensorEntity, axis: int, form: Form, actual: int) -> bool:
        """Use one axis: compare, solve, or leave for later."""
        rest = _put_in(form, self.known)
        if rest.is_constant:
            if rest.constant != actual:
                self._mismatch(tensor, axis, form, actual, rest.constant)
            return True
        match rest.terms:
            case ((Symbol() as symbol, coefficient),):
                value, remainder = divmod(actual - rest.constant, coefficient)
                if remainder or value < 0:
                    message = (
                        f"`{tensor.name}` has {actual} in dimension {axis}, and no {symbol} gives {form} = {actual}"
                    )
                    raise BindError("shape", message, tensor.name)
                self._set(symbol, value, f"`{tensor.name}`", tensor.name)
                return True
        return False

    def _mismatch(self, tensor: TensorEntity, axis: int, form: Form, actual: int, wanted: int) -> None:
        sources = {symbol: self.source[symbol] for symbol in form.symbols() if symbol in self.source}
        by = ", ".join(f"{symbol} = {self.known[symbol]} by {source}" for symbol, source in sources.items())
        meaning = str(form) if str(form) == str(wanted) else f"{form} = {wanted}"
        message = f"dimension {axis} of `{tensor.name}` is {actual}, and should be {meaning}"
        raise BindError("shape", message, tensor.name, (by,) if by else ())

    def _take_default(self) -> bool:
        """Give one integer parameter that nothing fixed its default; False where all have values."""
        scope = self.signature.scope
        for parameter in self.item.params:
            symbol = Symbol(parameter.name.text, "param")
            if self.kinds.get(symbol.name) != I64 or symbol.name in self.chosen or symbol in self.known:
                continue
            if parameter.default is None:
                message = f"`{self.op.name}` needs its compile-time parameter `{symbol}`"
                raise BindError("parameter", message, symbol.name)
            entity = compile_time(parameter.default, symbol.name, I64, scope)
            rest = _put_in(entity.form, self.known) if isinstance(entity, SizeEntity) else None
            if rest is None or not rest.is_constant:
                raise BindError("parameter", f"the default of `{symbol}` is not an integer", symbol.name)
            self.known[symbol] = rest.constant
            self.source[symbol] = "its default"
            return True
        return False

    def parameters(self) -> dict[str, Value]:
        found = {symbol.name: value for symbol, value in self.known.items() if symbol.kind == "param"}
        return {**self.chosen, **found}

    def dims(self) -> dict[Symbol, int]:
        return {symbol: self.known[symbol] for symbol in self.signature.dims}


def _put_in(form: Form, sizes: Mapping[Symbol, int]) -> Form:
    return forms.substitute(form, {symbol: forms.constant(size) for symbol, size in sizes.items()})
