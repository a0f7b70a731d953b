"""Does an inequality hold wherever something runs, for all admitted sizes?

First by putting range ends in (`inequalities.py`), then by isl (`sets.py`) with what has to do with the inequality.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tdl.language.conditions import AtLeast, Formula, forms_of, negation
from tdl.language.data import known_of_atoms
from tdl.language.domains import Domain
from tdl.language.forms import Form, Symbol
from tdl.language.inequalities import Facts, is_known, linear
from tdl.language.sets import is_empty
from tdl.language.tree import Binder


def connected(formulas: Iterable[Formula], symbols: Iterable[Symbol]) -> list[Formula]:
    """The formulas that speak of the symbols, directly or through other formulas."""
    reached = set(symbols)
    waiting = [(formula, {symbol for form in forms_of(formula) for symbol in form.symbols()}) for formula in formulas]
    found: list[Formula] = []
    grown = True
    while grown:
        grown, rest = False, []
        for formula, mentioned in waiting:
            if reached.isdisjoint(mentioned):
                rest.append((formula, mentioned))
            else:
                found.append(formula)
                grown = grown or not mentioned <= reached
                reached |= mentioned
        waiting = rest
    return found


def holds(goal: Form, facts: Facts, domain: Domain) -> bool:
    """Whether `goal >= 0` for all sizes that the facts admit, wherever the domain's conditions hold."""
    return _holds(goal, facts, domain.binders, domain.conditions)


@lru_cache(maxsize=8192)
def _holds(goal: Form, facts: Facts, binders: tuple[Binder, ...], conditions: tuple[Formula, ...]) -> bool:
    if is_known(goal, facts, binders):
        return True
    given = [*linear(conditions), *(binder.hi - binder.lo - 1 for binder in binders)]
    if any(is_known(goal - form, facts, binders) for form in given):
        return True
    denied = negation(AtLeast(goal))
    known = (*facts.formulas, *Domain(binders, conditions).formulas())
    everything = (*known, *known_of_atoms(goal))
    relevant = connected(everything, goal.symbols())
    if is_empty((*relevant, denied)):
        return True
    return len(relevant) < len(everything) and is_empty(known)  # what else is known can only say that nothing runs
