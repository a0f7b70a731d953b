"""The names that an item declares for all of its text: parameters, sizes, tensors, arguments.

    op f[n: int](X: f32[M, K]) -> Y: f32[M] where ... { T[i] = ... }        n, M, K, X, Y, T

The first declaration of a name is the one that counts, as where names are checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from tdl.language import syntax
from tdl.language.dtypes import CLASSES, DTYPES
from tdl.language.mentions.data import Kind, Meaning, Names
from tdl.language.scope import Declaration
from tdl.language.signature import free_names

TENSORS: frozenset[Kind] = frozenset({"input", "output", "intermediate"})


@lru_cache(maxsize=2048)
def names_of(declaration: Declaration) -> Names:
    """What an item declares, by name; spans in its own text."""
    found: dict[str, Meaning] = {}
    for kind, name in _declared(declaration, found):
        found.setdefault(name.text, Meaning(kind, name.text, name.span))
    return found


def _declared(declaration: Declaration, found: Names) -> Iterator[tuple[Kind, syntax.Name]]:
    """Declarations in the order in which they count; `found` holds those before."""
    item = declaration.item
    match item:
        case syntax.Op() | syntax.Graph() | syntax.Intrinsic():
            yield from _parameters(item.params)
            yield from _sizes(item.inputs, declaration, found)
            yield from (("input", each.name) for each in item.inputs)
            yield from (("output", each.name) for each in item.outputs)
            yield from (("intermediate", name) for name in _made(item.body))
        case syntax.Fn():
            yield from _parameters(item.params)
            yield from (("argument", each.name) for each in item.args)
        case syntax.Reducer():
            yield from _parameters(item.params)
            yield from (("argument", each.name) for each in (*item.left, *item.right))
        case syntax.Tactic():
            yield from _parameters(item.params)


def _parameters(params: Iterable[syntax.Parameter]) -> Iterator[tuple[Kind, syntax.Name]]:
    for each in params:
        yield ("dtype parameter" if each.kind is not None and each.kind.text in CLASSES else "parameter"), each.name


def _sizes(
    inputs: Iterable[syntax.Declaration], declaration: Declaration, found: Names
) -> Iterator[tuple[Kind, syntax.Name]]:
    environment = declaration.environment
    for part in (part for each in inputs for part in each.type.shape):
        if isinstance(part, syntax.Pack):
            yield "pack", part.name
            continue
        for name in free_names(part):
            is_known = environment.find("value", name.text) or name.text in environment.broken or name.text in DTYPES
            if not is_known:
                yield "dimension", name


def _made(body: Iterable[syntax.Statement | syntax.Assign]) -> Iterator[syntax.Name]:
    """What `let` declares first, then what definitions and assignments make."""
    yield from (each.name for each in body if isinstance(each, syntax.Let))
    for each in body:
        match each:
            case syntax.Definition(targets):
                yield from (target.name for target in targets)
            case syntax.Assign(names) | syntax.Broken(names):
                yield from names
