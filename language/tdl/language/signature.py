"""An op's head: parameters, dimensions, packs, inputs, outputs and facts, for one instance.

An `Instance` says what is bound: compile-time parameters by value, packs by rank, dimensions (if wanted) by size. What
it leaves open is symbolic; a pack without a rank stands as one dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tdl.language import calls, expressions, forms, syntax, tree
from tdl.language.dtypes import DTYPES
from tdl.language.forms import Form, Symbol
from tdl.language.parameters import Value, bound, compile_time, evaluate, kind_of, symbolic
from tdl.language.report import Report
from tdl.language.scope import (
    Context,
    Declaration,
    Entity,
    Scope,
    SizeEntity,
    SizePackEntity,
    TensorEntity,
    TypeEntity,
)
from tdl.language.types import UNKNOWN

Signatured = syntax.Op | syntax.Graph | syntax.Intrinsic


@dataclass(frozen=True)
class Instance:
    """What is known of an op's parameters, packs and sizes; sorted tuples, so that equal instances are one memo key.

    `negative_zeros` names the parameters that are -0.0, which compares equal to 0.0 and means something else.
    """

    parameters: tuple[tuple[str, Value], ...] = ()
    ranks: tuple[tuple[str, int], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()
    negative_zeros: tuple[str, ...] = ()

    @staticmethod
    def of(
        parameters: Mapping[str, Value] | None = None,
        ranks: Mapping[str, int] | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> Instance:
        given = tuple(sorted((parameters or {}).items()))
        return Instance(
            given,
            tuple(sorted((ranks or {}).items())),
            tuple(sorted((sizes or {}).items())),
            tuple(name for name, value in given if value == 0.0 and str(value) == "-0.0"),
        )


@dataclass
class Signature:
    """The elaborated head. `scope` holds its names; `facts` are built; `dims` are in order of first appearance."""

    scope: Scope
    parameters: dict[str, Value | None] = field(default_factory=dict)
    dims: list[Symbol] = field(default_factory=list)
    packs: dict[str, int] = field(default_factory=dict)
    inputs: list[TensorEntity] = field(default_factory=list)
    outputs: list[TensorEntity] = field(default_factory=list)
    facts: list[tree.Expr] = field(default_factory=list)


def elaborate_signature(
    declaration: Declaration,
    instance: Instance,
    context: Context,
    open_parameters: frozenset[str] = frozenset(),
) -> Signature:
    """The head of an op, graph or intrinsic; errors go to the context's report.

    `open_parameters` stay symbolic although they have defaults: a call's arguments may fix them.
    """
    item = declaration.item
    assert isinstance(item, Signatured)
    signature = Signature(Scope(context, declaration.environment, {}))
    _parameters(item, instance, open_parameters, signature)
    sizes = dict(instance.sizes)
    _dimensions(item, dict(instance.ranks), sizes, signature)
    for role, declarations, tensors in (
        ("input", item.inputs, signature.inputs),
        ("output", item.outputs, signature.outputs),
    ):
        for each in declarations:
            entity = declare_tensor(each, "input" if role == "input" else "output", signature.scope)
            _declare(each.name, entity, signature)
            tensors.append(entity)
    if not isinstance(item, syntax.Intrinsic):
        signature.facts.extend(built for fact in item.facts if (built := _fact(fact, signature.scope)) is not None)
    for tensor in (*signature.inputs, *signature.outputs):
        signature.facts.extend(_not_negative(tensor))
    return signature


@lru_cache(maxsize=2048)
def head_of(op: Declaration, instance: Instance, open_parameters: frozenset[str] = frozenset()) -> Signature:
    """The head of an op for those who only read it. What is wrong with it is reported where the op is checked."""
    return elaborate_signature(op, instance, Context(Report(), op.text), open_parameters)


def _fact(fact: syntax.Expr, scope: Scope) -> tree.Expr | None:
    with scope.context.attempt():
        typed = expressions.condition(fact, scope, "a fact")
        built = None if scope.context.failed else typed.build()
    if built is not None and any(isinstance(node, tree.Access | tree.Reduce) for node in tree.walk(built)):
        message = "a fact is about sizes and parameters, not about data"
        scope.error("fact", message, fact.span, "data can decide in a filter: `for i in 0..N if ...`")
        return None
    return None if built is None else replace(built, span=fact.span)


def declare_tensor(each: syntax.Declaration | syntax.Let, role: str, scope: Scope) -> TensorEntity:
    """A tensor from its declared type."""
    type = calls.dtype_of(each.type.dtype, scope)
    shape = shape_of(each.type.shape, scope)
    kind = "input" if role == "input" else "output" if role == "output" else "intermediate"
    return TensorEntity(each.name.text, kind, type, shape, each.name.span)  # type: ignore[arg-type]


def shape_of(parts: tuple[syntax.Expr | syntax.Pack, ...], scope: Scope) -> tuple[Form, ...] | None:
    """A declared shape as forms, or None after an error."""
    packs = [part for part in parts if isinstance(part, syntax.Pack)]
    if len(packs) > 1:
        scope.error("definition", "a shape has at most one pack", packs[1].span)
    sizes = [_pack_of(part, scope) if isinstance(part, syntax.Pack) else _dimension(part, scope) for part in parts]
    good = [each for each in sizes if each is not None]
    return tuple(form for each in good for form in each) if len(packs) <= 1 and len(good) == len(parts) else None


def _pack_of(pack: syntax.Pack, scope: Scope) -> tuple[Form, ...] | None:
    entity = scope.names.get(pack.name.text)
    if isinstance(entity, SizePackEntity):
        return entity.forms
    if entity is not None:
        if pack.name.text in scope.context.report.broken:
            scope.context.failed = True
        else:
            scope.error("not-a-value", f"`{pack.name.text}` is not a pack", pack.span, "a pack is declared by an input")
        return None
    scope.unknown(pack.name, [n for n, e in scope.names.items() if isinstance(e, SizePackEntity)], "pack")
    return None


def _dimension(part: syntax.Expr, scope: Scope) -> tuple[Form] | None:
    with scope.context.attempt():
        typed, build = expressions.integer_form(part, scope, "a dimension")
        if expressions.is_unknown(typed.type) or scope.context.failed:
            return None
        form = build()
    if any(isinstance(atom, forms.Opaque) for atom, _ in form.terms):
        scope.error("shape", "a dimension is arithmetic on sizes, not on data", part.span)
        return None
    if form.is_constant and form.constant < 0:
        scope.error("shape", f"a dimension is not negative, and this is {form.constant}", part.span)
        return None
    return (form,)


def _declare(name: syntax.Name, entity: Entity, signature: Signature) -> None:
    scope = signature.scope
    if name.text in scope.names:
        scope.error("duplicate-name", f"`{name.text}` is declared twice in this op", name.span)
        scope.context.report.broken.add(name.text)
        return
    signature.scope = scope.with_names({name.text: entity})


def _parameters(item: Signatured, instance: Instance, open_parameters: frozenset[str], signature: Signature) -> None:
    given = dict(instance.parameters)
    for parameter in item.params:
        name = parameter.name.text
        kind = kind_of(parameter, signature.scope)
        if kind is None:
            _declare(parameter.name, TypeEntity(UNKNOWN), signature)
            continue
        value = given.get(name)
        entity = symbolic(name, kind) if value is None else bound(value, kind)
        if value is None and parameter.default is not None and name not in open_parameters:
            value = evaluate(parameter.default, name, kind, signature.scope)
            entity = compile_time(parameter.default, name, kind, signature.scope) or entity
        signature.parameters[name] = value
        _declare(parameter.name, entity, signature)


# ---- dimensions


def _dimensions(item: Signatured, ranks: dict[str, int], sizes: dict[str, int], signature: Signature) -> None:
    scope = signature.scope
    for declaration in item.inputs:
        for part in declaration.type.shape:
            if isinstance(part, syntax.Pack):
                _declare_pack(part, ranks, sizes, signature)
                continue
            for name in free_names(part):
                known = name.text in signature.scope.names or scope.environment.find("value", name.text)
                if not known and name.text not in scope.environment.broken and name.text not in DTYPES:
                    _declare_dim(name, sizes, signature)


def _declare_pack(pack: syntax.Pack, ranks: dict[str, int], sizes: dict[str, int], signature: Signature) -> None:
    name = pack.name.text
    existing = signature.scope.names.get(name)
    if isinstance(existing, SizePackEntity):
        return
    rank = ranks.get(name)
    names = [name] if rank is None else [f"{name}.{axis}" for axis in range(rank)]
    symbols = [Symbol(each, "dim") for each in names]
    signature.dims.extend(symbols)
    signature.packs[name] = len(symbols)
    _declare(pack.name, SizePackEntity(tuple(_size(each, sizes) for each in symbols)), signature)


def _declare_dim(name: syntax.Name, sizes: dict[str, int], signature: Signature) -> None:
    symbol = Symbol(name.text, "dim")
    signature.dims.append(symbol)
    _declare(name, SizeEntity(_size(symbol, sizes)), signature)


def _size(symbol: Symbol, sizes: dict[str, int]) -> Form:
    known = sizes.get(symbol.name)
    return forms.symbol(symbol) if known is None else forms.constant(known)


def free_names(expr: syntax.Expr) -> Iterator[syntax.Name]:
    """The plain names in a dimension, in order."""
    match expr:
        case syntax.Ref((name,)):
            yield name
        case syntax.Unary(_, operand):
            yield from free_names(operand)
        case syntax.Binary(_, left, right):
            yield from free_names(left)
            yield from free_names(right)
        case syntax.Call(_, _, args):
            for argument in args:
                yield from free_names(argument.value)


def _not_negative(tensor: TensorEntity) -> Iterator[tree.Expr]:
    for form in tensor.shape or ():
        if not form.is_constant or form.constant < 0:
            yield tree.Compare("ge", tree.Integer(form), tree.Integer(forms.ZERO), span=tensor.span)


# ---- which dimensions arguments can fix


def check_solvable(item: Signatured, signature: Signature) -> None:
    """Every input dimension must be found from some argument: linear in one unknown, the others known."""
    probe = forms.constant(7919)
    known: dict[Symbol, Form] = {
        symbol: probe
        for tensor in signature.inputs
        for form in tensor.shape or ()
        for symbol in form.symbols()
        if symbol.kind == "param"
    }
    shapes = [form for tensor in signature.inputs for form in tensor.shape or ()]
    changed = True
    while changed:
        changed = False
        for form in shapes:
            rest = forms.substitute(form, known)
            match rest.terms:
                case ((Symbol() as symbol, _),):
                    known[symbol] = probe
                    changed = True
    blamed: set[Symbol] = set()
    for declaration, tensor in zip(item.inputs, signature.inputs):
        for part, form in _aligned(declaration.type.shape, tensor.shape or ()):
            left = set(forms.substitute(form, known).symbols())
            unsolved = [symbol for symbol in signature.dims if symbol in left and symbol not in known]
            if unsolved and blamed.isdisjoint(unsolved):
                message = f"no argument can fix the dimension `{unsolved[0]}`"
                note = "a dimension is found where it stands alone, or linearly with known ones, in some input's shape"
                signature.scope.error("unsolved-dimension", message, part.span, note)
            blamed.update(unsolved)


def _aligned(
    parts: tuple[syntax.Expr | syntax.Pack, ...], shape: tuple[Form, ...]
) -> Iterator[tuple[syntax.Expr, Form]]:
    """The dimensions of a declared shape with their forms; a pack stands for as many as are left."""
    skipped = len(shape) - len(parts)
    position = 0
    for part in parts:
        if isinstance(part, syntax.Pack):
            position += skipped + 1
        else:
            yield part, shape[position]
            position += 1
