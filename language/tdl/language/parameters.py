"""Compile-time parameters: their kinds, the values given for them, and the arguments of calls.

[stride: int = 1, eps: f32 = 1e-5, T: float]       two values and a dtype
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from tdl.language import forms, syntax, tree
from tdl.language.construct import is_compile_time
from tdl.language.dtypes import BOOL, CLASSES, DTYPES, I64, Class, DType, TypeVariable, belongs
from tdl.language.folding import value_of
from tdl.language.forms import Symbol
from tdl.language.literals import holds
from tdl.language.scope import Entity, Environment, Scope, SizeEntity, TypeEntity, ValueEntity
from tdl.language.source import Span
from tdl.language.types import AnyType, Demand, Open, Unknown, demand, describe, follow, unify

Value = int | float | bool | DType
Kind = DType | Class
"""A value parameter's dtype (`int` is i64), or the class of a dtype parameter."""

ArgumentT = TypeVar("ArgumentT")


def kind_of(parameter: syntax.Parameter, scope: Scope) -> Kind | None:
    """The kind a parameter declares, or None after an error."""
    if parameter.kind is None:
        scope.error("parameter", f"`{parameter.name.text}` needs a kind", parameter.name.span, "for example `: int`")
        return None
    text = parameter.kind.text
    if text == "int":
        return I64
    if text in DTYPES:
        return DTYPES[text]
    for each in CLASSES:
        if text == each:
            return each
    scope.unknown(syntax.Name(text, span=parameter.kind.span), ["int", *DTYPES, *CLASSES], "kind of parameter")
    return None


def symbolic(name: str, kind: Kind) -> Entity:
    """What a parameter without a value is while its declaration is checked."""
    if not isinstance(kind, DType):
        return TypeEntity(TypeVariable(name, kind))
    if kind == I64:
        return SizeEntity(forms.symbol(Symbol(name, "param")))
    parameter = tree.Parameter(name, kind)
    return ValueEntity(kind, lambda: parameter)


def bound(value: Value, kind: Kind) -> Entity:
    """What a parameter with a value is."""
    if isinstance(value, DType):
        return TypeEntity(value)
    if kind == I64:
        return SizeEntity(forms.constant(int(value)))
    assert isinstance(kind, DType)
    number = tree.Number(value, kind)
    return ValueEntity(kind, lambda: number)


def compile_time(expr: syntax.Expr, name: str, kind: Kind, scope: Scope) -> Entity | None:
    """What an expression makes of a parameter, or None after an error. It may mention parameters that have no value."""
    from tdl.language import calls, expressions

    if not isinstance(kind, DType):
        if not isinstance(expr, syntax.Ref):
            scope.error("parameter", f"`{name}` takes a dtype", expr.span)
            return None
        return _dtype(calls.dtype_of(expr, scope), name, kind, expr.span, scope)
    with scope.context.attempt():
        typed = expressions.elaborate(expr, scope)
        if unify(typed.type, kind) is None:
            scope.error("parameter", f"`{name}` takes {_described(kind)}, not {describe(typed.type)}", expr.span)
        built = None if scope.context.failed else typed.build()
        if built is None or scope.context.failed:
            return None
    if not is_compile_time(built):
        scope.error("parameter", f"`{name}` takes a constant", expr.span)
        return None
    if kind == I64:
        return SizeEntity(tree.form_of(built))
    value = value_of(built)
    return bound(value, kind) if value is not None else ValueEntity(kind, lambda: built)


def evaluate(expr: syntax.Expr, name: str, kind: Kind, scope: Scope) -> Value | None:
    """The value an expression gives a parameter; None after an error, and where it mentions what has no value."""
    entity = compile_time(expr, name, kind, scope)
    match entity:
        case SizeEntity(form):
            return form.constant if form.is_constant else None
        case TypeEntity(type):
            return type if isinstance(type, DType) else None
        case ValueEntity(_, build):
            return value_of(build())
    return None


def check_value(value: object, name: str, kind: Kind) -> Value | str:
    """A value from outside the language for a parameter, or what is wrong with it."""
    if not isinstance(kind, DType):
        dtype = DTYPES.get(str(value)) if isinstance(value, str) else value
        if isinstance(dtype, DType) and belongs(dtype, kind):
            return dtype
        return f"`{name}` takes a dtype of class {kind}, not {value!r}"
    if kind == BOOL:
        return value if isinstance(value, bool) else f"`{name}` takes True or False, not {value!r}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"`{name}` takes {_described(kind)}, not {value!r}"
    if kind.is_integer and not (isinstance(value, int) and holds(kind, value)):
        return f"`{name}` takes {_described(kind)}, not {value!r}"
    return float(value) if kind.is_float else value


