"""Lines that are refused, written as they would be legal: with another loop, number, place or order.

    parallel C.k                race            parallel C.i · parallel C.j · rfactor C.k -> P, then parallel P.k
    compute rows at ri          placement       compute rows at Y.i, the nearest loop where it is legal
    skew S.i, S.j by 1          order           by 2
    unroll io                   it was fused    unroll t

The checker's own rules say which of the many lines that may be meant is legal; here they are only put in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations

from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic
from tdl.lsp.actions import layout
from tdl.lsp.actions.candidate import QUICK_FIX, Candidate, Edit
from tdl.lsp.actions.factors import changed, factors_of, nearest
from tdl.lsp.actions.forms import of_forms
from tdl.lsp.actions.subject import Subject, schedule_at
from tdl.lsp.asking import Asking, first_legal, some_legal
from tdl.lsp.snapshot import Snapshot

_OFFERED = 3
"""Of alternatives of one sort."""
_TRIED = 16
_PERMUTED = 5
"""Loops of a `reorder` at most for other orders of them to be tried."""


def mended_lines(snapshot: Snapshot, found: Diagnostic) -> Asking[list[Candidate]]:
    """Other lines in the place of one that something is wrong with."""
    subject = schedule_at(snapshot, found.primary.start)
    for number, line in enumerate(() if subject is None else subject.lines):
        assert subject is not None
        span = subject.place(line)
        if span.start <= found.primary.start < span.end and isinstance(line, syntax.Line):
            return (yield from _mended(subject, number, line, found))
    return []


def _mended(subject: Subject, number: int, line: syntax.Line, found: Diagnostic) -> Asking[list[Candidate]]:
    mended = yield from some_legal(islice(_of_loops(subject, number, line, found), _TRIED), _OFFERED)
    mended += yield from some_legal(_of_numbers(subject, number, found), _OFFERED)
    mended += yield from some_legal(_of_reductions(subject, number, line, found), 1)
    mended += yield from some_legal(islice(_of_orders(subject, number, line, found), _TRIED), _OFFERED)
    mended += yield from some_legal(of_forms(subject, number, line, found), _OFFERED)
    mended += yield from first_legal((_fix("remove this line", layout.remove(subject, number), found),))
    return mended


def _fix(title: str, edits: tuple[Edit, ...], found: Diagnostic) -> Candidate:
    return Candidate("mend", title, QUICK_FIX, edits, mends=found)


# ---- another loop


def _of_loops(subject: Subject, number: int, line: syntax.Line, found: Diagnostic) -> Iterator[Candidate]:
    """Each loop that the line names, and that the error may be about, exchanged for another: the nearest first."""
    places = [value for clause in line.clauses if clause.keyword.text == "at" for value in clause.values]
    refs = [node for node in (*line.operands, *places) if isinstance(node, syntax.Ref)]
    pointed = [ref for ref in refs if subject.place(ref) == found.primary]
    if not pointed:
        pointed = [ref for ref in refs if subject.state_before(number).loops.find(ref.text) is not None]
    for ref in pointed:
        for name in _others(subject, number, ref.text):
            title = f"change `{ref.text}` to `{name}`"
            if not any(fix.title == title for fix in found.fixes):
                yield _fix(title, (Edit(subject.place(ref), name),), found)


def _others(subject: Subject, number: int, text: str) -> list[str]:
    """Other loops that there are at a line: what became of this one, then those that are near it in the nest."""
    loops = subject.state_before(number).loops
    own = loops.find(text)
    fate = getattr(own, "fate", None)
    children = [] if fate is None else list(fate.children)
    several = [each.name for each in getattr(own, "loops", ())]
    names = subject.names_before(number)
    here = names.index(text) if text in names else 0
    near = sorted((name for name in names if name != text), key=lambda name: abs(names.index(name) - here))
    live = [each for each in (*children, *several) if loops.find(each) is not None]
    return list(dict.fromkeys((*live, *near)))


# ---- another number


def _of_numbers(subject: Subject, number: int, found: Diagnostic) -> Iterator[Candidate]:
    """A number that would do: the nearest, larger ones first."""
    for factor in factors_of(subject):
        if factor.line == number:
            smaller, larger = nearest(factor)
            values = sorted((*larger, *smaller), key=lambda value: (abs(value - factor.value), value < factor.value))
            for value in values[:_TRIED]:
                change = changed(factor, value, "mend")
                yield _fix(change.title, change.edits, found)


# ---- partial results


def _of_reductions(subject: Subject, number: int, line: syntax.Line, found: Diagnostic) -> Iterator[Candidate]:
    """A loop of a reduction that should be parallel: partial results for each of its iterations."""
    if found.code != "race" or line.verb.text not in ("parallel", "vectorize"):
        return
    for ref in line.operands:
        if isinstance(ref, syntax.Ref):
            (partial,) = subject.fresh("P")
            loop = f"{partial}.{ref.parts[-1].text}"
            rest = layout.with_texts(subject, line, [(ref, loop)])
            edits = layout.replace(subject, number, f"rfactor {ref.text} -> {partial}", rest)
            yield _fix(f"partial results for each `{ref.text}` first", edits, found)


# ---- another order


def _of_orders(subject: Subject, number: int, line: syntax.Line, found: Diagnostic) -> Iterator[Candidate]:
    """Loops in another order: the one that differs least first."""
    names = [subject.text(operand) for operand in line.operands]
    if line.verb.text not in ("reorder", "fuse", "skew") or not 2 <= len(names) <= _PERMUTED:
        return
    orders = [order for order in permutations(names) if list(order) != names]
    orders.sort(key=lambda order: sum(new != old for new, old in zip(order, names)))
    for order in orders:
        text = layout.with_texts(subject, line, list(zip(line.operands, order)))
        yield _fix(
            f"in the order {', '.join(f'`{name}`' for name in order)}", layout.replace(subject, number, text), found
        )
