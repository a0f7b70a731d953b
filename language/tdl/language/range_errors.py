"""What is said of an index whose range cannot be found, with sizes that show why."""

from __future__ import annotations

from tdl.language import forms
from tdl.language.conditions import less
from tdl.language.forms import Form
from tdl.language.inequalities import Facts
from tdl.language.open_ranges import Slot
from tdl.language.report import Report
from tdl.language.tree import Program
from tdl.language.witness import find_witness, show_point, size_symbols


def report_unbounded(slot: Slot, report: Report) -> None:
    name = slot.binder.index.name
    kind = "index" if slot.is_left else "reduction index"
    reason = "it is the only index of no subscript without a boundary"
    if slot.is_left:
        written = sorted({target.tensor for target in slot.definition.targets})
        reason += ", and nothing reads " + " or ".join(f"`{tensor}` at a known place" for tensor in written)
    report.error(
        "unbounded-index",
        f"nothing bounds the {kind} `{name}`",
        slot.binder.span,
        reason,
        f"give it a range, as in `for {name} in 0..N`",
    )


def report_ambiguous(
    slot: Slot, candidates: list[Form], is_lower: bool, program: Program, facts: Facts, report: Report
) -> None:
    """Of the candidates for one end none is the tightest."""
    first, second, shown = _contested(list(dict.fromkeys(candidates)), program, facts)
    name = slot.binder.index.name
    fact = f"`where {first} {'>=' if is_lower else '<='} {second}`"
    report.error(
        "ambiguous-range",
        f"the range of `{name}` {'starts' if is_lower else 'ends'} at {first} or at {second}: "
        "neither is the tighter for all sizes",
        slot.binder.span,
        *([f"{first} against {second}: {shown}"] if shown else []),
        f"give a range, as in `for {name} in 0..{first}`, or state a fact, as in {fact}",
    )


def _contested(candidates: list[Form], program: Program, facts: Facts) -> tuple[Form, Form, str]:
    """Two bounds of which either may be the tighter, with sizes that show it."""
    for position, first in enumerate(candidates):
        for second in candidates[position + 1 :]:
            below = _ends_where(first, second, (first, second), program, facts)
            above = _ends_where(second, first, (first, second), program, facts)
            if below and above:
                return first, second, f"{below}, but {above}"
    return candidates[0], candidates[-1], ""


def _ends_where(less_one: Form, greater: Form, ends: tuple[Form, Form], program: Program, facts: Facts) -> str:
    """`with M = 0, K = 1 they are 0 and 1`: sizes at which one form is less than another; empty if there are none."""
    point = find_witness(facts.formulas, less(less_one, greater), size_symbols(program))
    if point is None:
        return ""
    shown = {symbol: value for symbol, value in point.items() if any(end.mentions(symbol) for end in ends)}
    try:
        first, second = (forms.evaluate(end, shown) for end in ends)
    except (KeyError, ZeroDivisionError):
        return f"with {show_point(shown)} one is less"
    return f"with {show_point(shown)} they are {first} and {second}"
