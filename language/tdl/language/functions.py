"""Checks of scalar functions and reducers, each once, with its dtype parameters symbolic."""

from __future__ import annotations

from functools import lru_cache

from tdl.language import calls, expressions, syntax
from tdl.language.dtypes import DType
from tdl.language.parameters import compile_time, kind_of, symbolic
from tdl.language.report import Report, Verdict
from tdl.language.scope import MAX_DEPTH, Context, Declaration, Entity, Scope, Typed, ValueEntity
from tdl.language.source import Span
from tdl.language.tree import Local
from tdl.language.types import describe, settle, unify


@lru_cache(maxsize=1024)
def check_function(declaration: Declaration) -> Verdict:
    """What is wrong with a function's declaration."""
    item = declaration.item
    assert isinstance(item, syntax.Fn)
    context = Context(Report(), declaration.text, failed=item.body is None or declaration.depth > MAX_DEPTH)
    if context.failed:
        return context.verdict()
    scope = _parameters(item.params, Scope(context, declaration.environment, {}))
    scope = _arguments(item.args, scope)
    result = calls.dtype_of(item.result.dtype, scope)
    if item.result.shape:
        context.error("definition", "a function gives one scalar", item.result.span)
    if item.body is not None:
        body = expressions.elaborate(item.body, scope)
        _agrees(body, result, "the body", item.body.span, scope)
        if not context.failed:
            body.build()
    return context.verdict()


@lru_cache(maxsize=1024)
def check_reducer(declaration: Declaration) -> Verdict:
    """What is wrong with a reducer's declaration."""
    item = declaration.item
    assert isinstance(item, syntax.Reducer)
    context = Context(Report(), declaration.text, failed=declaration.depth > MAX_DEPTH)
    if context.failed:
        return context.verdict()
    scope = _parameters(item.params, Scope(context, declaration.environment, {}))
    results = [calls.dtype_of(result.dtype, scope) for result in item.results]
    for side, arguments in (("left", item.left), ("right", item.right)):
        if len(arguments) != len(results):
            given = "1 value" if len(arguments) == 1 else f"{len(arguments)} values"
            message = f"the {side} side has {given} and the result has {len(results)}"
            context.error("reducer", message, item.name.span)
            return context.verdict()
    if context.failed or item.identity is None or item.combine is None:
        return context.verdict()
    both = _arguments((*item.left, *item.right), scope)
    for formal, result in zip((*item.left, *item.right), (*results, *results)):
        type = calls.dtype_of(formal.type.dtype, scope)
        if unify(type, result) is None:
            message = f"`{formal.name.text}` is {describe(type)}, and the result has {describe(result)} in its place"
            context.error("reducer", message, formal.span, "both sides and the result have the same types")
    for part, inside in ((item.identity, scope), (item.combine, both)):
        for value, result in zip(components(part, len(results), inside), results):
            _agrees(value, result, "this value", value.span, inside)
            if not context.failed:
                value.build()
    return context.verdict()


def components(expr: syntax.Expr, count: int, scope: Scope) -> list[Typed]:
    """The values of an expression of several: a tuple, or a conditional between tuples. None of them after an error."""
    if count == 1:
        return [expressions.elaborate(expr, scope)]
    items = _items(expr, count, scope)
    return [] if items is None else [expressions.elaborate(item, scope) for item in items]


def _items(expr: syntax.Expr, count: int, scope: Scope) -> tuple[syntax.Expr, ...] | None:
    """One expression for each of the values; a conditional between tuples is one for each of their entries."""
    match expr:
        case syntax.Tuple(items) if len(items) == count:
            return items
        case syntax.Conditional(then, condition, other) if other is not None:
            first, second = _items(then, count, scope), _items(other, count, scope)
            if first is None or second is None:
                return None
            return tuple(syntax.Conditional(a, condition, b, span=expr.span) for a, b in zip(first, second))
    scope.error("reducer", f"this must be a tuple of {count} values", expr.span)
    return None


def _parameters(parameters: tuple[syntax.Parameter, ...], scope: Scope) -> Scope:
    for parameter in parameters:
        name = parameter.name.text
        if name in scope.names:
            scope.error("duplicate-name", f"`{name}` is declared twice", parameter.name.span)
        kind = kind_of(parameter, scope)
        if kind is None:
            continue
        entity: Entity = symbolic(name, kind)
        if parameter.default is not None:
            default = compile_time(parameter.default, name, kind, scope)
            if default is not None and isinstance(kind, DType):
                entity = default
        scope = scope.with_names({name: entity})
    return scope


def _arguments(arguments: tuple[syntax.Declaration, ...], scope: Scope) -> Scope:
    names: dict[str, Entity] = {}
    for argument in arguments:
        name = argument.name.text
        if name in names or name in scope.names:
            scope.error("duplicate-name", f"`{name}` is declared twice", argument.name.span)
        if argument.type.shape:
            scope.error("definition", "functions and reducers take scalars", argument.type.span)
        type = calls.dtype_of(argument.type.dtype, scope)
        local = Local(name, settle(type), span=argument.name.span)
        names[name] = ValueEntity(type, lambda local=local: local)  # type: ignore[misc]
    return scope.with_names(names)


def _agrees(value: Typed, result: object, what: str, span: Span, scope: Scope) -> None:
    from tdl.language.types import AnyType

    type: AnyType = result  # type: ignore[assignment]
    if unify(type, value.type) is None:
        scope.error("dtype", f"{what} is {describe(value.type)}, and {describe(type)} is declared", span)
