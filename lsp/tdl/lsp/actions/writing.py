"""A first schedule of an op that has none, of the standard tactics that have its shape.

op mm(...) ... { C[i, j] = sum(A[i, k] * B[k, j] for k) }

schedule mm for cpu {
    apply matrix_product(C, i, j, k, B)
}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tdl.language import syntax, tree
from tdl.language.check import check_op
from tdl.language.dtypes import DType
from tdl.language.module import Entry
from tdl.language.schedules.stages import reductions_of
from tdl.language.source import Span
from tdl.lsp.actions.candidate import REWRITE, Candidate, Choice, Edit, line_end
from tdl.lsp.actions.imports import import_of
from tdl.lsp.asking import Asking, first_legal
from tdl.lsp.snapshot import Snapshot

_MODULE = "std.tactics"
_VECTOR = 64
"""Bytes."""
_LANES = 16
"""What the tactics take where nothing is said."""


@dataclass(frozen=True)
class _Stage:
    """A tensor with one definition: its own indices, the last that it is summed over, and how many fill a vector."""

    tensor: str
    indices: tuple[str, ...]
    summed: str | None
    definition: tree.Definition
    lanes: int

    @property
    def more(self) -> str:
        """The argument that says how wide vectors are, where that is not the usual."""
        return "" if self.lanes == _LANES else f", lanes={self.lanes}"


def written_schedules(snapshot: Snapshot, entry: Entry) -> Iterator[Choice]:
    """Schedules of an op of this document that has none; nothing for other items."""
    op, item = entry.declaration, entry.placed.item
    if not isinstance(item, syntax.Op) or not check_op(op).is_sound:
        return
    if any(_is_of(schedule, item.name.text) for schedule in snapshot.analysis.module.schedules):
        return
    program = check_op(op).program
    stages = list(_stages(program))
    for tactic, ways in (("matrix_product", _products(stages)), ("two_stage_stencil", _stencils(stages, program))):
        title = f"write a schedule of `{item.name.text}` with `{tactic}`"
        yield tuple(_candidate("write", title, snapshot, entry, [line]) for line in ways)
    lines = {stage.tensor: _simple(stage) for stage in stages if stage.indices or stage.summed}
    of_outputs = [line for tensor, line in lines.items() if tensor in program.outputs]
    title = f"write a schedule of `{item.name.text}`: vectors, and rows in parallel"
    yield tuple(
        _candidate("write:simple", title, snapshot, entry, each) for each in (list(lines.values()), of_outputs) if each
    )
    title = f"write an empty schedule of `{item.name.text}`: loops as they are defined"
    yield (_candidate("write:empty", title, snapshot, entry, []),)


def first_schedule(snapshot: Snapshot, op: str) -> Asking[Candidate | None]:
    """The one that fits an op best; None where it has one already, and where there is no such op."""
    for entry in snapshot.analysis.module.entries:
        item = entry.placed.item
        if isinstance(item, syntax.Op) and item.name.text == op:
            for choice in written_schedules(snapshot, entry):
                for candidate in (yield from first_legal(choice)):
                    return candidate
    return None


def _is_of(schedule: object, name: str) -> bool:
    item = getattr(schedule, "item", None)
    return isinstance(item, syntax.Schedule) and item.op.text == name


def _stages(program: tree.Program) -> Iterator[_Stage]:
    """The tensors that a tactic can be applied to, in order of definition."""
    for definition in program.definitions:
        target = definition.targets[0]
        names = tuple(each.symbol.name for each in target.coordinates if each.symbol is not None)
        is_alone = sum(target.tensor in {each.tensor for each in one.targets} for one in program.definitions) == 1
        if is_alone and len(definition.targets) == 1 and not any("." in name for name in names):
            summed = [binder.index.name for reduce in reductions_of(definition) for binder in reduce.binders]
            dtype = program.tensors[target.tensor].dtype
            lanes = _VECTOR // dtype.bytes if isinstance(dtype, DType) else _LANES
            yield _Stage(target.tensor, names, summed[-1].partition(".")[0] if summed else None, definition, lanes)


def _products(stages: list[_Stage]) -> Iterator[str]:
    """`matrix_product` for sums over products with an operand that lies along the last index."""
    for stage in stages:
        if stage.summed is not None and len(stage.indices) >= 2:
            i, j = stage.indices[-2:]
            for operand in _read_along(stage, j):
                yield f"apply matrix_product({stage.tensor}, {i}, {j}, {stage.summed}, {operand}{stage.more})"


def _read_along(stage: _Stage, index: str) -> Iterator[str]:
    """What is read at an index and the summed one."""
    for reduce in reductions_of(stage.definition):
        for node in tree.walk(reduce):
            if isinstance(node, tree.Access):
                named = {symbol.name.partition(".")[0] for form in node.subscripts for symbol in form.symbols()}
                if {index, stage.summed} <= named:
                    yield node.tensor


def _stencils(stages: list[_Stage], program: tree.Program) -> Iterator[str]:
    """`two_stage_stencil` for an output and what it is made of, over the same two indices."""
    for last in stages:
        for first in stages:
            is_pair = first.tensor not in program.outputs and last.tensor in program.outputs
            is_plain = first.summed is None and last.summed is None and len(last.indices) == 2
            if is_pair and is_plain and first.indices == last.indices:
                names = ", ".join((last.tensor, first.tensor, *last.indices))
                for window in ("", ", window=8", ", window=16", ", window=2"):
                    yield f"apply two_stage_stencil({names}{window}{last.more})"


def _simple(stage: _Stage) -> str:
    """One line that makes vectors of a stage, with its rows in parallel if it has any."""
    if stage.summed is not None:
        if stage.indices:
            return f"apply row_reduction({stage.tensor}, {stage.indices[0]}, {stage.summed}{stage.more})"
        return f"apply reduction({stage.tensor}, {stage.summed}{stage.more})"
    if len(stage.indices) >= 2:
        return f"apply elementwise({stage.tensor}, {stage.indices[0]}, {stage.indices[-1]}{stage.more})"
    return f"vectorize {stage.tensor}.{stage.indices[0]} by {stage.lanes}"


def _candidate(id: str, title: str, snapshot: Snapshot, entry: Entry, lines: list[str]) -> Candidate:
    """The schedule below the op, with what it needs imported."""
    item, newline = entry.placed.item, line_end(snapshot.source.text)
    assert isinstance(item, syntax.Op)
    end = entry.placed.offset + item.span.end
    body = "".join(f"{newline}    {line}" for line in lines)
    schedule = Edit(Span(end, end), f"{newline}{newline}schedule {item.name.text} for cpu {{{body}{newline}}}")
    tactics = dict.fromkeys(line.split()[1].partition("(")[0] for line in lines if line.startswith("apply "))
    missing = [name for name in tactics if snapshot.analysis.module.find("tactic", name) is None]
    imports = (import_of(snapshot, _MODULE, *missing),) if missing else ()
    return Candidate(id, title, REWRITE, (*imports, schedule))
