"""Lenses above tests, benches, ops and schedules that run them or show what becomes of them.

test odd: relu(M=37)          run test | passed
bench big: matmul(M=1024 ...) run bench | 103.2 GFLOP/s, 81% of the machine's peak
op matmul(...)                loops | assembly | write a schedule
schedule nn.relu for cpu      loops | assembly         where the op is of another file
"""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types
from tdl.language import syntax
from tdl.language.module import Entry
from tdl.lsp.actions.writing import written_schedules
from tdl.lsp.outcomes import key_of
from tdl.lsp.snapshot import Snapshot, name_of


def run_lenses(snapshot: Snapshot) -> list[types.CodeLens]:
    """All lenses of commands, in order of place."""
    return [lens for entry in snapshot.analysis.module.entries for lens in _lenses(snapshot, entry)]


def _lenses(snapshot: Snapshot, entry: Entry) -> Iterator[types.CodeLens]:
    item = entry.placed.item
    name = _name(snapshot, item)
    if name is None:
        return
    place = snapshot.range(name.span.shifted(entry.placed.offset))
    what = {"uri": snapshot.document.uri, "name": name.text}
    match item:
        case syntax.Test() | syntax.Bench():
            word = "Test" if isinstance(item, syntax.Test) else "Bench"
            title = f"run {word.lower()}" + _last(snapshot, entry, name.text)
            yield types.CodeLens(place, types.Command(title, f"tdl.run{word}", arguments=[what]))
        case syntax.Op() | syntax.Schedule():
            for title, stage in (("loops", "nest"), ("assembly", "asm")):
                arguments = [{**what, "stage": stage}]
                yield types.CodeLens(place, types.Command(title, "tdl.showPlan", arguments=arguments))
            if isinstance(item, syntax.Op) and _can_be_written(snapshot, entry):
                yield types.CodeLens(place, types.Command("write a schedule", "tdl.writeSchedule", arguments=[what]))


def _name(snapshot: Snapshot, item: syntax.Item) -> syntax.Name | syntax.Ref | None:
    """The name that lenses stand at: also that of an op in a schedule, where the op is not in this file."""
    if isinstance(item, syntax.Schedule):
        op = snapshot.analysis.module.ops.get(item.op.text)
        return None if op is None or op.path == snapshot.source.path else item.op
    return name_of(item)


def _can_be_written(snapshot: Snapshot, entry: Entry) -> bool:
    """Whether an op has no schedule yet, and the client takes one from the server."""
    workspace = snapshot.client.workspace
    takes_edits = workspace is not None and bool(workspace.apply_edit)
    return takes_edits and next(written_schedules(snapshot, entry), None) is not None


def _last(snapshot: Snapshot, entry: Entry, name: str) -> str:
    """What the last run gave, if the program is still the one that ran."""
    outcome = snapshot.workspace.outcomes.last(snapshot.source.path, name)
    if outcome is None or outcome.key != key_of(entry.declaration, snapshot.analysis.module.schedules):
        return ""
    return f" · {outcome.words if outcome.is_good else 'failed'}"
