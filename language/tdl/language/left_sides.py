"""Left-hand sides of definitions: the tensors they define, and the indices they introduce.

(V[i], I[i]) = ...        V and I at i, which is new
D[0, j] = ...             D at 0 and j
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.language import calls, expressions, forms, syntax
from tdl.language.accesses import wrong_rank
from tdl.language.forms import Form, Symbol
from tdl.language.references import refs
from tdl.language.scope import Entity, IndexEntity, IndexPackEntity, Scope, SizeEntity, TensorEntity
from tdl.language.source import Span
from tdl.language.types import describe, unify


@dataclass
class Target:
    entity: TensorEntity
    coordinates: tuple[Form, ...]
    indices: frozenset[str]
    span: Span


class LeftSide:
    """The targets of a definition and the indices they introduce."""

    def __init__(self, statement: syntax.Definition, scope: Scope) -> None:
        self.scope = scope
        self.names: dict[str, Entity] = {}
        self.symbols: dict[Symbol, Span] = {}
        self.targets: list[Target] = []
        listed = {b.name.text for b in statement.clause.binders} if statement.clause else set()
        self._listed = listed
        for position, target in enumerate(statement.targets):
            made = self._target(target, first=position == 0)
            if made is None:
                self.targets.clear()
                break
            self.targets.append(made)
            if made.indices != self.targets[0].indices:
                scope.error("definition", "all tensors of one definition take the same indices", target.span)
                self.targets.clear()
                break
        self.good = bool(self.targets)

    def _target(self, target: syntax.Target, *, first: bool) -> Target | None:
        entity = self.scope.names.get(target.name.text)
        if not isinstance(entity, TensorEntity):
            if target.name.text in self.scope.context.report.broken:
                self.scope.context.failed = True
                return None
            self.scope.error("not-a-value", f"`{target.name.text}` is not a tensor", target.name.span)
            return None
        if entity.role == "input":
            if entity.name in self.scope.context.report.broken:  # declared twice, perhaps as an output
                self.scope.context.failed = True
                return None
            message = f"`{entity.name}` is an input; inputs are given, not defined"
            self.scope.error("definition", message, target.name.span)
            return None
        if target.dtype is not None:
            self._dtype(target, entity)
        if entity.shape is None:
            self.scope.context.failed = True
            return None
        coordinates: list[Form] = []
        rank, used = len(entity.shape), set[str]()
        for subscript in target.subscripts:
            form = self._coordinate(subscript, rank - len(target.subscripts) + 1, used, first)
            if form is None:
                return None
            coordinates.extend(form)
        if len(coordinates) != rank:
            wrong_rank(entity.name, rank, len(coordinates), "defined", target.span, self.scope)
            return None
        return Target(entity, tuple(coordinates), frozenset(used), target.span)

    def _dtype(self, target: syntax.Target, entity: TensorEntity) -> None:
        assert target.dtype is not None
        type = calls.dtype_of(target.dtype, self.scope)
        if unify(entity.type, type) is None:
            message = f"`{entity.name}` is {describe(entity.type)}, and {describe(type)} here"
            self.scope.error("dtype", message, target.dtype.span)

    def _coordinate(
        self, subscript: syntax.Expr | syntax.Pack, rank: int, used: set[str], first: bool
    ) -> tuple[Form, ...] | None:
        if isinstance(subscript, syntax.Pack):
            return self._pack(subscript, rank, used, first)
        if isinstance(subscript, syntax.Ref) and self._is_fresh(subscript.text):
            symbols = self._introduce(subscript.parts[0], [subscript.text], used, first)
            return None if symbols is None else (forms.symbol(symbols[0]),)
        return self._affine(subscript)

    def _is_fresh(self, name: str) -> bool:
        if name in self._listed:
            return True
        taken = isinstance(self.scope.names.get(name), SizeEntity) or self.scope.environment.find("value", name)
        return not taken and "." not in name

    def _pack(self, pack: syntax.Pack, rank: int, used: set[str], first: bool) -> tuple[Form, ...] | None:
        if rank < 0:
            self.scope.error("rank", "more subscripts than the tensor has dimensions", pack.span)
            return None
        name = pack.name.text
        symbols = self._introduce(pack.name, [f"{name}.{axis}" for axis in range(rank)], used, first)
        if symbols is None:
            return None
        self.names[name] = IndexPackEntity(tuple(symbols))
        return tuple(map(forms.symbol, symbols))

    def _introduce(self, name: syntax.Name, names: list[str], used: set[str], first: bool) -> list[Symbol] | None:
        symbols = [Symbol(each, "index") for each in names]
        if name.text in self.scope.names:
            self.scope.error("duplicate-name", f"`{name.text}` already names something in this op", name.span)
            return None
        if name.text in used:
            message = f"`{name.text}` stands twice on the left-hand side"
            self.scope.error("duplicate-name", message, name.span, "each index is a name of its own; filter with `if`")
            return None
        used.add(name.text)
        if first or name.text not in self.names:
            self.symbols.update(dict.fromkeys(symbols, name.span))
            self.names[name.text] = IndexEntity(symbols[0]) if names == [name.text] else IndexPackEntity(tuple(symbols))
        return symbols

    def _affine(self, subscript: syntax.Expr) -> tuple[Form, ...] | None:
        for ref, is_called in refs(subscript):
            is_size = isinstance(self.scope.names.get(ref.text), SizeEntity)
            if not is_called and not is_size and not self.scope.environment.find("value", ref.text):
                message = f"`{ref.text}` stands in an expression on the left-hand side"
                note = (
                    "a left-hand subscript is an index alone, or arithmetic on sizes; move the arithmetic to the right"
                )
                self.scope.error("definition", message, subscript.span, note)
                return None
        typed, build = expressions.integer_form(subscript, self.scope, "a left-hand subscript")
        if expressions.is_unknown(typed.type) or self.scope.context.failed:
            return None
        form = build()
        if not form.is_affine:
            self.scope.error("definition", "a left-hand subscript is affine in sizes and parameters", subscript.span)
            return None
        return (form,)
