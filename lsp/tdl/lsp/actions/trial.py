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
        known = Counter(map(identity_of, before))
        for error in after:
            identity = identity_of(error)
            if not known[identity]:
                return error.message
            known[identity] -= 1
        return None if change.mends is None or known[change.mends] else change.mends[1]

    # ---- the whole file

    @cached_property
    def _errors(self) -> list[Diagnostic]:
        return _errors(self._snapshot.diagnostics)

    def _in_file(self, change: Change) -> tuple[list[Diagnostic], list[Diagnostic]]:
        text = edited(self._snapshot.source.text, change.edits)
        path = self._snapshot.source.path
        workspace = self._snapshot.workspace.with_texts({path: text})
        return self._errors, _errors(Snapshot(workspace.documents[path], workspace).diagnostics)

    # ---- one schedule

    def _schedule_around(self, change: Change) -> Entry | None:
        """The schedule whose body holds all edits, if they bring it no name of the module that it did not have."""
        first, last = change.edits[0].span.start, max(each.span.end for each in change.edits)
        entry = self._snapshot.entry_at(first)
        if entry is None or not isinstance(entry.placed.item, syntax.Schedule):
            return None
        offset, item = entry.placed.offset, entry.placed.item
        start = entry.placed.parsed.text.find("{", item.op.span.end) + offset
        if not offset < start < first or last >= offset + item.span.end:
            return None
        new = {word for each in change.edits for word in _WORD.findall(each.text)}
        foreign = new & self._names - set(_WORD.findall(entry.placed.parsed.text))
        return None if foreign else entry

    @cached_property
    def _names(self) -> set[str]:
        """The first words of all names of the module."""
        return {name.partition(".")[0] for name in self._snapshot.analysis.module.names}

    def _in_schedule(self, entry: Entry, change: Change) -> tuple[list[Diagnostic], list[Diagnostic]]:
        old, offset = entry.declaration, entry.placed.offset
        edits = [Edit(each.span.shifted(-offset), each.text) for each in change.edits]
        text = edited(old.text, edits)
        parsed = parse_item(text)
        key = key_of(text, old.environment)
        new = Declaration(parsed.item, text, old.path, old.offset, key, old.environment, old.depth)
        return (
            _errors((*entry.placed.parsed.diagnostics, *self._found(old))),
            _errors((*parsed.diagnostics, *self._found(new))),
        )

    def _found(self, schedule: Declaration) -> Iterable[Diagnostic]:
        """What is wrong with a schedule. Where a line is wrong by itself, the others count as well: a change should not
        bring what only shows once that is mended."""
        from tdl.compiler.schedule.check import cases_of, check_legality, steps_at

        wrong, item = diagnose_item(schedule), schedule.item
        assert isinstance(item, syntax.Schedule)
        yield from wrong
        if not wrong:
            op = schedule.environment.find("callable", item.op.text)
            yield from check_legality(schedule, () if op is None else cases_of(self._snapshot.analysis, op))
        elif (applied := steps_at(schedule)) is not None:
            yield from (step.refusal for step in applied.steps if step.refusal is not None and not step.is_open)


def _errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [each for each in diagnostics if each.severity == "error"]


def identity_of(error: Diagnostic) -> Identity:
    """What an error is known by wherever it moves."""
    return error.code, error.message
