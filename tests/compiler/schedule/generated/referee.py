"""Judges a case: what is accepted must be right, what is refused must be wrong.

An accepted schedule gives the evaluator's result at every size tried, applied to symbols and to numbers, with its
parallel and vector loops in any order, and no two iterations of these touch one place (`results.py`). A refusal
for a race, an order or a placement is confirmed by enumeration (`confirm.py`), or counted as conservative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from tdl.compiler.schedule.apply import Applied
from tdl.compiler.schedule.printer import print_nest
from tdl.compiler.schedule.tree import Nest
from tdl.compiler.schedule.verify import verify
from tdl.language.diagnostic import InternalError
from tdl.language.tree import Program

from tests.compiler.schedule.generated.cases import Case, Sizes, Subject
from tests.compiler.schedule.generated.confirm import confirm
from tests.compiler.schedule.generated.results import Scheduled, Wrong

Verdict = Literal["accepted", "structural", "confirmed", "conservative", "data", "undecided"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Finding:
    """What became of a line: accepted, or refused and how that was judged."""

    verb: str
    verdict: Verdict
    message: str = ""


@dataclass
class Report:
    """All findings; `failures` say what is wrong, shortest first line of each being its kind."""

    case: Case
    findings: list[Finding] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def is_compiled(self) -> bool:
        """Whether machine code is made of the case and run as well: of one in ten."""
        return self.case.seed % 10 == 0


def judge(case: Case) -> Report:
    """Everything there is to say about a case."""
    report = Report(case)
    try:
        subject = Subject(case)
        program = subject.program
    except (ValueError, StopIteration) as error:
        report.failures.append(f"not an op: {error}")
        return report
    applied = _applied(report, lambda: subject.applied(), "with symbols")
    if applied is None:
        return report
    _names(report, subject, applied)
    _verified(report, applied)
    _results(report, subject, program, applied.nest, case.sizes, is_bound=False)
    for sizes in case.sizes[:2]:
        bound = _applied(report, lambda sizes=sizes: subject.applied_at(sizes), f"at {sizes}")
        if bound is not None:
            _bound_refusals(report, subject, applied, bound, sizes)
            _results(report, subject, subject.program_at(sizes), bound.nest, (sizes,), is_bound=True)
    if not report.failures:
        report.findings.extend(_findings(subject, applied, case.sizes))
    return report


def _applied(report: Report, apply: object, when: str) -> Applied | None:
    try:
        return apply()  # type: ignore[operator, no-any-return]
    except Exception as error:
        report.failures.append(f"traceback {type(error).__name__}: {error} ({when})")
        return None


# ---- lines


def _names(report: Report, subject: Subject, applied: Applied) -> None:
    """What the language says is not there, must not be there in the nest; until the first refusal parts the two."""
    lines = subject.schedule.item.body  # type: ignore[union-attr]
    offset = next(e.placed.offset for e in subject.analysis.module.entries if e.declaration is subject.schedule)
    for number, (line, step) in enumerate(zip(lines, applied.steps[1:])):
        if step.refusal is not None:
            return
        for found in subject.analysis.diagnostics:
            start = found.primary.start - offset
            if line.span.start <= start < line.span.end and "there is no" in found.message:
                text = report.case.lines[number]
                report.failures.append(f"names: `{text}` is refused by name and accepted by the nest: {found.message}")


def _verified(report: Report, applied: Applied) -> None:
    try:
        for step in applied.steps:
            verify(step.nest)
    except InternalError as error:
        report.failures.append(f"broken nest: {error}")


def _findings(subject: Subject, applied: Applied, sizes: tuple[Sizes, ...]) -> Iterator[Finding]:
    for number, (text, step) in enumerate(zip(subject.case.lines, applied.steps[1:])):
        verb = text.split()[0]
        if step.refusal is None:
            yield Finding(verb, "accepted")
        else:
            before = applied.steps[number].nest
            yield Finding(verb, confirm(subject, number, before, step.refusal, sizes), step.refusal.message)


def _bound_refusals(report: Report, subject: Subject, applied: Applied, bound: Applied, sizes: Sizes) -> None:
    """A line that is legal at all sizes is legal at each."""
    for number, (general, special) in enumerate(zip(applied.steps[1:], bound.steps[1:])):
        if special.refusal is not None and general.refusal is None and _is_proved(special.refusal.code):
            text = report.case.lines[number]
            verdict = confirm(subject, number, bound.steps[number].nest, special.refusal, (sizes,))
            kind = "wrongly accepted with symbols" if verdict == "confirmed" else "refused with numbers only"
            report.failures.append(f"{kind}: `{text}` at {sizes}: {special.refusal.message}")
            return
        if (special.refusal is None) != (general.refusal is None):
            return  # from here on the two are different schedules


def _is_proved(code: str) -> bool:
    return code in ("race", "order", "placement", "undecided")


# ---- results


def _results(
    report: Report, subject: Subject, program: Program, nest: Nest, every: tuple[Sizes, ...], *, is_bound: bool
) -> None:
    """Every second case that is compiled is so for its first sizes only."""
    with_code = report.is_compiled and is_bound == bool(report.case.seed % 20)
    try:
        Scheduled(subject, program, nest, with_code).check(every)
    except Wrong as wrong:
        report.failures.append(f"{wrong}{', as numbers' if is_bound else ''}")


def describe(report: Report) -> str:
    """The case and what is wrong with it, for a person."""
    lines = [f"# seed {report.case.seed}", *(f"# {failure}" for failure in report.failures), report.case.text]
    try:
        lines.append(print_nest(Subject(report.case).applied().nest))
    except Exception as error:
        lines.append(f"# no nest: {error}")
    return "\n".join(lines)
