"""Counterexamples: the least sizes and indices at which something is wrong, and how they are shown.

H = 1, W = 3, i = 0, j = 2: X[0, 3]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from tdl.language import forms
from tdl.language.conditions import Formula, at_least, forms_of, formula_of, nature, substituted
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts, facts_of
from tdl.language.proof import connected
from tdl.language.sets import Undecided, is_empty, least_point
from tdl.language.tree import Expr, Program

Point = Mapping[Symbol, int]


def size_symbols(program: Program) -> list[Symbol]:
    """Dimensions, then integer parameters without a value."""
    parameters = (Symbol(name, "param") for name, value in program.parameters.items() if value is None)
    return [*program.dims, *parameters]


def size_facts(program: Program) -> Facts:
    return _facts(program.facts)


@lru_cache(maxsize=64)
def _facts(facts: tuple[Expr, ...]) -> Facts:
    return facts_of(formula_of(fact) for fact in facts)


def find_witness(
    known: Sequence[Formula], wrong: Formula, order: Iterable[Symbol], shown: Iterable[Form] = ()
) -> Point | None:
    """The lexicographically least values in `order` for which all formulas hold.

    Only of the symbols that have to do with `wrong` and `shown`. None where there are none, or none was found in time.
    """
    mentioned = {symbol for formula in (*known, wrong) for form in forms_of(formula) for symbol in form.symbols()}
    ordered = [symbol for symbol in dict.fromkeys(order) if symbol in mentioned]
    try:
        point = least_point((*known, wrong), ordered)
    except Undecided:
        return None
    if point is None:
        return None
    symbols = {symbol for form in (*shown, *forms_of(wrong)) for symbol in form.symbols()}
    for formula in connected(known, symbols):
        symbols.update(symbol for form in forms_of(formula) for symbol in form.symbols())
    return {symbol: point[symbol] for symbol in ordered if symbol in symbols}


def is_refuted_at(wrong: Formula, known: Sequence[Formula], sizes: Sequence[Symbol], least: int) -> bool:
    """Whether all formulas hold somewhere at the least sizes that are at least `least`, now that these have numbers."""
    return refuting_sizes(wrong, known, sizes, least) is not None


def refuting_sizes(wrong: Formula, known: Sequence[Formula], sizes: Sequence[Symbol], least: int) -> Point | None:
    """The least sizes that are at least `least`, if all formulas hold somewhere at these.

    Without numbers a product of sizes is taken for anything, so that what may be is not yet what is.
    """
    at_least_so = [at_least(forms.symbol(size), least) for size in sizes]
    try:
        point = least_point((*known, wrong, *at_least_so), sizes)
        if point is None:
            return None
        values = {size: forms.constant(value) for size, value in point.items()}
        there = [substituted(formula, values) for formula in (*known, wrong)]
        is_exact = all(nature(form) == "affine" for formula in there for form in forms_of(formula))
        return point if is_exact and not is_empty(there) else None
    except Undecided:
        return None


def show_point(point: Point) -> str:
    return ", ".join(f"{symbol.name} = {value}" for symbol, value in point.items())


def show_element(tensor: str, subscripts: Iterable[Form], point: Point) -> str:
    """`X[0, 3]`: subscripts with the point's values put in, as far as it has them."""
    values = {symbol: forms.constant(value) for symbol, value in point.items()}
    inside = ", ".join(str(forms.substitute(subscript, values)) for subscript in subscripts)
    return f"{tensor}[{inside}]" if inside else tensor
