"""An op's body: its tensors declared, its definitions typed and built.

Tensors are declared before any right-hand side is looked at, so definitions may refer to each other in any order. The
dtype of an undeclared tensor is an open type that all its definitions share.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tdl.language import expressions, forms, reductions, syntax, tree
from tdl.language.diagnostic import Fix
from tdl.language.dtypes import DType, TypeVariable
from tdl.language.forms import Form, Symbol
from tdl.language.left_sides import LeftSide, Target
from tdl.language.scope import (
    Context,
    IndexEntity,
    IndexPackEntity,
    Scope,
    SizePackEntity,
    TensorEntity,
    Typed,
)
from tdl.language.signature import Signature, declare_tensor, free_names
from tdl.language.source import Span
from tdl.language.types import UNKNOWN, Open, describe, follow, unify


@dataclass
class Drafted:
    """Tensors in order of declaration, and the definitions that could be built."""

    tensors: list[TensorEntity] = field(default_factory=list)
    definitions: tuple[tree.Definition, ...] = ()


BuildDefinition = Callable[[], tree.Definition]


def elaborate_body(item: syntax.Op | syntax.Intrinsic, signature: Signature, context: Context) -> Drafted:
    """Elaborate every statement; tensors of wrong definitions go to `report.broken`."""
    drafted = Drafted([*signature.inputs, *signature.outputs])
    outer_failed = context.failed
    scope = _declare(item.body, signature.scope, drafted)
    if outer_failed:
        context.report.broken.update(tensor.name for tensor in drafted.tensors)
    builders: list[tuple[syntax.Definition, BuildDefinition]] = []
    number = 0
    for statement in item.body:
        if isinstance(statement, syntax.Broken):
            context.report.broken.update(_excused(statement, signature, context.text))
        if not isinstance(statement, syntax.Definition):
            continue
        context.failed, context.expanded = False, 0
        for build in _definition(statement, number, scope):
            builders.append((statement, build))
            number += 1
        if context.failed:
            _break(statement, context)
    built: list[tree.Definition] = []
    for statement, build in builders:
        if any(target.name.text in context.report.broken for target in statement.targets):
            continue
        context.failed = False
        definition = build()
        if context.failed:
            _break(statement, context)
        else:
            built.append(definition)
    drafted.definitions = tuple(built)
    context.failed = outer_failed or context.report.has_errors
    return drafted


def _excused(statement: syntax.Broken, signature: Signature, text: str) -> set[str]:
    """What a broken statement may have been meant to define: of one that is no assignment, any output."""
    found = {name.text for name in statement.defines}
    broken = text[statement.span.start : statement.span.end]
    is_assignment = re.search(r"(?<![=<>!])=(?!=)", broken) is not None
    words = set(re.findall(r"\w+", broken))
    return found | {tensor.name for tensor in signature.outputs if not is_assignment or tensor.name in words}


def _break(statement: syntax.Definition, context: Context) -> None:
    context.report.broken.update(target.name.text for target in statement.targets)


# ---- declaring tensors


def _declare(body: tuple[syntax.Statement, ...], scope: Scope, drafted: Drafted) -> Scope:
    for statement in body:
        if isinstance(statement, syntax.Let):
            scope = _declare_let(statement, scope, drafted)
    for statement in body:
        match statement:
            case syntax.Definition(targets):
                for target in targets:
                    scope = _declare_target(target, statement.doc, scope, drafted)
            case syntax.Broken(defines):
                for name in defines:
                    if name.text not in scope.names:
                        broken = TensorEntity(name.text, "intermediate", UNKNOWN, None, name.span)
                        scope = scope.with_names({name.text: broken})
    return scope


def _declare_let(statement: syntax.Let, scope: Scope, drafted: Drafted) -> Scope:
    with scope.context.attempt():
        entity = declare_tensor(statement, "intermediate", scope)
        if entity.name in scope.names:
            scope.error("duplicate-name", f"`{entity.name}` is declared twice in this op", statement.name.span)
        if scope.context.failed:
            scope.context.report.broken.add(entity.name)
    if entity.name in scope.names:
        return scope
    drafted.tensors.append(entity)
    return scope.with_names({entity.name: entity})


def _declare_target(target: syntax.Target, doc: str | None, scope: Scope, drafted: Drafted) -> Scope:
    name = target.name.text
    entity = scope.names.get(name)
    if isinstance(entity, TensorEntity):
        if entity.role != "input":
            entity.doc = entity.doc or doc
        return scope
    if entity is not None:
        return scope
    rank = _rank(target, scope)
    shape = None
    if rank is not None:
        shape = tuple(forms.symbol(Symbol(f"?{name}.{axis}", "unknown")) for axis in range(rank))
    made = TensorEntity(name, "intermediate", Open("any", is_tensor=True), shape, target.name.span, doc)
    drafted.tensors.append(made)
    return scope.with_names({name: made})


def _rank(target: syntax.Target, scope: Scope) -> int | None:
    """How many dimensions an undeclared tensor has. A pack of indices has the rank of the op's pack of dimensions."""
    rank = 0
    for subscript in target.subscripts:
        if isinstance(subscript, syntax.Pack):
            packs = [each for each in scope.names.values() if isinstance(each, SizePackEntity)]
            if not packs:
                scope.error("definition", "this op has no pack of dimensions", subscript.span)
                return None
            rank += len(packs[0].forms)
        else:
            rank += 1
    return rank


