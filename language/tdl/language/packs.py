"""How many indices the pack of a comprehension stands for.

    sum(X[..i] * W[..i] for ..i)        as many as X has dimensions

The first tensor of known rank that is read with the pack decides; all others are compared with it when they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from tdl.language import syntax
from tdl.language.scope import IndexPackEntity, Scope, TensorEntity


def pack_rank(name: str, body: object, scope: Scope) -> int | None:
    """The rank of `..name` in a comprehension's body and filter; None where nothing there fixes it."""
    for access in _accesses(body):
        entity = scope.names.get(access.base.text)
        if not isinstance(entity, TensorEntity) or entity.shape is None:
            continue
        others = _others(name, access, scope)
        if others is not None and others <= len(entity.shape):
            return len(entity.shape) - others
    return None


def _others(name: str, access: syntax.Index, scope: Scope) -> int | None:
    """The dimensions that the other subscripts take; None where this access does not fix the pack."""
    count, uses = 0, 0
    for subscript in access.subscripts:
        if not isinstance(subscript, syntax.Pack):
            count += 1
        elif subscript.name.text == name:
            uses += 1
        else:
            entity = scope.names.get(subscript.name.text)
            if not isinstance(entity, IndexPackEntity):
                return None
            count += len(entity.symbols)
    return count if uses == 1 else None


def _accesses(node: object) -> Iterator[syntax.Index]:
    """Every access in an expression, in text order."""
    if isinstance(node, syntax.Index):
        yield node
    if isinstance(node, tuple):
        for each in node:
            yield from _accesses(each)
    elif isinstance(node, syntax.Node):
        for part in fields(node):
            yield from _accesses(getattr(node, part.name))
