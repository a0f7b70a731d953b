"""How definitions are counted and ordered before any schedule: names of stages, the order of indices, sweeps' loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tdl.language import forms
from tdl.language.forms import Symbol
from tdl.language.tree import Binder, Definition, Program, Reduce, Sweep, walk


def stage_names(program: Program) -> dict[int, str]:
    """Definition number -> stage: the tensor's name, with a number where the tensor has several definitions."""
    owners: dict[str, list[int]] = {}
    for definition in program.definitions:
        owners.setdefault(definition.targets[0].tensor, []).append(definition.number)
    return {
        number: tensor if len(numbers) == 1 else f"{tensor}.{position}"
        for tensor, numbers in owners.items()
        for position, number in enumerate(numbers)
    }


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
