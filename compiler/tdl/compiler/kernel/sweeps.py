"""What a recurrence's sweeps do to a definition: its indices on the swept axes become the sweeps' loops.

S[0, j] = X[0, j]                               for t in 0..T
S[t, j] = S[t-1, j] + X[t, j]  for t in 1..T        if t == 0: ...S[t, j] = X[0, j]
                                                    if 1 <= t: ...S[t, j] = S[t-1, j] + X[t, j]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from tdl.compiler.kernel.tree import Guard, Node, Origin
from tdl.language import forms
from tdl.language.dtypes import BOOL
from tdl.language.forms import Form, Symbol
from tdl.language.tree import (
    Binary,
    Binder,
    Compare,
    CompareOperator,
    Definition,
    Expr,
    Integer,
    Reduce,
    Sweep,
    map_children,
    walk,
)


@dataclass(frozen=True, slots=True)
class Fixed:
    """An axis of a definition's first target that a sweep over `lo..hi` holds at `value`."""

    axis: int
    value: Symbol
    lo: Form
    hi: Form


def sweep_index(sweep: Sweep, definitions: Mapping[int, Definition], taken: Iterable[Symbol]) -> tuple[Symbol, int]:
    """The loop index of a sweep, and the definition that it is named after: the one that runs over all of it.

    `taken` are the indices of enclosing sweeps. The name is changed where a definition uses it for something else.
    """
    choices = [(number, _binder_on(definitions[number], axis)) for number, axis in sweep.axes.items()]
    named = [(number, binder) for number, binder in choices if binder is not None]
    whole = [choice for choice in named if (choice[1].lo, choice[1].hi) == (sweep.lo, sweep.hi)]
    owner, binder = [*whole, *reversed(named), *choices][0]
    used = {symbol.name for symbol in taken}
    for number, own in choices:
        used |= {symbol.name for symbol in _indices(definitions[number]) if own is None or symbol != own.index}
    first = f"{definitions[owner].targets[0].tensor}_axis" if binder is None else binder.index.name
    name, count = first, 0
    while name in used:
        count += 1
        name = f"{first}_{count}"
    return Symbol(name, "index"), owner


def at_values(definition: Definition, fixed: tuple[Fixed, ...]) -> tuple[Definition, tuple[Expr, ...]]:
    """The definition with its swept indices replaced by the sweeps', and where in the sweeps it runs."""
    values: dict[Symbol, Form] = {}
    conditions: list[Expr] = []
    for each in fixed:
        here = forms.symbol(each.value)
        binder = _binder_on(definition, each.axis)
        if binder is None:
            at = definition.targets[0].coordinates[each.axis]
            if (at, at + 1) != (each.lo, each.hi):
                conditions.append(_compare("eq", here, at))
            continue
        values[binder.index] = here
        if binder.lo != each.lo:
            conditions.append(_compare("ge", here, binder.lo))
        if binder.hi != each.hi:
            conditions.append(_compare("lt", here, binder.hi))
    return _renamed(definition, values), tuple(_substitute(condition, values) for condition in conditions)


def loop_order(definition: Definition) -> tuple[Binder, ...]:
    """The definition's indices in the order of its left-hand side, each after those that its range mentions."""
    coordinates = definition.targets[0].coordinates
    waiting = sorted(definition.indices, key=lambda binder: coordinates.index(forms.symbol(binder.index)))
    ordered: list[Binder] = []
    while waiting:
        later = {binder.index for binder in waiting}
        ready = next(each for each in waiting if not later & {*each.lo.symbols(), *each.hi.symbols()})
        ordered.append(ready)
        waiting.remove(ready)
    return tuple(ordered)


def guarded(conditions: Iterable[Expr], body: tuple[Node, ...], origin: Origin) -> tuple[Node, ...]:
    """The body where all conditions hold."""
    every = list(conditions)
    if not every:
        return body
    return (Guard(reduce(lambda left, right: Binary("and", left, right, BOOL), every), body, origin),)


def _binder_on(definition: Definition, axis: int) -> Binder | None:
    """The index that a definition has on an axis of its first target; None where the coordinate is free of indices."""
    symbol = definition.targets[0].coordinates[axis].symbol
    return next((binder for binder in definition.indices if binder.index == symbol), None)


def _indices(definition: Definition) -> Iterable[Symbol]:
    """Every index of a definition and of the reductions in it."""
    for binder in definition.indices:
        yield binder.index
    exprs = (definition.value,) if definition.filter is None else (definition.value, definition.filter)
    for expr in exprs:
        for node in walk(expr):
            if isinstance(node, Reduce):
                yield from (binder.index for binder in node.binders)


def _compare(operator: CompareOperator, left: Form, right: Form) -> Expr:
    return Compare(operator, Integer(left), Integer(right))


def _renamed(definition: Definition, values: Mapping[Symbol, Form]) -> Definition:
    if not values:
        return definition
    return replace(
        definition,
        targets=tuple(
            replace(target, coordinates=tuple(forms.substitute(form, values) for form in target.coordinates))
            for target in definition.targets
        ),
        indices=tuple(
            replace(each, lo=_substitute_form(each.lo, values), hi=_substitute_form(each.hi, values))
            for each in definition.indices
            if each.index not in values
        ),
        filter=None if definition.filter is None else _substitute(definition.filter, values),
        value=_substitute(definition.value, values),
    )


def _substitute(expr: Expr, values: Mapping[Symbol, Form]) -> Expr:
    return map_children(expr, lambda child: _substitute(child, values), lambda form: _substitute_form(form, values))


def _substitute_form(form: Form, values: Mapping[Symbol, Form]) -> Form:
    return forms.substitute(form, values, lambda expr: _substitute(expr, values))
