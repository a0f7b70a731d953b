"""Changes tried on a copy of the text: what would be wrong then that is not wrong now.

    Trial(snapshot).objections([change])        [None] where it may be offered, else [why not]

Errors are compared by code and message, as many of each: an edit moves the others, and need not mend them. What changes
one schedule is asked of that schedule alone, since nothing else hangs on it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tdl.language import syntax
from tdl.language.analysis import diagnose_item
from tdl.language.diagnostic import Diagnostic
from tdl.language.module import Entry, key_of
from tdl.language.parse import parse_item
from tdl.language.scope import Declaration
from tdl.lsp.actions.candidate import Candidate, Edit, edited
from tdl.lsp.snapshot import Snapshot

_WORD = re.compile(r"\w+")

Identity = tuple[str, str]


@dataclass(frozen=True)
class Change:
    """Edits, and the error that they should mend if there is one."""

    edits: tuple[Edit, ...]
    mends: Identity | None = None

    @classmethod
    def of(cls, candidate: Candidate) -> Change:
        return cls(candidate.edits, None if candidate.mends is None else identity_of(candidate.mends))


@dataclass(frozen=True)
class _Errors:
    """What is said to be wrong, and what would be said as well if lines that are wrong by themselves were not there: a
    change should not bring what only shows once these are mended."""

    seen: list[Diagnostic]
    hidden: list[Diagnostic]

    @property
    def all(self) -> list[Diagnostic]:
        return [*self.seen, *self.hidden]


class Trial:
    """Tries changes of one document at one version."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def objections(self, changes: Iterable[Change]) -> list[str | None]:
        """Why changes may not be made, up to the first that may."""
        found: list[str | None] = []
        for change in changes:
            found.append(self._objection(change))
            if found[-1] is None:
                break
        return found

    def _objection(self, change: Change) -> str | None:
        """The first error that a change would bring, or that the one it should mend would still be there."""
        entry = self._schedule_around(change)
        before, after = self._in_file(change) if entry is None else self._in_schedule(entry, change)
        new = _first_new(before.seen, after.seen) or _first_new(before.all, after.all)
        if new is not None:
            return new.message
        is_mended = change.mends is None or _count(after.seen)[change.mends] < _count(before.seen)[change.mends]
        return None if is_mended or change.mends is None else change.mends[1]

    # ---- the whole file

    @cached_property
    def _errors(self) -> _Errors:
        return _Errors(_errors(self._snapshot.diagnostics), [])

    def _in_file(self, change: Change) -> tuple[_Errors, _Errors]:
        text = edited(self._snapshot.source.text, change.edits)
        path = self._snapshot.source.path
        workspace = self._snapshot.workspace.with_texts({path: text})
        after = Snapshot(workspace.documents[path], workspace).diagnostics
        return self._errors, _Errors(_errors(after), [])

    # ---- one schedule

    def _schedule_around(self, change: Change) -> Entry | None:
        """The schedule whose body holds all edits, if they bring it no name of the module that it did not have."""
        first, last = change.edits[0].span.start, max(each.span.end for each in change.edits)
        entry = self._snapshot.entry_at(first)
        if entry is None or not isinstance(entry.placed.item, syntax.Schedule):
            return None
        offset, item = entry.placed.offset, entry.placed.item
        text = entry.placed.parsed.text
        start = text.find("{", item.op.span.end) + offset
        end = offset + item.span.end
        if not offset < start < first or last >= end or self._has_stray_text(end):
            return None
        new = {word for each in change.edits for word in _WORD.findall(each.text)}
        foreign = new & self._names - set(_WORD.findall(text))
        return None if foreign else entry

    def _has_stray_text(self, end: int) -> bool:
        """Whether something stands between an item's end and the next item: it is passed over as long as the item is
        wrong, and an error from then on."""
        entries = self._snapshot.analysis.module.entries
        following = (entry.placed.offset for entry in entries if entry.placed.offset >= end)
        rest = self._snapshot.source.text[end : next(following, None)]
        return any(line.strip() and not line.lstrip().startswith("#") for line in rest.splitlines())

    @cached_property
    def _names(self) -> set[str]:
        """The first words of all names of the module."""
        return {name.partition(".")[0] for name in self._snapshot.analysis.module.names}

    def _in_schedule(self, entry: Entry, change: Change) -> tuple[_Errors, _Errors]:
        old, offset = entry.declaration, entry.placed.offset
        edits = [Edit(each.span.shifted(-offset), each.text) for each in change.edits]
        text = edited(old.text, edits)
        parsed = parse_item(text)
        key = key_of(text, old.environment)
        new = Declaration(parsed.item, text, old.path, old.offset, key, old.environment, old.depth)
        return self._of_schedule(old, entry.placed.parsed.diagnostics), self._of_schedule(new, parsed.diagnostics)

    def _of_schedule(self, schedule: Declaration, syntactic: Iterable[Diagnostic]) -> _Errors:
        from tdl.compiler.schedule.check import cases_of, check_legality, steps_at

        wrong, item = diagnose_item(schedule), schedule.item
        assert isinstance(item, syntax.Schedule)
        if wrong:
            applied = steps_at(schedule)
            steps = () if applied is None else applied.steps
            hidden = [step.refusal for step in steps if step.refusal is not None and not step.is_open]
            return _Errors(_errors((*syntactic, *wrong)), _errors(hidden))
        op = schedule.environment.find("callable", item.op.text)
        refused = check_legality(schedule, () if op is None else cases_of(self._snapshot.analysis, op))
        return _Errors(_errors((*syntactic, *refused)), [])


def _first_new(before: list[Diagnostic], after: list[Diagnostic]) -> Diagnostic | None:
    """The first error of which there were not as many."""
    known = _count(before)
    for error in after:
        identity = identity_of(error)
        if not known[identity]:
            return error
        known[identity] -= 1
    return None


def _count(found: list[Diagnostic]) -> Counter[Identity]:
    return Counter(map(identity_of, found))


def _errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [each for each in diagnostics if each.severity == "error"]


def identity_of(error: Diagnostic) -> Identity:
    """What an error is known by wherever it moves."""
    return error.code, error.message
