"""A schedule that is being written: each line goes to the prover, and is kept or left out.

    draft.line("vectorize Y.j by 16", "16 f32 fill a vector")     the draft with the line, or as it was
    draft.all(("split ...", ""), ("reorder ...", ""))             with all of them, or None

So whatever a planner tries, what is written is legal, and means the same when it is read as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.apply import Applied, apply_schedule
from tdl.compiler.schedule.tree import Loop, Nest
from tdl.compiler.schedule.walk import loops_of
from tdl.language import syntax
from tdl.language.forms import Symbol
from tdl.language.parse import parse_item
from tdl.language.scope import Declaration, Environment
from tdl.language.tree import Program


@dataclass(frozen=True)
class Written:
    """A line, and why it says what it says."""

    text: str
    reason: str = ""


@dataclass(frozen=True)
class Draft:
    """`sizes` are those that the program was bound to; `assumed` those, and guesses for sizes that are open."""

    op: Declaration
    program: Program
    sizes: Mapping[Symbol, int]
    assumed: Mapping[Symbol, int]
    lines: tuple[Written, ...] = ()
    body: tuple[syntax.ScheduleLine, ...] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The schedule as an item, without reasons."""
        lines = "".join(f"    {line.text}\n" for line in self.lines)
        return f"schedule {self.op.name} for cpu {{\n{lines}}}\n"

    @property
    def schedule(self) -> Declaration:
        """The schedule as if it stood beside the op."""
        item = parse_item(f"schedule {self.op.name} for cpu {{}}").item
        assert isinstance(item, syntax.Schedule)
        return _beside(self.op, replace(item, body=self.body), self.text)

    @property
    def applied(self) -> Applied:
        return apply_schedule(self.program, self.schedule, sizes=self.sizes)

    @property
    def nest(self) -> Nest:
        return self.applied.nest

    def line(self, text: str, reason: str = "") -> Draft:
        """The draft with a line, if it is legal."""
        return self.all((text, reason)) or self

    def all(self, *lines: tuple[str, str]) -> Draft | None:
        """The draft with lines that are all legal; else None."""
        draft = self
        for text, reason in lines:
            body = _line(self.op.name, text)
            if body is None:
                return None
            draft = replace(draft, lines=(*draft.lines, Written(text, reason)), body=(*draft.body, body))
            step = draft.applied.steps[-1]
            if step.refusal is not None:
                return None
        return draft

    def name(self, loop: Loop) -> str:
        """What a line calls a loop: its own name where a line made it and no other has it, else with its stage."""
        names = Counter(each.name for each in loops_of(self.nest.body))
        return loop.name if loop.line >= 0 and names[loop.name] == 1 else loop.label

    def loop(self, label: str) -> Loop | None:
        return next((each for each in loops_of(self.nest.body) if each.label == label), None)

    def free(self, *names: str) -> tuple[str, ...]:
        """Names like those given that nothing here has."""
        taken = {each.name for each in loops_of(self.nest.body)} | set(self.nest.tensors) | set(self.nest.stages)
        taken |= {symbol.name for symbol in self.assumed}
        count = 0
        while taken & {_numbered(name, count) for name in names}:
            count += 1
        return tuple(_numbered(name, count) for name in names)


def _numbered(name: str, count: int) -> str:
    return f"{name}{count}" if count else name


def _line(op: str, text: str) -> syntax.ScheduleLine | None:
    """A line as it is parsed."""
    parsed = parse_item(f"schedule {op} for cpu {{\n    {text}\n}}\n")
    if parsed.diagnostics or not isinstance(parsed.item, syntax.Schedule):
        return None
    return parsed.item.body[0]


def _beside(op: Declaration, item: syntax.Schedule, text: str) -> Declaration:
    from tdl.language.module import key_of

    environment = Environment({**op.environment.declarations, ("callable", op.name): op}, op.environment.broken)
    return Declaration(item, text, op.path, op.offset, key_of(text, environment), environment)
