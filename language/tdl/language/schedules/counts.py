"""How many loops, factors and names a line has, against its row.

split Y.i by [128, 48] -> a, b, c        two factors make three loops
"""

from __future__ import annotations

from tdl.language import syntax
from tdl.language.schedules.clauses import clause_of, factors
from tdl.language.schedules.lines import LineForm
from tdl.language.schedules.operands import State
from tdl.language.source import Span


def check_counts(line: syntax.Line, form: LineForm, state: State) -> bool:
    """Whether a line has as many of everything as it should; the first that it has not is reported."""
    by = clause_of(line, "by")
    for complaint in (_loops(line, form), None if by is None else _factors(line, form, by), _names(line, form, by)):
        if complaint is not None:
            span, message, note = complaint
            state.scope.error("schedule", message, span, note)
            return False
    return True


Complaint = tuple[Span, str, str]


def _loops(line: syntax.Line, form: LineForm) -> Complaint | None:
    given = len(line.operands)
    if form.operands != "loop" or (given >= form.least and (form.most is None or given <= form.most)):
        return None
    wanted = f"{form.least} loops" if form.most == form.least else f"{form.least} loops or more"
    return line.span, f"`{form.verb}` takes {wanted}, not {given}", _example(form)


def _factors(line: syntax.Line, form: LineForm, by: syntax.Clause) -> Complaint | None:
    is_list = any(isinstance(value, syntax.Array) for value in by.values)
    given, loops = len(factors(by)), len(line.operands)
    match form.results:
        case "grid":
            if given != loops:
                sizes = "1 size" if given == 1 else f"{given} sizes"
                return by.span, f"{loops} loops are tiled by {sizes}", "give one size for each loop"
        case "tiles":
            if given < 1 or (given > 1 and not is_list):
                note = "sizes within sizes are a list, from outer to inner: `by [128, 48] -> a, b, c`"
                return by.span, "`split` takes one size, or one list of sizes", note
        case _:
            if given != 1 or is_list:
                return by.span, f"`{form.verb}` takes one number", _example(form)
    return None


def _names(line: syntax.Line, form: LineForm, by: syntax.Clause | None) -> Complaint | None:
    wanted = result_count(form, len(line.operands), 1 if by is None else len(factors(by)))
    given = len(line.results)
    if given == wanted:
        return None
    what = "stage" if form.effect == "factor" else "loop"
    made = f"1 {what}" if wanted == 1 else f"{wanted} {what}s"
    span = line.results[0].span.to(line.results[-1].span) if line.results else line.span
    return span, f"this makes {made}, and {given} {'is' if given == 1 else 'are'} named", _example(form)


def _example(form: LineForm) -> str:
    return f"for example `{form.usage}`"


def result_count(form: LineForm, loops: int, factors: int) -> int:
    """How many names stand behind `->`."""
    match form.results:
        case "none":
            return 0
        case "one":
            return 1
        case "two":
            return 2
        case "tiles":
            return factors + 1
        case "grid":
            return 2 * loops
