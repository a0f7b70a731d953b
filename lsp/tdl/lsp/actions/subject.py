"""The schedule that changes are about, with its op and its loops.

op mm(...) ...          at an index of it: the schedule of it in this file, if there is just one
schedule mm { ... }     this one
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tdl.language import syntax
from tdl.language.module import Entry
from tdl.language.schedules.check import state_after
from tdl.language.schedules.loops import Loop as Named
from tdl.language.schedules.operands import State
from tdl.language.scope import Declaration
from tdl.language.source import Span
from tdl.lsp.completion.place import until
from tdl.lsp.snapshot import Snapshot

if TYPE_CHECKING:
    from tdl.compiler.schedule.tree import Loop, Nest


@dataclass(frozen=True)
class Subject:
    """A schedule of a document whose op is sound. Lines are counted from 0; spans of them are absolute here."""

    snapshot: Snapshot
    entry: Entry
    op: Declaration

    @property
    def schedule(self) -> Declaration:
        return self.entry.declaration

    @cached_property
    def item(self) -> syntax.Schedule:
        item = self.entry.placed.item
        assert isinstance(item, syntax.Schedule)
        return item

    @property
    def lines(self) -> tuple[syntax.ScheduleLine, ...]:
        return self.item.body

    def place(self, node: syntax.Node) -> Span:
        return node.span.shifted(self.entry.placed.offset)

    def text(self, node: syntax.Node) -> str:
        return self.schedule.text[node.span.start : node.span.end]

    @cached_property
    def cases(self) -> tuple[Declaration, ...]:
        from tdl.compiler.schedule.check import cases_of

        return cases_of(self.snapshot.analysis, self.op)

    @cached_property
    def is_sound(self) -> bool:
        """Whether the schedule is formed as one; lines of it may be refused."""
        from tdl.language.schedules.check import check_schedule

        return not self.entry.placed.parsed.diagnostics and not check_schedule(self.schedule)

    # ---- loops

    @cached_property
    def state(self) -> State:
        """What may be named behind the last line."""
        return state_after(self.schedule, self.op)

    def before(self, number: int) -> Declaration:
        """The schedule as it would be if it ended above a line."""
        return until(self.entry, self.lines[number].span.start)

    def state_before(self, number: int) -> State:
        """What may be named by a line."""
        return state_after(self.before(number), self.op)

    def names_before(self, number: int) -> list[str]:
        """The loops at a line, outer before inner; lines above that are wrong are passed over."""
        from tdl.compiler.schedule.check import steps_at
        from tdl.compiler.schedule.walk import loops_of

        before, loops = self.before(number), self.state_before(number).loops
        applied = steps_at(before)
        labels = [] if applied is None else [each.label for each in loops_of(applied.nest.body)]
        named = ((label, loops.find(label)) for label in labels)
        return list(dict.fromkeys(each.name if isinstance(each, Named) else label for label, each in named))

    @cached_property
    def nests(self) -> tuple[Nest, ...]:
        """The loops before any line and after each; none where the schedule is not sound."""
        from tdl.compiler.schedule.check import steps_at

        applied = steps_at(self.schedule) if self.is_sound else None
        return () if applied is None else tuple(step.nest for step in applied.steps)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loops after all lines, outer before inner, each once."""
        from tdl.compiler.schedule.walk import loops_of

        if not self.nests:
            return ()
        return tuple({loop.symbol: loop for loop in loops_of(self.nests[-1].body)}.values())

    def name(self, loop: Loop) -> str:
        """What a line calls a loop that is there after all lines."""
        found = self.state.loops.find(loop.label)
        return found.name if isinstance(found, Named) and not found.is_open else loop.label

    def fresh(self, *names: str) -> list[str]:
        """Names like these that no loop, stage or value has behind the last line."""
        loops = self.state.loops
        taken = {each for loop in loops.live for each in (loop.name, loop.axis)} | set(self.state.scope.names)
        taken |= {stage.name for stage in loops.stages} | set(loops.inputs)
        found: list[str] = []
        for name in names:
            numbered = (name, *(f"{name}{number}" for number in range(2, 1000)))
            found.append(next(each for each in numbered if each not in taken))
            taken.add(found[-1])
        return found


def schedule_at(snapshot: Snapshot, offset: int) -> Subject | None:
    """The schedule that an offset is in."""
    entry = snapshot.entry_at(offset)
    return None if entry is None else subject_of(snapshot, entry)


def subject_of(snapshot: Snapshot, entry: Entry) -> Subject | None:
    """A schedule with its op; None for another item, and where there is no such op or something is wrong with it."""
    from tdl.language.check import check_op

    item = entry.placed.item
    if not isinstance(item, syntax.Schedule):
        return None
    op = entry.declaration.environment.find("callable", item.op.text)
    if op is None or not isinstance(op.item, syntax.Op) or not check_op(op).is_sound:
        return None
    return Subject(snapshot, entry, op)


def schedules_of(snapshot: Snapshot, op: Declaration) -> Iterator[Subject]:
    """The schedules of an op in a document."""
    for entry in snapshot.analysis.module.entries:
        if isinstance(entry.placed.item, syntax.Schedule):
            subject = subject_of(snapshot, entry)
            if subject is not None and subject.op == op:
                yield subject
