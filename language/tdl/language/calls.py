"""Calls: conversions, built-in functions, and functions of the module, which are inlined.

An argument is evaluated once, before the body: what is not trivial is bound by a `Let`.
"""

from __future__ import annotations

from collections.abc import Callable

from tdl.language import expressions, syntax, tree
from tdl.language.construct import TRIVIAL, binary, convert
from tdl.language.dtypes import BOOL, CLASSES, DTYPES, DType, Type
from tdl.language.parameters import bind_parameters, match_arguments, take_defaults
from tdl.language.scope import Declaration, Scope, Typed, TypeEntity, ValueEntity
from tdl.language.source import Span
from tdl.language.types import (
    UNKNOWN,
    AnyType,
    Demand,
    Open,
    describe,
    follow,
    settle,
    unify,
)

REDUCER_NAMES = frozenset(tree.BUILTIN_REDUCERS)
_BITWISE: dict[str, tree.BinaryOperator] = {
    "bit_and": "bit_and", "bit_or": "bit_or", "bit_xor": "bit_xor", "shl": "shl", "shr": "shr",
}  # fmt: skip
BUILTIN_NAMES = frozenset(tree.FUNCTIONS) | REDUCER_NAMES | frozenset(_BITWISE) | {"bit_not", "pow"}


def call(expr: syntax.Call, scope: Scope) -> Typed:
    """`callee[params](args)`."""
    name = expr.callee.text
    type = _type_named(name, scope)
    if type is not None:
        return _conversion(expr, type, scope)
    declaration = scope.environment.find("callable", name)
    if declaration is not None:
        return _declared_call(expr, declaration, scope)
    if name in REDUCER_NAMES and not (name in ("min", "max") and len(expr.args) > 1):
        return _without_for(expr, scope)
    args = [expressions.elaborate(argument.value, scope) for argument in expr.args]
    if name in scope.environment.broken:
        scope.context.failed = True
        return expressions.unknown(expr.span)
    if name not in BUILTIN_NAMES:
        candidates = [*BUILTIN_NAMES, *DTYPES, *scope.environment.names("callable")]
        scope.unknown(syntax.Name(name, span=expr.callee.span), candidates, "function")
        return expressions.unknown(expr.span)
    if expr.params:
        scope.error("arguments", f"`{name}` has no compile-time parameters", expr.params[0].span)
        return expressions.unknown(expr.span)
    if any(argument.name for argument in expr.args):
        scope.error("arguments", f"`{name}` takes its arguments by position", expr.span)
        return expressions.unknown(expr.span)
    return _builtin(name, args, expr, scope)


def dtype_of(ref: syntax.Ref, scope: Scope) -> AnyType:
    """The dtype a name in a type means."""
    found = _type_named(ref.text, scope)
    if found is not None:
        return found
    entity = scope.names.get(ref.text)
    if entity is not None or scope.environment.find("value", ref.text):
        scope.error("not-a-value", f"`{ref.text}` is not a dtype", ref.span)
        return UNKNOWN
    if ref.text in CLASSES:
        note = f"declare a parameter of it, as in `op f[T: {ref.text}]`"
        scope.error("not-a-value", f"`{ref.text}` is a class of dtypes, not a dtype", ref.span, note)
        return UNKNOWN
    names = [name for name, each in scope.names.items() if isinstance(each, TypeEntity)]
    scope.unknown(syntax.Name(ref.text, span=ref.span), [*DTYPES, *names], "dtype")
    return UNKNOWN


def declared(typed: Typed, type: AnyType, scope: Scope) -> Typed:
    """An expression that was declared to be of a dtype."""
    target = Typed(type, typed.span, typed.build)
    expressions.agree(target, typed, typed.span, scope, "the declared dtype and the value")
    return Typed(type, typed.span, typed.build)


def _type_named(name: str, scope: Scope) -> AnyType | None:
    entity = scope.names.get(name)
    if isinstance(entity, TypeEntity):
        return entity.type
    return DTYPES.get(name)


