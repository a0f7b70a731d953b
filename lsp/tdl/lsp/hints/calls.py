"""The names of arguments that are given by position.

    dense(h, w2, b2)        reads as        dense(X=h, W=w2, b=b2)

Nothing is shown where the argument is called as the parameter is, and of functions that take one argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import lru_cache

from tdl.language import syntax
from tdl.language.scope import Declaration, Namespace
from tdl.lsp.hints.hint import Hint


@lru_cache(maxsize=256)
def hints_of_calls(declaration: Declaration) -> tuple[Hint, ...]:
    """Those of every call in an item."""
    return tuple(_in(declaration.item, declaration, "callable"))


def _in(node: object, declaration: Declaration, space: Namespace) -> Iterator[Hint]:
    if isinstance(node, tuple):
        for each in node:
            yield from _in(each, declaration, space)
        return
    if not isinstance(node, syntax.Node):
        return
    if isinstance(node, syntax.Call):
        yield from _call(node, declaration, space)
    if isinstance(node, syntax.Line):
        space = "tactic"
    for part in fields(node):
        if part.name != "span":
            yield from _in(getattr(node, part.name), declaration, space)


def _call(call: syntax.Call, declaration: Declaration, space: Namespace) -> Iterator[Hint]:
    callee = declaration.environment.find(space, call.callee.text)
    match None if callee is None else callee.item:
        case syntax.Op() | syntax.Graph() as item:
            yield from _names(call.params, [each.name.text for each in item.params])
            yield from _names(call.args, [each.name.text for each in item.inputs])
        case syntax.Fn() as item:
            yield from _names(call.params, [each.name.text for each in item.params])
            if len(item.args) > 1:
                yield from _names(call.args, [each.name.text for each in item.args])
        case syntax.Tactic() as item:
            yield from _names(call.args, [each.name.text for each in item.params])


def _names(arguments: Sequence[syntax.Argument], formals: Sequence[str]) -> Iterator[Hint]:
    given = [each for each in arguments if each.name is None]
    for argument, name in zip(given, formals):
        if not _says(argument.value, name):
            yield Hint(argument.span.start, f"{name}=", "parameters")


def _says(value: syntax.Expr, name: str) -> bool:
    """Whether an argument is called as its parameter is."""
    return isinstance(value, syntax.Ref) and value.parts[-1].text.casefold() == name.casefold()
