"""Lines that are not formed as they should be, mended in their form.

unroll C.j                          no number bounds it      split C.j by 16 -> jo, ji, then unroll ji
vectorize C.j                                                vectorize C.j by 16
split C.i by [8, 4] -> io, ii       three loops are made     -> io, ii, ii2
split C.i by 8, 4 -> a, b, c        a list                   by [8, 4]
cache A at i in stack in register   twice                    cache A at i in stack
layout A(i, k) [k, i]               an input                 layout A(i, k) [k, i] pack
"""

from __future__ import annotations

from collections.abc import Iterator

from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic
from tdl.language.schedules.clauses import factors
from tdl.language.schedules.counts import result_count
from tdl.language.schedules.lines import LINES
from tdl.language.source import Span
from tdl.lsp.actions import layout
from tdl.lsp.actions.candidate import QUICK_FIX, Candidate, Edit
from tdl.lsp.actions.subject import Subject

_BY = 16


def of_forms(subject: Subject, number: int, line: syntax.Line, found: Diagnostic) -> Iterator[Candidate]:
    """The line with what is missing or too much of it."""
    for title, edits in (
        *_bounded(subject, number, line),
        *_named(subject, line),
        *_listed(subject, line),
        *_once(subject, line),
        *_packed(subject, line),
        *_elsewhere(subject, line),
    ):
        yield Candidate("mend", title, QUICK_FIX, edits, mends=found)


_Change = tuple[str, tuple[Edit, ...]]


def _bounded(subject: Subject, number: int, line: syntax.Line) -> Iterator[_Change]:
    """A loop that no number bounds, or a long one, cut first."""
    if line.verb.text not in ("unroll", "vectorize") or line.clauses or len(line.operands) != 1:
        return
    (loop,) = line.operands
    text = subject.text(loop)
    if line.verb.text == "vectorize":
        yield f"vectors of {_BY} lanes", (_behind(subject, line, f" by {_BY}"),)
    axis = text.rpartition(".")[2]
    outer, inner = subject.fresh(f"{axis}o", f"{axis}i")
    lines = f"split {text} by {_BY} -> {outer}, {inner}", f"{line.verb.text} {inner}"
    yield f"split `{text}` by {_BY} first", layout.replace(subject, number, *lines)


def _named(subject: Subject, line: syntax.Line) -> Iterator[_Change]:
    """As many names as loops are made."""
    form = LINES.get(line.verb.text)
    if form is None or not line.results:
        return
    by = next((clause for clause in line.clauses if clause.keyword.text == "by"), None)
    wanted = result_count(form, len(line.operands), 1 if by is None else len(factors(by)))
    given = [name.text for name in line.results]
    missing = wanted - len(given)
    if missing > 0:
        more = subject.fresh(*[given[-1]] * missing)
        yield f"name {wanted} loops", (_behind(subject, line, f", {', '.join(more)}"),)
    elif missing < 0 and wanted:
        span = Span(subject.place(line.results[wanted - 1]).end, subject.place(line.results[-1]).end)
        yield f"name {wanted} loops", (Edit(span, ""),)


def _listed(subject: Subject, line: syntax.Line) -> Iterator[_Change]:
    """Sizes within sizes as a list."""
    for clause in line.clauses:
        if line.verb.text == "split" and clause.keyword.text == "by" and len(clause.values) > 1:
            start, end = subject.place(clause.values[0]).start, subject.place(clause.values[-1]).end
            yield "make the sizes a list", (Edit(Span(start, start), "["), Edit(Span(end, end), "]"))


def _once(subject: Subject, line: syntax.Line) -> Iterator[_Change]:
    """Each clause once."""
    seen: set[str] = set()
    for clause in line.clauses:
        if clause.keyword.text in seen:
            span = subject.place(clause)
            text = subject.text(clause)
            yield f"remove `{text}`", (Edit(Span(span.start - 1, span.end), ""),)
        seen.add(clause.keyword.text)


def _packed(subject: Subject, line: syntax.Line) -> Iterator[_Change]:
    if line.verb.text == "layout" and not any(clause.keyword.text == "pack" for clause in line.clauses):
        yield "add `pack`", (_behind(subject, line, " pack"),)


def _elsewhere(subject: Subject, line: syntax.Line) -> Iterator[_Change]:
    """A copy in the memory that is chosen without a word about it, or in the order that it is touched in."""
    for clause in line.clauses:
        if line.verb.text == "cache" and clause.keyword.text in ("in", "layout", "pad"):
            span = subject.place(clause)
            yield f"without `{subject.text(clause)}`", (Edit(Span(span.start - 1, span.end), ""),)


def _behind(subject: Subject, line: syntax.Line, text: str) -> Edit:
    end = subject.place(line).end
    return Edit(Span(end, end), text)
