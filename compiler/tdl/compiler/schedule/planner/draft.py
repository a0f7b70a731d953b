"""A schedule that is being written: each line goes to the prover, and is kept or left out.

    draft.line("vectorize Y.j by 16", "16 f32 fill a vector")              the draft with the line, or as it was
    draft.must("split ...").must("reorder ...").otherwise(draft)           with both of them, or as it was

So whatever a planner tries, what is written is legal, and means the same when it is read as text.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.apply import Applied, apply_schedule
from tdl.compiler.schedule.planner.shapes import extent
from tdl.compiler.schedule.tree import Loop, Nest
from tdl.compiler.schedule.walk import loops_of, path_to
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
    is_refused: bool = False

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
        return self.must(text, reason).otherwise(self)

    def must(self, text: str, reason: str = "") -> Draft:
        """The draft with a line that the next ones need; where it is refused, they are as well."""
        body = None if self.is_refused else _line(self.op.name, text)
        if body is None:
            return replace(self, is_refused=True)
        draft = replace(self, lines=(*self.lines, Written(text, reason)), body=(*self.body, body))
        return draft if draft.applied.steps[-1].refusal is None else replace(self, is_refused=True)

    def otherwise(self, other: Draft) -> Draft:
        """This draft, or another where a line that it needs was refused."""
        return other if self.is_refused else self

    def name(self, loop: Loop) -> str:
        """What a line calls a loop: its own name where a line made it and no other has it, else with its stage."""
        names = Counter(each.name for each in loops_of(self.nest.body))
        return loop.name if loop.line >= 0 and names[loop.name] == 1 else loop.label

    def loop(self, label: str) -> Loop | None:
        return next((each for each in loops_of(self.nest.body) if each.label == label), None)

    def called(self, label: str) -> str:
        """The same, of the loop with a label."""
        loop = self.loop(label)
        return label if loop is None else self.name(loop)

    def extent(self, label: str) -> int:
        """How often the loop with a label runs, at the sizes that are assumed."""
        loop = self.loop(label)
        return 1 if loop is None else extent(loop, path_to(self.nest.body, loop.symbol), self.assumed)

    def free(self, *names: str) -> tuple[str, ...]:
        """Names like those given that nothing here has, and that are no reserved words: `o` and `r` make `or1`."""
        taken = {each.name for each in loops_of(self.nest.body)} | set(self.nest.tensors) | set(self.nest.stages)
        taken |= {symbol.name for symbol in self.assumed}
        for count in itertools.count():
            found = tuple(f"{name}{count or ''}" for name in names)
            if not taken & set(found) and all(_line(self.op.name, f"unroll {each}") for each in found):
                return found
        raise AssertionError  # one of all numbers is free


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
