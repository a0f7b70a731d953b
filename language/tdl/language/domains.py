"""Where every access of a definition runs: the indices around it, and what its filters and branches say there.

    Y[i] = X[i - 1] if i > 0 else sum(X[k] for k in 0..i)    has    X[i - 1] where i in 0..N and i - 1 >= 0,
                                                                    X[k] where i in 0..N and -i >= 0 and k in 0..i

Only the chosen branch runs, and the right side of `and` (`or`) only where the left is true (false).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tdl.language.conditions import Formula, equal, every, forms_of, formula_of, nature, substituted, within
from tdl.language.forms import Form, Symbol
from tdl.language.tree import (
    Access,
    Binary,
    Binder,
    Definition,
    Expr,
    Integer,
    Let,
    Reduce,
    Select,
    Target,
    children,
)


@dataclass(frozen=True, slots=True)
class Domain:
    """`binders` from the outermost in; `conditions` hold there. `lets` are the values of enclosing `Let`s by name."""

    binders: tuple[Binder, ...] = ()
    conditions: tuple[Formula, ...] = ()
    lets: Mapping[str, Expr] = field(default_factory=dict)

    def inside(self, binder: Binder) -> Domain:
        return Domain((*self.binders, binder), self.conditions, self.lets)

    def where(self, condition: Expr | None, holds: bool = True) -> Domain:
        if condition is None:
            return self
        return Domain(self.binders, (*self.conditions, formula_of(condition, holds, self.lets)), self.lets)

    def formulas(self) -> tuple[Formula, ...]:
        """Everything known, but the facts about sizes."""
        return (*(formula for binder in self.binders for formula in within(binder)), *self.conditions)

    @property
    def data_indices(self) -> frozenset[Symbol]:
        """The indices whose ranges depend on data, directly or through another's."""
        found: set[Symbol] = set()
        for binder in self.binders:
            ends = (binder.lo, binder.hi)
            if any(nature(end) == "data" or not found.isdisjoint(end.symbols()) for end in ends):
                found.add(binder.index)
        return frozenset(found)


def contains(definition: Definition, target: Target, element: tuple[Form, ...]) -> Formula:
    """That the definition writes this element by this target; exact where its filter is affine, else too often."""
    values: dict[Symbol, Form] = {}
    parts: list[Formula] = []
    for coordinate, at in zip(target.coordinates, element):
        symbol = coordinate.symbol
        if symbol is not None and symbol.kind == "index":
            values[symbol] = at
        else:
            parts.append(equal(at, coordinate))
    known = (each for each in definition_domain(definition).formulas() if not _is_of_data(each))
    return every((*parts, *(substituted(formula, values) for formula in known)))


def _is_of_data(formula: Formula) -> bool:
    return any(nature(form) == "data" for form in forms_of(formula))


Visit = Callable[[Access, Domain], None]


def visit_accesses(definition: Definition, visit: Visit) -> None:
    """Call `visit` with every access of a definition, those in subscripts and range ends included, in text order."""
    domain = Domain()
    for binder in definition.indices:
        domain = domain.inside(binder)
    if definition.filter is not None:
        _visit(definition.filter, domain, visit)
        domain = domain.where(definition.filter)
    _visit(definition.value, domain, visit)


def definition_domain(definition: Definition) -> Domain:
    """Where the definition's value is computed."""
    return Domain(definition.indices).where(definition.filter)


def _visit(expr: Expr, domain: Domain, visit: Visit) -> None:
    match expr:
        case Access():
            for child in children(expr):
                _visit(child, domain, visit)
            visit(expr, domain)
        case Select(condition, then, other):
            _visit(condition, domain, visit)
            _visit(then, domain.where(condition), visit)
            _visit(other, domain.where(condition, False), visit)
        case Binary("and" | "or" as operator, left, right):
            _visit(left, domain, visit)
            _visit(right, domain.where(left, operator == "and"), visit)
        case Let(name, value, body):
            _visit(value, domain, visit)
            _visit(body, replace(domain, lets={**domain.lets, name: value}), visit)
        case Reduce(_, binders, condition, args):
            for binder in binders:
                _visit_ends(binder, domain, visit)
                domain = domain.inside(binder)
            if condition is not None:
                _visit(condition, domain, visit)
                domain = domain.where(condition)
            for arg in args:
                _visit(arg, domain, visit)
        case _:
            for child in children(expr):
                _visit(child, domain, visit)


def _visit_ends(binder: Binder, domain: Domain, visit: Visit) -> None:
    for end in (binder.lo, binder.hi):
        for child in _children_of_form(end):
            _visit(child, domain, visit)


def _children_of_form(form: Form) -> tuple[Expr, ...]:
    """The expressions inside a form's opaque atoms."""
    return tuple(children(Integer(form)))
