"""Everything wrong with the schedules of a file: each line proved legal, or refused on its own line.

The verdict is the one for all sizes where that can be decided. Where a line needs a number that only a call gives, or
the question is too hard with symbols, it is asked at the sizes of every test and bench of the op; with none of them
the line is left for the call, which asks again before it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from tdl.compiler.schedule.apply import Applied, Step, apply_more, apply_schedule
from tdl.compiler.schedule.choose import ancestors, holds
from tdl.language import syntax
from tdl.language.analysis import Analysis
from tdl.language.binding import describe_sizes
from tdl.language.cases import check_case
from tdl.language.check import check_op
from tdl.language.diagnostic import Diagnostic
from tdl.language.forms import Symbol
from tdl.language.schedules.check import check_schedule
from tdl.language.scope import Declaration
from tdl.language.signature import Instance
from tdl.language.tree import Program


def diagnose(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """Everything wrong with a file, in order of place: what the language says, and which schedule lines are refused."""
    if not any(isinstance(entry.declaration.item, syntax.Schedule) for entry in analysis.module.entries):
        return analysis.diagnostics
    found = (*analysis.diagnostics, *check_schedules(analysis))
    return tuple(sorted(found, key=lambda each: (each.primary.start, each.primary.end)))


def check_schedules(analysis: Analysis) -> tuple[Diagnostic, ...]:
    """What is wrong with a file's own schedules, with absolute spans. Nothing that the language reported already."""
    return tuple(each for found in schedule_by_schedule(analysis) for each in found)


def schedule_by_schedule(analysis: Analysis) -> Iterator[tuple[Diagnostic, ...]]:
    """The same for one schedule after the other, for those who have other things to do between."""
    cases = _cases_by_op(analysis)
    for entry in analysis.module.entries:
        item = entry.declaration.item
        if isinstance(item, syntax.Schedule):
            of_op = tuple(cases.get(_callable(entry.declaration, item.op), ()))
            yield tuple(each.shifted(entry.placed.offset) for each in check_legality(entry.declaration, of_op))


@lru_cache(maxsize=64)
def legality_after(schedule: Declaration, case: Declaration | None = None) -> Callable[[syntax.Line], Step] | None:
    """Whether one more line would be legal behind a schedule, for all sizes or at those of a test or bench.

    None where the op, the case or a line is wrong. Remembered, as an editor asks it of many lines.
    """
    found = None if wrong_lines(schedule) else _program(schedule, case)
    return None if found is None else apply_more(found[0], schedule, found[1])


@lru_cache(maxsize=128)
def steps_at(schedule: Declaration, case: Declaration | None = None) -> Applied | None:
    """A schedule line by line, for all sizes or at those of a test or bench; None where the op or the case is wrong.

    Lines that are wrong by themselves do nothing.
    """
    found, item, wrong = _program(schedule, case), schedule.item, wrong_lines(schedule)
    assert isinstance(item, syntax.Schedule)
    if wrong:
        body = tuple(syntax.Broken(span=line.span) if n in wrong else line for n, line in enumerate(item.body))
        schedule = replace(schedule, item=replace(item, body=body))
    return None if found is None else applied(schedule, *found)


def wrong_lines(schedule: Declaration) -> frozenset[int]:
    """The lines that do not parse, or that are not formed as they should be."""
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    places = [each.primary.start for each in check_schedule(schedule)]
    return frozenset(
        number
        for number, line in enumerate(item.body)
        if isinstance(line, syntax.Broken) or any(line.span.start <= place <= line.span.end for place in places)
    )


def _program(schedule: Declaration, case: Declaration | None) -> tuple[Program, Mapping[Symbol, int]] | None:
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    op = _callable(schedule, item.op)
    if op is None or not isinstance(op.item, syntax.Op) or not check_op(op).is_sound:
        return None
    if case is None:
        return check_op(op).program, {}
    bound = check_case(case).case
    if bound is None or bound.op != op:
        return None
    return bound_program(op, bound.bound.program, bound.bound.sizes), bound.bound.sizes


def cases_of(analysis: Analysis, op: Declaration) -> tuple[Declaration, ...]:
    """The tests and benches of an op in a file, in order."""
    return tuple(_cases_by_op(analysis).get(op, ()))


def _cases_by_op(analysis: Analysis) -> dict[Declaration | None, list[Declaration]]:
    """Tests and benches by what they call: a schedule is asked again only where those of its own op change."""
    found: dict[Declaration | None, list[Declaration]] = {}
    for entry in analysis.module.entries:
        item = entry.declaration.item
        if isinstance(item, syntax.Test | syntax.Bench) and item.call is not None:
            found.setdefault(_callable(entry.declaration, item.call.callee), []).append(entry.declaration)
    return found


def _callable(user: Declaration, name: syntax.Ref) -> Declaration | None:
    return user.environment.find("callable", name.text)


@lru_cache(maxsize=512)
def check_legality(schedule: Declaration, cases: tuple[Declaration, ...]) -> tuple[Diagnostic, ...]:
    """Refusals of a schedule's lines, spans relative to its item; `cases` are the op's tests and benches, for sizes."""
    item = schedule.item
    assert isinstance(item, syntax.Schedule)
    op = _callable(schedule, item.op)
    if op is None or not isinstance(op.item, syntax.Op) or check_schedule(schedule) or not check_op(op).is_sound:
        return ()
    if item.target is not None and "gpu" in ancestors(item.target.text, schedule):
        return ()  # whose back-end will say
    whole = steps_at(schedule)
    refused = [] if whole is None else [step for step in whole.steps if step.refusal is not None]
    certain = tuple(step.refusal for step in refused if step.refusal is not None and not step.is_open)
    if certain or not refused:
        return certain
    return tuple(_at_cases(schedule, op, cases))


def applied(schedule: Declaration, program: Program, sizes: Mapping[Symbol, int] | None = None) -> Applied:
    """A schedule applied to a program, bound to sizes if they are given."""
    return apply_schedule(program, schedule, sizes=sizes)


def bound_program(op: Declaration, program: Program, sizes: Mapping[Symbol, int]) -> Program:
    """The program of an op with its dimensions bound to numbers."""
    parameters = {name: value for name, value in program.parameters.items() if value is not None}
    exact = {symbol.name: size for symbol, size in sizes.items()}
    return check_op(op, Instance.of(parameters, program.packs, exact)).program


def _at_cases(schedule: Declaration, op: Declaration, cases: tuple[Declaration, ...]) -> Iterator[Diagnostic]:
    """Refusals at the sizes of tests and benches, each once."""
    seen: set[tuple[object, str]] = set()
    for declaration in cases:
        case = check_case(declaration).case
        if case is None or case.op != op or not holds(schedule, case.bound.program, case.bound.sizes):
            continue
        program = bound_program(op, case.bound.program, case.bound.sizes)
        for found in applied(schedule, program, case.bound.sizes).diagnostics:
            if (found.primary, found.message) not in seen:
                seen.add((found.primary, found.message))
                yield replace(found, notes=(*found.notes, f"at {describe_sizes(case.bound.sizes)} (`{case.name}`)"))
