"""From arguments to sizes: which instance of an op a call means, and whether it may run.

    matmul(A: f32[3, 4], B: f32[4, 5])       T = f32, M = 3, K = 4, N = 5

Dimensions are matched to a fixpoint: a form that is linear in one unknown is solved exactly, one that is all known is
compared. Then facts are evaluated and the proofs that had to wait for sizes are run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tdl.language import forms, syntax, tree
from tdl.language.check import Checked, check_op
from tdl.language.dtypes import I64, DType, belongs
from tdl.language.folding import value_of
from tdl.language.forms import Form, Symbol
from tdl.language.literals import shorten
from tdl.language.parameters import Kind, Value, check_value, compile_time, kind_of
from tdl.language.report import Report
from tdl.language.scope import Context, Declaration, Scope, SizeEntity, TensorEntity
from tdl.language.signature import Instance, Signature, head_of


@dataclass(frozen=True)
class ArrayType:
    """What is known of an argument. `dtype` is None for a list of literals, which takes the dtype declared."""

    dtype: DType | None
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Bound:
    """An op ready to run: a sound program, the size of every dimension, and the shape of every output."""

    program: tree.Program
    sizes: Mapping[Symbol, int]
    output_shapes: Mapping[str, tuple[int, ...]]

    def shape(self, tensor: str) -> tuple[int, ...]:
        return tuple(forms.evaluate(form, self.sizes) for form in self.program.tensors[tensor].shape)


class BindError(ValueError):
    """Arguments that do not fit. `argument` is the input, parameter or dimension at fault, where there is one."""

    def __init__(self, code: str, message: str, argument: str | None = None, notes: tuple[str, ...] = ()) -> None:
        super().__init__("\n".join((message, *notes)))
        self.code = code
        self.message = message
        self.argument = argument
        self.notes = notes


def bind(
    op: Declaration,
    arrays: Mapping[str, ArrayType],
    parameters: Mapping[str, object] | None = None,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
) -> Bound:
    """Match arguments to an op.

    `arrays` describes inputs by name, not necessarily all of them; `parameters` gives compile-time parameters (numbers,
    bools, a DType or its name); `sizes` gives dimensions by name, and packs as sequences. Raises BindError.
    """
    item = op.item
    assert isinstance(item, syntax.Op)
    kinds = _kinds(op, item)
    chosen = _explicit(op.name, parameters or {}, kinds)
    _fix_dtypes(item, arrays, chosen, kinds)
    _require_parameters(op.name, item, chosen, kinds)
    given = dict(sizes or {})
    ranks = _ranks(item, arrays, given)
    signature = head_of(op, Instance.of({**chosen}, ranks), frozenset(_open(item, chosen, kinds)))
    solver = _Solver(op, item, signature, chosen, kinds)
    solver.take_sizes(given, ranks)
    solver.run(arrays)
    checked = check_op(op, Instance.of(solver.parameters(), ranks))
    _require_sound(checked, op.name)
    _require_dtypes(checked.program, arrays)
    bound_sizes = solver.dims()
    _check_facts(op, checked.program, bound_sizes)
    if checked.program.obligations:
        exact = {symbol.name: size for symbol, size in bound_sizes.items()}
        _require_sound(check_op(op, Instance.of(solver.parameters(), ranks, exact)), op.name, bound_sizes)
    shapes = {
        name: tuple(forms.evaluate(form, bound_sizes) for form in checked.program.tensors[name].shape)
        for name in checked.program.outputs
    }
    return Bound(checked.program, bound_sizes, shapes)


def instance_of(
    op: Declaration, parameters: Mapping[str, object], sizes: Mapping[str, int | Sequence[int]]
) -> Instance:
    """The instance with these parameters, sizes and ranks of packs bound and the rest left open. Raises BindError."""
    item = op.item
    assert isinstance(item, syntax.Op)
    kinds = _kinds(op, item)
    chosen, ranks = _explicit(op.name, parameters, kinds), _ranks(item, {}, sizes)
    signature = head_of(op, Instance.of(chosen, ranks), frozenset(_open(item, chosen, kinds)))
    solver = _Solver(op, item, signature, chosen, kinds)
    solver.take_sizes(sizes, ranks)
    return Instance.of(chosen, ranks, {symbol.name: size for symbol, size in solver.known.items()})


# ---- parameters


def _kinds(op: Declaration, item: syntax.Op) -> dict[str, Kind]:
    scope = Scope(Context(Report(), op.text), op.environment, {})
    found = {parameter.name.text: kind_of(parameter, scope) for parameter in item.params}
    return {name: kind for name, kind in found.items() if kind is not None}


def _explicit(op: str, parameters: Mapping[str, object], kinds: Mapping[str, Kind]) -> dict[str, Value]:
    chosen: dict[str, Value] = {}
    for name, value in parameters.items():
        if name not in kinds:
            known = ", ".join(f"`{each}`" for each in kinds) or "none"
            raise BindError("parameter", f"`{op}` has no compile-time parameter `{name}` (it has {known})", name)
        checked = check_value(value, name, kinds[name])
        if isinstance(checked, str):
            raise BindError("parameter", checked, name)
        chosen[name] = checked
    return chosen


def _fix_dtypes(
    item: syntax.Op, arrays: Mapping[str, ArrayType], chosen: dict[str, Value], kinds: Mapping[str, Kind]
) -> None:
    """Arguments fix dtype parameters; an explicit one must agree, and a default yields."""
    fixed_by: dict[str, str] = {}
    for declaration in item.inputs:
        parameter, name = declaration.type.dtype.text, declaration.name.text
        kind, array = kinds.get(parameter), arrays.get(name)
        if kind is None or isinstance(kind, DType) or array is None or array.dtype is None:
            continue
        if not belongs(array.dtype, kind):
            raise BindError("dtype", f"`{name}` is {array.dtype}, and `{parameter}` takes a {kind} dtype", name)
        known = chosen.setdefault(parameter, array.dtype)
        if known != array.dtype:
            by = f"`{fixed_by[parameter]}`" if parameter in fixed_by else "the parameter given"
            raise BindError("dtype", f"`{name}` is {array.dtype}, and {parameter} is {known} by {by}", name)
        fixed_by.setdefault(parameter, name)


def _require_parameters(op: str, item: syntax.Op, chosen: Mapping[str, Value], kinds: Mapping[str, Kind]) -> None:
    """Every parameter has a value, but for integers: shapes may still fix those."""
    for parameter in item.params:
        name, kind = parameter.name.text, kinds.get(parameter.name.text)
        if kind is None or kind == I64 or name in chosen or parameter.default is not None:
            continue
        if isinstance(kind, DType):
            raise BindError("parameter", f"`{op}` needs its compile-time parameter `{name}`", name)
        note = f"give it, as in `[{name}=f32]`"
        raise BindError("parameter", f"the dtype `{name}` is not fixed by any argument", name, (note,))


def _open(item: syntax.Op, chosen: Mapping[str, Value], kinds: Mapping[str, Kind]) -> list[str]:
    """Integer parameters that arguments may still fix."""
    return [p.name.text for p in item.params if kinds.get(p.name.text) == I64 and p.name.text not in chosen]


# ---- ranks and sizes


def _ranks(
    item: syntax.Op, arrays: Mapping[str, ArrayType], given: Mapping[str, int | Sequence[int]]
) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for declaration in item.inputs:
        for part in declaration.type.shape:
            if isinstance(part, syntax.Pack) and not isinstance(given.get(part.name.text, 0), int):
                sequence = given[part.name.text]
                assert not isinstance(sequence, int)
                ranks[part.name.text] = len(sequence)
    for declaration in item.inputs:
        name, shape = declaration.name.text, declaration.type.shape
        array = arrays.get(name)
        if array is None:
            continue
        packs = [part for part in shape if isinstance(part, syntax.Pack)]
        single = len(shape) - len(packs)
        rank = len(array.shape)
        if not packs and rank != single:
            raise BindError("rank", f"`{name}` has {_dimensions(single)}, and is given an array with {rank}", name)
        if packs:
            if rank < single:
                message = f"`{name}` has at least {_dimensions(single)}, and is given an array with {rank}"
                raise BindError("rank", message, name)
            pack = packs[0].name.text
            if ranks.setdefault(pack, rank - single) != rank - single:
                message = f"`{name}` has {_dimensions(rank)}, and `..{pack}` stands for {ranks[pack]} of them"
                raise BindError("rank", message, name)
    return ranks


def _dimensions(count: int) -> str:
    return "1 dimension" if count == 1 else f"{count} dimensions"


@dataclass
class _Solver:
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


# ---- whether it may run


def _require_sound(checked: Checked, op: str, sizes: Mapping[Symbol, int] | None = None) -> None:
    for diagnostic in checked.diagnostics:
        if diagnostic.severity == "error":
            where = f" at {describe_sizes(sizes)}" if sizes else ""
            raise BindError(diagnostic.code, f"`{op}` cannot run{where}: {diagnostic.message}", None, diagnostic.notes)
    if not checked.is_sound:
        raise BindError("definition", f"`{op}` cannot run: a part of it, or something it refers to, is broken")


def _require_dtypes(program: tree.Program, arrays: Mapping[str, ArrayType]) -> None:
    for name, array in arrays.items():
        declared = program.tensors[name].dtype
        if array.dtype not in (None, declared):
            raise BindError("dtype", f"`{name}` is {array.dtype}, and is declared as {declared}", name)


def _check_facts(op: Declaration, program: tree.Program, sizes: Mapping[Symbol, int]) -> None:
    values = {symbol: forms.constant(size) for symbol, size in sizes.items()}
    for fact in program.facts:
        holds = value_of(_substituted(fact, values))
        if holds:
            continue
        used = {symbol: sizes[symbol] for symbol in tree.symbols_of(fact) if symbol in sizes}
        at = f" at {describe_sizes(used)}" if used else ""
        match fact:
            case tree.Compare("ge", tree.Integer(form), tree.Integer(zero)) if zero == forms.ZERO:
                what = "would be negative" if holds is not None else "would divide by zero"
                raise BindError("fact", f"{form} {what}{at}", next((str(s) for s in used), None))
        text = " ".join(op.text[fact.span.start : fact.span.end].split())
        raise BindError("fact", f"`{program.name}` requires {text}, which does not hold{at}")


def _substituted(expr: tree.Expr, values: Mapping[Symbol, Form]) -> tree.Expr:
    return tree.map_children(
        expr, lambda child: _substituted(child, values), lambda form: forms.substitute(form, values)
    )


def describe_sizes(sizes: Mapping[Symbol, int]) -> str:
    return ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
