"""From arguments to sizes: which instance of an op a call means, and whether it may run.

    matmul(A: f32[3, 4], B: f32[4, 5])       T = f32, M = 3, K = 4, N = 5

Dimensions are matched to a fixpoint: a form that is linear in one unknown is solved exactly, one that is all known is
compared. Then facts are evaluated and the proofs that had to wait for sizes are run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tdl.language import forms, syntax, tree
from tdl.language.check import Checked, check_op
from tdl.language.dtypes import I64, DType, belongs
from tdl.language.folding import value_of
from tdl.language.forms import Form, Symbol
from tdl.language.parameters import Kind, Value, check_value, kind_of
from tdl.language.report import Report
from tdl.language.scope import Context, Declaration, Scope
from tdl.language.signature import Instance, head_of
from tdl.language.solving import ArrayType as ArrayType
from tdl.language.solving import BindError as BindError
from tdl.language.solving import SizeSolver


@dataclass(frozen=True)
class Bound:
    """An op ready to run: a sound program, the size of every dimension, and the shape of every output."""

    program: tree.Program
    sizes: Mapping[Symbol, int]
    output_shapes: Mapping[str, tuple[int, ...]]

    def shape(self, tensor: str) -> tuple[int, ...]:
        return tuple(forms.evaluate(form, self.sizes) for form in self.program.tensors[tensor].shape)


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
    solver = SizeSolver(op, item, signature, chosen, kinds)
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
    for name, shape in shapes.items():
        if any(size > I64.greatest for size in shape):
            raise BindError("shape", f"`{name}` would have shape {list(shape)}, which is too large")
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
    solver = SizeSolver(op, item, signature, chosen, kinds)
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