# ---- one definition


def _definition(statement: syntax.Definition, number: int, scope: Scope) -> Iterator[BuildDefinition]:
    left = LeftSide(statement, scope)
    if not left.good:
        return
    inside = scope.with_names(left.names)
    inside, condition, ends = _clause(statement, left, inside)
    values = statement.value.items if isinstance(statement.value, syntax.Tuple) else (statement.value,)
    if len(statement.targets) > 1 and len(values) == len(statement.targets):
        for offset, (target, value) in enumerate(zip(left.targets, values)):
            typed = expressions.elaborate(value, inside)
            _agree(target.entity, typed, value, inside)
            yield _builder(statement, number + offset, [target], left, ends, condition, typed.build)
        return
    if len(statement.targets) > 1:
        build = _several(statement, left, inside)
        if build is not None:
            yield _builder(statement, number, left.targets, left, ends, condition, build)
        return
    typed = expressions.elaborate(statement.value, inside)
    _agree(left.targets[0].entity, typed, statement.value, inside)
    yield _builder(statement, number, left.targets, left, ends, condition, typed.build)


def _several(statement: syntax.Definition, left: LeftSide, scope: Scope) -> Callable[[], tree.Expr] | None:
    if not isinstance(statement.value, syntax.Reduction):
        values = statement.value.items if isinstance(statement.value, syntax.Tuple) else (statement.value,)
        message = f"{len(left.targets)} tensors are defined by {_count(len(values))}"
        note = "give a reduction of several values, or a tuple of as many values"
        scope.error("definition", message, statement.value.span, note)
        return None
    results = reductions.several(statement.value, scope)
    if results is None:
        return None
    if len(results.types) != len(left.targets):
        given = _count(len(results.types))
        message = f"`{statement.value.callee.text}` gives {given} for {len(left.targets)} tensors"
        scope.error("definition", message, statement.span)
        return None
    for target, type in zip(left.targets, results.types):
        _agree(target.entity, Typed(type, statement.value.span, results.build), None, scope)
    return results.build


def _count(values: int) -> str:
    return "1 value" if values == 1 else f"{values} values"


