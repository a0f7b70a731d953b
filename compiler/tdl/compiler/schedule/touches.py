"""What a leaf reads and writes, in the symbols of the loops around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tdl.compiler.schedule.tree import Copy, Leaf, Nest, Stage, Store, Update
from tdl.language import forms
from tdl.language.conditions import AtLeast, Formula, at_least, formula_of, less, nature, within
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Binder, Expr, Reduce, children, map_children


@dataclass(frozen=True, slots=True)
class Touch:
    """An access of one element. `where` holds for the instances that make it; `inner` are indices it brings along."""

    tensor: str
    element: tuple[Form, ...]
    is_write: bool
    where: tuple[Formula, ...]
    inner: tuple[Symbol, ...] = ()


def touches(nest: Nest, leaf: Leaf) -> list[Touch]:
    """Everything the leaf reads and writes; an update reads what it writes."""
    stage = nest.stages[leaf.stage]
    values = dict(leaf.at)
    through = dict(leaf.through)
    where: tuple[Formula, ...] = tuple(AtLeast(guard) for guard in leaf.guards)
    for condition in (stage.domain, stage.filter):
        if condition is not None:
            where = (*where, formula_of(rewritten(condition, values)))
    found = [
        Touch(through.get(target.tensor, target.tensor), _at(target.coordinates, values), True, where)
        for target in stage.writes
    ]
    if isinstance(stage.work, Copy):
        source = stage.work.source
        found.append(Touch(through.get(source.tensor, source.tensor), _at(source.coordinates, values), False, where))
    for expr in _exprs(stage):
        for access, inner in _accesses(expr, ()):
            found.append(_read(nest, access, inner, values, through, where))
    return found


def own_touches(nest: Nest, leaf: Leaf) -> list[Touch]:
    """What the statement speaks of, whatever caches it goes through here."""
    return touches(nest, replace(leaf, through=()))


def reduced_symbols(stage: Stage, leaf: Leaf) -> set[Symbol]:
    """The loops that a leaf's reduction indices are counted by."""
    at = dict(leaf.at)
    return {symbol for binder in stage.reduction for symbol in at[binder.index].symbols() if symbol.kind == "index"}


def rewritten(expr: Expr, values: Mapping[Symbol, Form], through: Mapping[str, str] | None = None) -> Expr:
    """An expression of a stage with its own indices replaced, and its tensors read through caches."""

    def visit(each: Expr) -> Expr:
        made = map_children(each, visit, lambda form: forms.substitute(form, values, visit))
        if through and isinstance(made, Access) and made.tensor in through:
            return replace(made, tensor=through[made.tensor])
        return made

    return visit(expr)


def _exprs(stage: Stage) -> Iterator[Expr]:
    match stage.work:
        case Store(_, exprs) | Update(_, _, exprs):
            yield from exprs
    for condition in (stage.domain, stage.filter):
        if condition is not None:
            yield condition


def _accesses(expr: Expr, inner: tuple[Binder, ...]) -> Iterator[tuple[Access, tuple[Binder, ...]]]:
    """Accesses with the binders of reductions that are inside the expression."""
    if isinstance(expr, Access):
        yield expr, inner
    if isinstance(expr, Reduce):
        inner = (*inner, *expr.binders)
    for child in children(expr):
        yield from _accesses(child, inner)


def _at(coordinates: tuple[Form, ...], values: Mapping[Symbol, Form]) -> tuple[Form, ...]:
    return tuple(forms.substitute(form, values) for form in coordinates)


def _read(
    nest: Nest,
    access: Access,
    inner: tuple[Binder, ...],
    values: Mapping[Symbol, Form],
    through: Mapping[str, str],
    where: tuple[Formula, ...],
) -> Touch:
    """A read: outside of the tensor it lands where its boundary says; through data it may land anywhere."""
    shape = nest.tensors[access.tensor].shape
    element: list[Form] = []
    more: list[Formula] = []
    brought = [binder.index for binder in inner]
    for binder in inner:
        for formula in within(binder):
            assert isinstance(formula, AtLeast)
            more.append(AtLeast(forms.substitute(formula.form, values)))
    mode = access.boundary.mode if access.boundary is not None else None
    for axis, (subscript, size) in enumerate(zip(access.subscripts, shape)):
        at = forms.substitute(subscript, values)
        if nature(at) == "data" or mode in ("wrap", "mirror"):
            anywhere = Symbol(f"?{access.tensor}.{axis}", "index")
            brought.append(anywhere)
            at = forms.symbol(anywhere)
            more += [at_least(at, 0), less(at, size)]
        elif mode == "edge":
            at = forms.extreme("max", forms.ZERO, forms.extreme("min", at, size - 1))
        element.append(at)
    tensor = through.get(access.tensor, access.tensor)
    return Touch(tensor, tuple(element), False, (*where, *more), tuple(brought))
