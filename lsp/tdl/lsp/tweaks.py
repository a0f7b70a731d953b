"""`tdl/tweaks`: everything that can be done to the schedule at a position, for a view of it as a whole.

{"textDocument": {"uri"}, "position"}   ->   lines, loops, factors and orders, each with its edits, tried before
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from lsprotocol import converters, types
from tdl.language import syntax
from tdl.language.module import Entry
from tdl.language.source import Span
from tdl.lsp.actions.candidate import REWRITE, Candidate, Choice, Edit
from tdl.lsp.actions.factors import Factor, changed, factors_of, nearest
from tdl.lsp.actions.line_moves import line_moves
from tdl.lsp.actions.loop_moves import loop_moves
from tdl.lsp.actions.orders import chain, reordered
from tdl.lsp.actions.subject import Subject, subject_of
from tdl.lsp.actions.workspace_edits import workspace_edit
from tdl.lsp.actions.writing import written_schedules
from tdl.lsp.asking import Asking, first_legal
from tdl.lsp.previews import op_of
from tdl.lsp.snapshot import Snapshot

if TYPE_CHECKING:
    from tdl.compiler.schedule.tree import Loop

_SHOWN = 5
"""Legal numbers on each side of a factor."""


PARTS = ("lines", "loops", "factors", "reorders")


def tweaks(
    snapshot: Snapshot, offset: int, parts: Collection[str] = PARTS, of_loop: str | None = None
) -> Asking[dict[str, Any] | None]:
    """The answer for an offset, with some parts, and changes of all loops or of one; None where there is no op."""
    entry = snapshot.entry_at(offset)
    name = None if entry is None else op_of(entry)
    if entry is None or name is None:
        return None
    schedule = entry if isinstance(entry.placed.item, syntax.Schedule) else _schedule_of(snapshot, name)
    subject = None if schedule is None else subject_of(snapshot, schedule)
    maker = _Maker(snapshot, of_loop)
    found: dict[str, Any] = {"op": name, "version": snapshot.document.version, "schedule": None, "write": []}
    found.update({part: [] for part in PARTS})
    if schedule is None:
        found["write"] = yield from maker.writing(name)
        return found
    found["schedule"] = _head(snapshot, schedule)
    if "lines" in parts:
        found["lines"] = yield from maker.lines(schedule, subject)
    if subject is not None and "factors" in parts:
        found["factors"] = yield from maker.factors(subject)
    if subject is not None and subject.is_sound and "loops" in parts:
        found["loops"] = yield from maker.loops(subject)
    if subject is not None and subject.is_sound and "reorders" in parts:
        found["reorders"] = yield from maker.reorders(subject)
    return found


def _schedule_of(snapshot: Snapshot, op: str) -> Entry | None:
    """The first schedule of an op in the document."""
    for entry in snapshot.analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Schedule) and op_of(entry) == op:
            return entry
    return None


def _head(snapshot: Snapshot, schedule: Entry) -> dict[str, Any]:
    text, item = schedule.placed.parsed.text, schedule.placed.item
    head = text[item.span.start :].partition("{")[0]
    return {"range": _plain(snapshot.range(item.span.shifted(schedule.placed.offset))), "head": " ".join(head.split())}


class _Maker:
    """Makes the parts of an answer; with `of_loop`, changes of that loop alone."""

    def __init__(self, snapshot: Snapshot, of_loop: str | None) -> None:
        self._snapshot = snapshot
        self._of_loop = of_loop

    def _is_wanted(self, name: str) -> bool:
        return self._of_loop is None or self._of_loop == name

    def writing(self, op: str) -> Asking[list[dict[str, Any]]]:
        entries = (
            entry for entry in self._snapshot.analysis.module.entries if isinstance(entry.placed.item, syntax.Op)
        )
        choices = (each for entry in entries if op_of(entry) == op for each in written_schedules(self._snapshot, entry))
        moves = yield from self._moves(choices)
        return [move for move in moves if move["edit"] is not None]

    def lines(self, schedule: Entry, subject: Subject | None) -> Asking[list[dict[str, Any]]]:
        found = []
        item, offset = schedule.placed.item, schedule.placed.offset
        assert isinstance(item, syntax.Schedule)
        for number, line in enumerate(item.body):
            span = line.span.shifted(offset)
            moves = () if subject is None else line_moves(subject, number)
            wrong = [each for each in self._snapshot.diagnostics if span.start <= each.primary.start < span.end]
            found.append(
                {
                    "range": self._range(span),
                    "text": schedule.placed.parsed.text[line.span.start : line.span.end],
                    "refused": [each.message for each in wrong],
                    "moves": (yield from self._moves(moves)),
                }
            )
        return found

    def loops(self, subject: Subject) -> Asking[list[dict[str, Any]]]:
        from tdl.compiler.schedule.printer import short_names
        from tdl.compiler.schedule.text import form_text
        from tdl.compiler.schedule.walk import path_to
        from tdl.language import forms
        from tdl.language.forms import Symbol

        nest = subject.nests[-1]
        short = {symbol: forms.symbol(Symbol(name, "index")) for symbol, name in short_names(nest).items()}
        found: list[dict[str, Any]] = [
            {
                "name": subject.name(loop),
                "extent": form_text(forms.substitute(loop.hi - loop.lo, short)),
                "kind": loop.kind,
                "depth": len(path_to(nest.body, loop.symbol)) - 1,
                "line": loop.line if loop.line >= 0 else None,
            }
            for loop in subject.loops
        ]
        for each, loop in zip(found, subject.loops):
            moves = loop_moves(subject, loop) if self._is_wanted(each["name"]) else ()
            each["moves"] = yield from self._moves(moves)
        return found

    def factors(self, subject: Subject) -> Asking[list[dict[str, Any]]]:
        found = []
        for factor in factors_of(subject):
            smaller, larger = nearest(factor)
            legal = [*(yield from self._legal(factor, smaller)), *(yield from self._legal(factor, larger))]
            found.append(
                {
                    "range": self._range(factor.span),
                    "line": factor.line,
                    "value": factor.value,
                    "legal": sorted(legal, key=lambda each: each["value"]),
                }
            )
        return found

    def _legal(self, factor: Factor, values: Iterable[int]) -> Asking[list[dict[str, Any]]]:
        found: list[dict[str, Any]] = []
        for value in islice(values, 2 * _SHOWN):
            candidate = changed(factor, value, "factor")
            if len(found) < _SHOWN and (yield from first_legal((candidate,))):
                found.append({"value": value, "divides": factor.divides(value), "edit": self._edit(candidate.edits)})
        return found

    def reorders(self, subject: Subject) -> Asking[list[dict[str, Any]]]:
        """Each loop at each other place of the chain that it is in."""
        found = []
        places = {loop.symbol: place for place, loop in enumerate(subject.loops)}
        for loop in subject.loops:
            loops = chain(subject, loop) if self._is_wanted(subject.name(loop)) else ()
            targets = []
            for index, edits in _orders(subject, loop, loops):
                (why,) = yield (Candidate("reorder", "", REWRITE, edits),)
                edit = self._edit(edits) if why is None else None
                targets.append({"index": places[loops[0].symbol] + index, "edit": edit, "why": why})
            if targets:
                found.append({"loop": subject.name(loop), "targets": targets})
        return found

    def _moves(self, choices: Iterable[Choice]) -> Asking[list[dict[str, Any]]]:
        """Of each choice the first that is legal; without one, why the first is not."""
        found = []
        for choice in choices:
            if choice:
                objections = yield choice
                last, first = objections[-1], objections[0]
                found.append(self._move(choice[len(objections) - 1 if last is None else 0], last and first))
        return found

    def _move(self, candidate: Candidate, why: str | None) -> dict[str, Any]:
        edit = self._edit(candidate.edits) if why is None else None
        return {"id": candidate.id, "title": candidate.title, "edit": edit, "why": why}

    def _edit(self, edits: tuple[Edit, ...]) -> Any:
        return _plain(workspace_edit(self._snapshot, edits))

    def _range(self, span: Span) -> Any:
        return _plain(self._snapshot.range(span))


def _orders(subject: Subject, loop: Loop, loops: tuple[Loop, ...]) -> Iterator[tuple[int, tuple[Edit, ...]]]:
    """The places of a chain of loops that one of them could be moved to, and the edits that move it there."""
    place = next((number for number, each in enumerate(loops) if each.symbol == loop.symbol), 0)
    rest = [*loops[:place], *loops[place + 1 :]]
    for index in range(len(loops)):
        if index != place:
            order = [*rest[:index], loop, *rest[index:]]
            low, high = min(place, index), max(place, index)
            yield index, reordered(subject, order[low : high + 1])


def _plain(value: types.WorkspaceEdit | types.Range) -> Any:
    return _converter().unstructure(value)


@cache
def _converter() -> Any:
    return converters.get_converter()