def _conversion(expr: syntax.Call, type: AnyType, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    args = [expressions.elaborate(argument.value, scope) for argument in expr.args]
    if len(args) != 1 or expr.params or expr.args[0].name:
        scope.error("arguments", f"the conversion `{expr.callee.text}` takes one value", expr.span)
        return expressions.unknown(span)
    operand = args[0]
    known = follow(operand.type)
    if isinstance(known, Open) and not known.is_tensor:
        unify(known, type)
    return Typed(type, span, lambda: convert(operand.build(), settle(type), span))


def _without_for(expr: syntax.Call, scope: Scope) -> Typed:
    """A reduction that lacks what it runs over. Its indices are unknown for that reason, so nothing else is said."""
    name = expr.callee.text
    note = f"write what it runs over: `{name}(X[i] for i)`"
    scope.error("reducer", f"`{name}` is a reduction and has no `for`", expr.span, note)
    return expressions.unknown(expr.span)


# ---- built-in functions


def _builtin(name: str, args: list[Typed], expr: syntax.Call, scope: Scope) -> Typed:
    if name in ("min", "max") and len(args) >= 2:
        return _extreme(name, args, expr, scope)
    wanted = 2 if name in _BITWISE or name == "pow" else 1
    if len(args) != wanted:
        scope.error("arguments", f"`{name}` takes {wanted} argument{'s'[: wanted > 1]}, not {len(args)}", expr.span)
        return expressions.unknown(expr.span)
    if name in _BITWISE:
        return _two(_BITWISE[name], args, "integer", expr, scope)
    if name == "pow":
        return _two("pow", args, "float", expr, scope)
    if name == "bit_not":
        return _one(args[0], "integer", expr, scope, lambda x, t, s: tree.Unary("bit_not", x, t, span=s))
    wanted_class: Demand = "number" if name == "abs" else "float"
    make = lambda x, t, s: tree.Call(name, (x,), BOOL if name == "isnan" else t, span=s)  # noqa: E731
    return _one(args[0], wanted_class, expr, scope, make, BOOL if name == "isnan" else None)


def _one(
    arg: Typed,
    wanted: Demand,
    expr: syntax.Call,
    scope: Scope,
    make: Callable[[tree.Expr, Type, Span], tree.Expr],
    result: DType | None = None,
) -> Typed:
    span = scope.at(expr.span)
    if not expressions.require_class(arg, wanted, f"`{expr.callee.text}`", scope):
        return expressions.unknown(span)
    return Typed(result or arg.type, span, lambda: make(arg.build(), arg.settled, span))


def _two(operator: tree.BinaryOperator, args: list[Typed], wanted: Demand, expr: syntax.Call, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    left, right = args
    what = f"`{expr.callee.text}`"
    type = expressions.agree(left, right, expr.span, scope, f"the arguments of {what}")
    if expressions.is_unknown(type) or any(not expressions.require_class(arg, wanted, what, scope) for arg in args):
        return expressions.unknown(span)
    return Typed(type, span, lambda: binary(operator, left.build(), right.build(), settle(type), span))


def _extreme(name: str, args: list[Typed], expr: syntax.Call, scope: Scope) -> Typed:
    span = scope.at(expr.span)
    operator: tree.BinaryOperator = "min" if name == "min" else "max"
    if any(not expressions.require_class(arg, "number", f"`{name}`", scope) for arg in args):
        return expressions.unknown(span)
    type = args[0].type
    for arg in args[1:]:
        type = expressions.agree(args[0], arg, expr.span, scope, f"the arguments of `{name}`")

    def build() -> tree.Expr:
        result = args[0].build()
        for arg in args[1:]:
            result = binary(operator, result, arg.build(), settle(type), span)
        return result

    return Typed(type, span, build)


# ---- functions of the module


def _declared_call(expr: syntax.Call, declaration: Declaration, scope: Scope) -> Typed:
    item, name = declaration.item, expr.callee.text
    if isinstance(item, syntax.Reducer):
        return _without_for(expr, scope)
    args = [expressions.elaborate(argument.value, scope) for argument in expr.args]
    if isinstance(item, syntax.Fn):
        return _inline(expr, item, declaration, args, scope)
    what = "an op" if isinstance(item, syntax.Op) else "a graph"
    scope.error("not-a-value", f"`{name}` is {what}: it is called in graphs, tests and benches", expr.span)
    return expressions.unknown(expr.span)


def _inline(expr: syntax.Call, item: syntax.Fn, declaration: Declaration, args: list[Typed], scope: Scope) -> Typed:
    from tdl.language.functions import check_function

    span, name, context = scope.at(expr.span), expr.callee.text, scope.context
    if not check_function(declaration).is_usable or item.body is None:
        context.failed = True
        return expressions.unknown(span)
    ordered = match_arguments(name, [arg.name.text for arg in item.args], expr.args, args, expr.span, scope)
    names = bind_parameters(name, item.params, expr.params, expr.span, declaration.environment, scope)
    if ordered is None or names is None:
        return expressions.unknown(span)
    locals_ = [_LocalArgument(arg, context.fresh(formal.name.text)) for formal, arg in zip(item.args, ordered)]
    inside = Scope(context, declaration.environment, names, span)
    for formal, local in zip(item.args, locals_):
        type = dtype_of(formal.type.dtype, inside)
        if unify(type, local.typed.type) is None:
            message = f"`{formal.name.text}` of `{name}` is {describe(type)}, and is given {describe(local.typed.type)}"
            scope.error("dtype", message, local.typed.span)
            return expressions.unknown(span)
        names[formal.name.text] = ValueEntity(type, local.use)
    take_defaults(item.params, names, inside)
    body = expressions.elaborate(item.body, Scope(context, declaration.environment, names, span))
    result = dtype_of(item.result.dtype, inside)
    if unify(result, body.type) is None:
        scope.error("dtype", f"`{name}` gives {describe(result)} and its body is {describe(body.type)}", expr.span)
        return expressions.unknown(span)
    return Typed(result, span, lambda: _bind(locals_, body, span))


class _LocalArgument:
    """An argument: repeated where it is trivial, else bound to a name for as long as the body is built."""

    def __init__(self, typed: Typed, name: str) -> None:
        self.typed = typed
        self.name = name
        self.value: tree.Expr | None = None

    def use(self) -> tree.Expr:
        if self.value is None:
            self.value = self.typed.build()
        if isinstance(self.value, TRIVIAL):
            return self.value
        return tree.Local(self.name, self.value.dtype, span=self.value.span)


def _bind(locals_: list[_LocalArgument], body: Typed, span: Span) -> tree.Expr:
    result = body.build()
    for local in reversed(locals_):
        local.use()
        if local.value is not None and not isinstance(local.value, TRIVIAL):
            result = tree.Let(local.name, local.value, result, span=span)
    return result
