"""Arguments by name, in the brackets of a call: those that are not given yet.

test odd: relu(‸        N=, X=
dense(x, ‸              W=, b=
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from lsprotocol.types import CompletionItemKind as Kind
from tdl.language import syntax
from tdl.language.mentions.data import Kind as Meant
from tdl.language.mentions.heads import names_of
from tdl.language.scope import Declaration
from tdl.lsp.calls.bracket import Bracket, brackets_at
from tdl.lsp.completion.names import imported, types_of
from tdl.lsp.completion.offer import Offer
from tdl.lsp.completion.place import Place

_SIZES: tuple[Meant, ...] = ("dimension", "pack")
_PARAMETERS: tuple[Meant, ...] = ("parameter", "dtype parameter")


def arguments(place: Place) -> Iterator[Offer]:
    """What may be given by name where an argument begins."""
    bracket = next(iter(brackets_at(place.cursor.tokens)), None)
    if bracket is None or place.head or not place.cursor.begins or place.tokens[-1] not in ("(", "[", ","):
        return
    callee = callee_of(place, bracket.callee)
    if callee is None:
        return
    is_case = place.cursor.statement in ("test_body", "bench_body")
    given = {text for text, following in pairwise(bracket.inside) if following == "="}
    given |= set(_by_position(bracket, callee))
    types, wanted = types_of(callee), _wanted(bracket, callee, is_case=is_case)
    for name, meaning in names_of(callee).items():
        if meaning.kind in wanted and name not in given:
            detail = f"{meaning.kind} {types.get(name, '')}".rstrip()
            yield Offer(f"{name}=", Kind.Field, detail, rank=0 if is_case and meaning.kind in _SIZES else 3)


def callee_of(place: Place, name: str) -> Declaration | None:
    """What a name calls, also behind the dot of a module; in a line of a schedule, a tactic."""
    module = place.snapshot.analysis.module
    path, _, last = name.rpartition(".")
    if path:
        other = imported(place, path)
        if other is None:
            return None
        module, name = other, last
    is_line = place.cursor.statement == "schedule_line"
    return module.find("tactic", name) if is_line else module.find("callable", name)


def _wanted(bracket: Bracket, callee: Declaration, *, is_case: bool) -> tuple[Meant, ...]:
    if bracket.opening == "[" or isinstance(callee.item, syntax.Tactic):
        return _PARAMETERS
    if isinstance(callee.item, syntax.Reducer):
        return ()
    return (*(_SIZES if is_case else ()), "input", "argument", *_PARAMETERS)


def _by_position(bracket: Bracket, callee: Declaration) -> list[str]:
    """The parameters that the arguments before are given to."""
    match callee.item:
        case syntax.Op() | syntax.Graph() as item if bracket.opening == "(":
            formals = [each.name.text for each in item.inputs]
        case syntax.Fn() as item if bracket.opening == "(":
            formals = [each.name.text for each in item.args]
        case syntax.Op() | syntax.Graph() | syntax.Fn() | syntax.Tactic() as item:
            formals = [each.name.text for each in item.params]
        case _:
            formals = []
    return formals[: bracket.position - bracket.inside.count("=")]