def _dtype(type: AnyType, name: str, kind: Class, span: Span, scope: Scope) -> TypeEntity | None:
    if isinstance(type, Unknown):
        return None
    if not demand(type, demand_of(kind)):
        scope.error("parameter", f"`{name}` takes a dtype of class {kind}, and {describe(type)} is not", span)
        return None
    return TypeEntity(follow(type))


def _described(kind: DType) -> str:
    return "true or false" if kind == BOOL else "an integer" if kind == I64 else f"a value of {kind}"


# ---- calls of functions and reducers


def match_arguments(
    name: str,
    formals: Sequence[str],
    given: Sequence[syntax.Argument],
    values: Sequence[ArgumentT],
    span: Span,
    scope: Scope,
) -> list[ArgumentT] | None:
    """Arguments in the order of the formals, or None after an error."""
    slots: dict[str, ArgumentT] = {}
    positional = 0
    for argument, value in zip(given, values):
        if argument.name is not None and argument.name.text not in formals:
            scope.unknown(argument.name, formals, f"argument of `{name}`:")
            return None
        if argument.name is None and positional >= len(formals):
            scope.error("arguments", f"`{name}` takes {_count(len(formals))}, not {len(given)}", span)
            return None
        key = argument.name.text if argument.name is not None else formals[positional]
        positional += argument.name is None
        if key in slots:
            scope.error("arguments", f"`{key}` of `{name}` is given twice", argument.span)
            return None
        slots[key] = value
    missing = [formal for formal in formals if formal not in slots]
    if missing:
        scope.error("arguments", f"`{name}` takes {_count(len(formals))}; `{missing[0]}` is missing", span)
        return None
    return [slots[formal] for formal in formals]


def _count(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def explicit(
    name: str, parameters: Sequence[syntax.Parameter], given: Sequence[syntax.Argument], scope: Scope
) -> dict[str, syntax.Expr] | None:
    """The expression given for each parameter in `name[...]`, or None after an error."""
    formals = [parameter.name.text for parameter in parameters]
    result: dict[str, syntax.Expr] = {}
    for position, argument in enumerate(given):
        if argument.name is None and position >= len(formals):
            scope.error("parameter", f"`{name}` has {len(formals)} compile-time parameters", argument.span)
            return None
        key = formals[position] if argument.name is None else argument.name.text
        if key not in formals:
            assert argument.name is not None
            scope.unknown(argument.name, formals, f"compile-time parameter of `{name}`:")
            return None
        if key in result:
            scope.error("parameter", f"`{key}` is given twice", argument.span)
            return None
        result[key] = argument.value
    return result


def bind_parameters(
    name: str,
    parameters: Sequence[syntax.Parameter],
    given: Sequence[syntax.Argument],
    span: Span,
    environment: Environment,
    scope: Scope,
) -> dict[str, Entity] | None:
    """The names a called function's parameters have in its body; dtypes that arguments must fix are open."""
    chosen = explicit(name, parameters, given, scope)
    if chosen is None:
        return None
    names: dict[str, Entity] = {}
    for parameter in parameters:
        inside = Scope(scope.context, environment, names, scope.at(span))
        kind = kind_of(parameter, inside)
        if kind is None:
            return None
        key = parameter.name.text
        expr = chosen.get(key, parameter.default if isinstance(kind, DType) else None)
        if expr is not None:
            entity = compile_time(expr, key, kind, scope if key in chosen else inside)
            if entity is None:
                return None
            names[key] = entity
        elif isinstance(kind, DType):
            scope.error(
                "parameter", f"`{name}` needs its compile-time parameter `{key}`", span, f"write `{name}[{key}=...]`"
            )
            return None
        else:
            names[key] = TypeEntity(Open(demand_of(kind)))
    return names


def take_defaults(parameters: Sequence[syntax.Parameter], names: Mapping[str, Entity], scope: Scope) -> None:
    """Give dtype parameters that no argument fixed their defaults."""
    from tdl.language import calls

    for parameter in parameters:
        entity = names.get(parameter.name.text)
        default = parameter.default
        is_open = isinstance(entity, TypeEntity) and isinstance(follow(entity.type), Open)
        if isinstance(entity, TypeEntity) and is_open and isinstance(default, syntax.Ref):
            unify(entity.type, calls.dtype_of(default, scope))


def demand_of(kind: Class) -> Demand:
    """What an open type of a class may become."""
    return "any" if kind == "dtype" else kind