def _agree(entity: TensorEntity, typed: Typed, value: syntax.Expr | None, scope: Scope) -> None:
    if unify(entity.type, typed.type) is not None:
        return
    given, wanted = describe(typed.type), describe(entity.type)
    is_type = isinstance(follow(entity.type), DType | TypeVariable)
    notes = (f"convert it: `{wanted}(...)`",) if is_type else ()
    fixes: tuple[Fix, ...] = ()
    if is_type and value is not None:  # of several results of one reduction, none can be converted
        fixes = expressions.fixes_of(f"convert to {wanted}", value, f"{wanted}({{}})", scope)
    message = f"`{entity.name}` is {wanted} and its definition gives {given}"
    scope.error("dtype", message, typed.span, *notes, fixes=fixes)


def _builder(
    statement: syntax.Definition,
    number: int,
    targets: list[Target],
    left: LeftSide,
    ends: dict[Symbol, list[Callable[[], Form]]],
    condition: Typed | None,
    value: Callable[[], tree.Expr],
) -> BuildDefinition:
    def build() -> tree.Definition:
        return tree.Definition(
            number,
            tuple(tree.Target(target.entity.name, target.coordinates, span=target.span) for target in targets),
            tuple(
                tree.Binder(symbol, *(end() for end in ends[symbol]), span=span)
                for symbol, span in left.symbols.items()
            ),
            None if condition is None else condition.build(),
            value(),
            statement.doc,
            span=statement.span,
        )

    return build


# ---- for and if


def _clause(
    statement: syntax.Definition, left: LeftSide, scope: Scope
) -> tuple[Scope, Typed | None, dict[Symbol, list[Callable[[], Form]]]]:
    """The range ends of every index (unknown where not given), and the filter."""
    ends: dict[Symbol, list[Callable[[], Form]]] = {}
    clause = statement.clause
    condition = None
    for binder in clause.binders if clause else ():
        entity = left.names.get(binder.name.text)
        if isinstance(entity, IndexPackEntity) and binder.range is None:
            continue
        if not isinstance(entity, IndexEntity):
            message = f"`{binder.name.text}` is not an index of the left-hand side"
            note = "`for` after a definition gives ranges of its own indices; a reduction has its `for` inside `(...)`"
            scope.error("definition", message, binder.name.span, note)
            continue
        if entity.symbol in ends:
            scope.error("duplicate-name", f"`{binder.name.text}` is listed twice", binder.name.span)
        if binder.range is not None:
            ends[entity.symbol] = _checked_ends(binder, entity.symbol, left)
    for symbol in left.symbols:
        if symbol not in ends:
            lo, hi = reductions.unknown_ends(symbol, scope)
            ends[symbol] = [lambda lo=lo: lo, lambda hi=hi: hi]  # type: ignore[misc]
    if clause and clause.filter is not None:
        condition = expressions.condition(clause.filter, scope, "the filter")
    return scope, condition, ends


def _checked_ends(binder: syntax.Binder, symbol: Symbol, left: LeftSide) -> list[Callable[[], Form]]:
    """Ends of a definition's range: affine in sizes and parameters, so indices are not in scope."""
    assert binder.range is not None
    scope = left.scope
    for name in (*free_names(binder.range.lo), *free_names(binder.range.hi)):
        if name.text in left.names and name.text not in scope.names:
            message = f"the range of `{binder.name.text}` depends on the index `{name.text}`"
            note = f"give `{binder.name.text}` its whole range, and filter: `for ... if ...`"
            scope.error("definition", message, name.span, note)
            return [lambda: forms.ZERO] * 2
    builders = reductions.range_ends(binder, symbol, scope)
    spans = (binder.range.lo.span, binder.range.hi.span)
    return [_arithmetic(build, span, scope) for build, span in zip(builders, spans)]


def _arithmetic(build: Callable[[], Form], span: Span, scope: Scope) -> Callable[[], Form]:
    def checked() -> Form:
        form = build()
        if any(isinstance(atom, forms.Opaque) for atom, _ in form.terms):
            note = "data can decide in a filter: `for i in 0..N if ...`"
            scope.error("definition", "the range of a definition is arithmetic on sizes", span, note)
        return form

    return checked
