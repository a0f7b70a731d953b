"""Comprehensions: `sum(X[i, k] for k if keep[k])`, with built-in reducers and the module's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tdl.language import expressions, forms, syntax, tree
from tdl.language.construct import convert, widen
from tdl.language.dtypes import BOOL, DTYPES, F32, DType, Type
from tdl.language.forms import Form, Symbol
from tdl.language.packs import pack_rank
from tdl.language.scope import Declaration, Entity, IndexEntity, IndexPackEntity, Scope, Typed, ValueEntity
from tdl.language.source import Span
from tdl.language.types import AnyType, describe, settle, unify


def single(expr: syntax.Reduction, scope: Scope) -> Typed:
    """A comprehension of one value, anywhere in an expression."""
    results = several(expr, scope)
    if results is None:
        return expressions.unknown(expr.span)
    if len(results.types) != 1:
        note = "define all of them: `(V[i], I[i]) = ...`"
        scope.error("reducer", f"`{expr.callee.text}` gives {len(results.types)} values here", expr.span, note)
        return expressions.unknown(expr.span)
    return Typed(results.types[0], scope.at(expr.span), results.build)


@dataclass
class Several:
    """A comprehension of any number of values."""

    types: list[AnyType]
    build: Callable[[], tree.Expr]


def several(expr: syntax.Reduction, scope: Scope) -> Several | None:
    """A comprehension, or None after an error."""
    binders, inside = bind(expr, scope)
    condition = None
    if expr.clause.filter is not None:
        condition = expressions.condition(expr.clause.filter, inside, "the filter")
    name = expr.callee.text
    body = expr.body.items if isinstance(expr.body, syntax.Tuple) else (expr.body,)
    args = [expressions.elaborate(item, inside) for item in body]
    declaration = scope.environment.find("callable", name)
    if binders is None:
        return None
    if declaration is not None:
        make = _own_reducer(expr, declaration, args, scope)
    elif name in tree.BUILTIN_REDUCERS:
        make = _builtin_reducer(expr, args, scope)
    else:
        _unknown_reducer(expr.callee, scope)
        return None
    if make is None:
        return None
    span = scope.at(expr.span)

    def build() -> tree.Expr:
        assert binders is not None
        assert make is not None
        test = None if condition is None else condition.build()
        built = tuple(arg.build() for arg in args)
        return _reduce(make(), tuple(each() for each in binders), test, built, span)

    return Several([arg.type for arg in args], build)


def _unknown_reducer(callee: syntax.Ref, scope: Scope) -> None:
    if callee.text in scope.environment.broken:
        scope.context.failed = True
    elif callee.text in tree.FUNCTIONS or callee.text in DTYPES:
        scope.error("reducer", f"`{callee.text}` is not a reducer, and takes no `for`", callee.span)
    else:
        candidates = [*tree.BUILTIN_REDUCERS, *scope.environment.names("callable")]
        scope.unknown(syntax.Name(callee.text, span=callee.span), candidates, "reducer")


def _reduce(
    reducer: tree.Reducer,
    binders: tuple[tree.Binder, ...],
    condition: tree.Expr | None,
    args: tuple[tree.Expr, ...],
    span: Span,
) -> tree.Expr:
    """The node; a sum or product over a half dtype runs in f32 and is rounded once."""
    dtype = reducer.dtypes[0]
    if reducer.name in ("sum", "prod") and reducer.is_builtin and isinstance(dtype, DType) and dtype.is_half:
        wide = tree.Reducer(reducer.name, (F32,))
        return convert(tree.Reduce(wide, binders, condition, tuple(map(widen, args)), span=span), dtype, span)
    return tree.Reduce(reducer, binders, condition, args, span=span)


# ---- reducers


def _builtin_reducer(expr: syntax.Reduction, args: list[Typed], scope: Scope) -> Callable[[], tree.Reducer] | None:
    name = expr.callee.text
    if expr.params:
        scope.error("arguments", f"`{name}` has no compile-time parameters", expr.span)
        return None
    if name in ("argmax", "argmin"):
        if len(args) < 2:
            note = f"for example `{name}((X[i], i32(i)) for i)`"
            scope.error("reducer", f"`{name}` takes a tuple of a key and what to return with it", expr.body.span, note)
            return None
    elif len(args) != 1:
        scope.error("reducer", f"`{name}` takes one value", expr.body.span)
        return None
    if name in ("any", "all"):
        if unify(args[0].type, BOOL) is None:
            message = f"`{name}` takes bool, not {describe(args[0].type)}"
            scope.error("dtype", message, expr.body.span, "compare, as in `x != 0`")
            return None
    elif not expressions.require_class(args[0], "number", f"`{name}`", scope):
        return None
    return lambda: tree.Reducer(name, tuple(arg.settled for arg in args))


def _own_reducer(
    expr: syntax.Reduction, declaration: Declaration, args: list[Typed], scope: Scope
) -> Callable[[], tree.Reducer] | None:
    from tdl.language.calls import dtype_of
    from tdl.language.functions import check_reducer, components
    from tdl.language.parameters import bind_parameters, take_defaults

    item, name = declaration.item, expr.callee.text
    if not isinstance(item, syntax.Reducer):
        scope.error("reducer", f"`{name}` is not a reducer, and takes no `for`", expr.callee.span)
        return None
    if not check_reducer(declaration).is_usable or item.identity is None or item.combine is None:
        scope.context.failed = True
        return None
    if len(args) != len(item.results):
        scope.error("reducer", f"`{name}` takes {len(item.results)} values, not {len(args)}", expr.body.span)
        return None
    names = bind_parameters(name, item.params, expr.params, expr.span, declaration.environment, scope)
    if names is None:
        return None
    inside = Scope(scope.context, declaration.environment, names, scope.at(expr.span))
    types = [dtype_of(result.dtype, inside) for result in item.results]
    for type, arg in zip(types, args):
        target = Typed(type, arg.span, arg.build)
        if expressions.is_unknown(expressions.agree(target, arg, arg.span, scope, f"`{name}` and its argument")):
            return None
    take_defaults(item.params, names, inside)
    for formal in (*item.left, *item.right):
        names[formal.name.text] = _formal(formal.name.text, dtype_of(formal.type.dtype, inside), scope.at(expr.span))
    both = Scope(scope.context, declaration.environment, names, scope.at(expr.span))
    identity, combine = components(item.identity, len(types), both), components(item.combine, len(types), both)
    for part in (identity, combine):
        for type, value in zip(types, part):
            unify(type, value.type)
    return lambda: tree.Reducer(
        name,
        tuple(map(settle, types)),
        tuple(formal.name.text for formal in item.left),
        tuple(formal.name.text for formal in item.right),
        tuple(value.build() for value in identity),
        tuple(value.build() for value in combine),
    )


def _formal(name: str, type: AnyType, span: Span) -> Entity:
    return ValueEntity(type, lambda: tree.Local(name, _settled(type), span=span))


def _settled(type: AnyType) -> Type:
    return settle(type)


# ---- binders

BuildBinder = Callable[[], tree.Binder]


def bind(expr: syntax.Reduction, scope: Scope) -> tuple[list[BuildBinder] | None, Scope]:
    """Binders in order, each seeing the earlier ones, and the scope of the body. None after an error.

    A pack stands for as many binders as the first tensor read with it has dimensions left for it.
    """
    builders: list[BuildBinder] = []
    good = True
    for binder in expr.clause.binders:
        name = binder.name.text
        if name in scope.names:
            message = f"`{name}` already names something here"
            scope.error("duplicate-name", message, binder.name.span, "an index needs a name of its own")
            good = False
        if binder.is_pack:
            symbols = _pack(binder, expr, scope)
            good = good and symbols is not None
            scope = scope.with_names({name: IndexPackEntity(symbols or ())})
            ends = [[_always(end) for end in unknown_ends(symbol, scope)] for symbol in symbols or ()]
            builders.extend(_builder(symbol, pair, scope.at(binder.span)) for symbol, pair in zip(symbols or (), ends))
            continue
        symbol = Symbol(name, "index")
        builders.append(_builder(symbol, range_ends(binder, symbol, scope), scope.at(binder.span)))
        scope = scope.with_names({name: IndexEntity(symbol)})
    return (builders if good else None), scope


def _pack(binder: syntax.Binder, expr: syntax.Reduction, scope: Scope) -> tuple[Symbol, ...] | None:
    name = binder.name.text
    rank = pack_rank(name, (expr.body, expr.clause.filter), scope)
    if rank is None:
        message = f"nothing says how many indices `..{name}` stands for"
        scope.error("definition", message, binder.span, f"read a tensor with it, as in `X[..{name}]`")
        return None
    return tuple(Symbol(f"{name}.{axis}", "index") for axis in range(rank))


def _builder(symbol: Symbol, ends: list[Callable[[], Form]], span: Span) -> BuildBinder:
    return lambda: tree.Binder(symbol, *(end() for end in ends), span=span)


def range_ends(binder: syntax.Binder, symbol: Symbol, scope: Scope) -> list[Callable[[], Form]]:
    """Builders of an index's two ends; unknowns where the text gives none."""
    if binder.range is None:
        return list(map(_always, unknown_ends(symbol, scope)))
    return [expressions.integer_form(end, scope, "the end of a range")[1] for end in (binder.range.lo, binder.range.hi)]


def unknown_ends(symbol: Symbol, scope: Scope) -> tuple[Form, Form]:
    name = scope.context.fresh(f"?{symbol.name}")
    lo, hi = Symbol(f"{name}.lo", "unknown"), Symbol(f"{name}.hi", "unknown")
    return forms.symbol(lo), forms.symbol(hi)


def _always(form: Form) -> Callable[[], Form]:
    return lambda: form
