"""A nest as text: what a person reads to see what a schedule did.

    parallel for jp in 0..ceil(N / 128)
        for ko in 0..1
            ...
                C[i, j] += A[i, k] * B[k, j]

Forms are shown in the loops' short names where these are unique. Each line knows the schedule line that made it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tdl.compiler.schedule.calls import invocation
from tdl.compiler.schedule.initial import SUFFIX
from tdl.compiler.schedule.names import index_name
from tdl.compiler.schedule.operands import Operand
from tdl.compiler.schedule.statements import statement_text
from tdl.compiler.schedule.text import expr_text, form_text, not_negative_text
from tdl.compiler.schedule.touches import rewritten
from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Nest, Node
from tdl.compiler.schedule.walk import Path, loops_of
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.source import Span


@dataclass(frozen=True, slots=True)
class Line:
    """A line of print. `line` is the schedule line behind it (-1: none), `span` the program text it comes from.

    `node` is the loop that begins here, the loop that is a call here, or the buffer.
    """

    text: str
    line: int = -1
    span: Span | None = None
    loop: str | None = None
    definition: int = -1
    node: Loop | Buffer | None = None


def print_nest(nest: Nest) -> str:
    """The nest as text."""
    return "\n".join(line.text for line in nest_lines(nest))


def nest_lines(nest: Nest) -> list[Line]:
    """The nest, a line at a time."""
    printer = _Printer(nest)
    return [*printer.buffers(None, 0), *printer.nodes(nest.body, 0)]


def buffer_text(nest: Nest, buffer: Buffer) -> str:
    """Storage as it is printed."""
    return _Printer(nest).buffer_text(buffer)


class _Printer:
    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.shown = short_names(nest)

    def nodes(self, nodes: tuple[Node, ...], depth: int) -> Iterator[Line]:
        for node in nodes:
            match node:
                case Loop() if node.intrinsic is not None:
                    yield from self._call(node, depth)
                case Loop():
                    yield self._loop(node, depth)
                    yield from self.buffers(node.symbol, depth + 1)
                    yield from self.nodes(node.body, depth + 1)
                case Leaf():
                    yield from self._leaf(node, depth)

    def buffers(self, at: Symbol | None, depth: int) -> Iterator[Line]:
        for buffer in self.nest.buffers.values():
            if buffer.at == at and buffer.memory != "global" and (at is not None or buffer.line >= 0):
                yield self._buffer(buffer, depth)
        for hint in self.nest.hints:
            if hint.kind == "prefetch" and hint.loop == at:
                text = f"prefetch {hint.tensor} for {self.shown[at]} + {hint.ahead}" if at is not None else ""
                yield Line("    " * depth + text, hint.line)

    def _buffer(self, buffer: Buffer, depth: int) -> Line:
        return Line("    " * depth + self.buffer_text(buffer), buffer.line, node=buffer)

    def buffer_text(self, buffer: Buffer) -> str:
        """`register Cr: f32[6, 64]`."""
        tensor = self.nest.tensors[buffer.tensor]
        extents = ", ".join(map(self.form, buffer.extents))
        shape = f"[{extents}]" if extents else ""
        rings = "".join(f" axis {axis} in a ring of {count}" for axis, count in buffer.ring)
        twice = " twice" if self._has("double_buffer", buffer.tensor) else ""
        shape = f"{shape}{self._layout(buffer)}{rings}{twice}"
        return f"{buffer.memory} {buffer.tensor}: {tensor.dtype}{shape}"

    def _has(self, kind: str, tensor: str) -> bool:
        return any(hint.kind == kind and hint.tensor == tensor for hint in self.nest.hints)

    def _layout(self, buffer: Buffer) -> str:
        """The order of elements, where it is another than row by row, in the indices of what fills the buffer."""
        if buffer.layout is None:
            return ""
        stage = self.nest.stages.get(buffer.tensor)
        own = () if stage is None or len(stage.indices) != len(buffer.extents) else stage.indices
        names = {Symbol(str(axis), "index"): index_name(binder.index) for axis, binder in enumerate(own)}
        values = {axis: forms.symbol(Symbol(name, "index")) for axis, name in names.items()}
        return f" layout [{', '.join(form_text(forms.substitute(form, values)) for form in buffer.layout)}]"

    def _loop(self, loop: Loop, depth: int) -> Line:
        kind = "" if loop.kind == "serial" else f"{loop.kind} "
        ends = f"{self.form(loop.lo, 5)}..{self.form(loop.hi, 5)}"
        order = " descending" if loop.descending else ""
        text = f"{'    ' * depth}{kind}for {self.shown[loop.symbol]} in {ends}{order}"
        stage = self.nest.stages.get(loop.stage)
        made_by = (None, -1) if stage is None else (stage.span, stage.definition)
        label = None if loop.stage.endswith(SUFFIX) else loop.label
        return Line(text, loop.line, made_by[0], label, made_by[1], loop)

    def _call(self, loop: Loop, depth: int) -> Iterator[Line]:
        """A tensorized loop: `C[j..j + 16] = dot(A[k..k + 4], B[k..k + 4, j..j + 16], C[j..j + 16])`."""
        call = invocation(self.nest, loop)
        stage = self.nest.stages[call.leaf.stage]
        begin = {each.symbol: each.lo for each in loops_of((loop,))}
        at = tuple((own, forms.substitute(form, begin)) for own, form in call.leaf.at)
        values, named = self._own_indices(replace(call.leaf, at=at))
        if named:
            left, right = ", ".join(named), ", ".join(map(form_text, named.values()))
            yield Line(f"{'    ' * depth}{left} = {right}", -1, stage.span, definition=stage.definition)
        inputs = ", ".join(_part(each, values) for each in call.inputs)
        text = f"{'    ' * depth}{_part(call.output, values)} = {call.intrinsic.name}({inputs})"
        yield Line(text, loop.line, stage.span, loop.label, stage.definition, loop)

    def _leaf(self, leaf: Leaf, depth: int) -> Iterator[Line]:
        stage = self.nest.stages[leaf.stage]
        conditions = [not_negative_text(forms.substitute(guard, self._short())) for guard in leaf.guards]
        values, named = self._own_indices(leaf)
        if named:
            left, right = ", ".join(named), ", ".join(map(form_text, named.values()))
            yield Line(f"{'    ' * depth}{left} = {right}", -1, stage.span, definition=stage.definition)
        given = [condition for condition in (stage.domain, stage.filter) if condition is not None]
        conditions += [expr_text(rewritten(condition, values), 3) for condition in given]
        if conditions:
            text = f"{'    ' * depth}if {' and '.join(conditions)}"
            yield Line(text, -1, stage.span, definition=stage.definition)
            depth += 1
        through = dict(leaf.through)
        streamed = any(self._has("stream", through.get(each.tensor, each.tensor)) for each in stage.writes)
        text = f"{'    ' * depth}{'stream ' if streamed else ''}{statement_text(stage, values, through)}"
        yield Line(text, -1, stage.span, definition=stage.definition)

    def _own_indices(self, leaf: Leaf) -> tuple[dict[Symbol, Form], dict[str, Form]]:
        """What the stage's own indices are called in its statement, and which of these names stand for which forms.

        An index that is a loop is called like the loop. So is one in which there is no more than that to see, and one
        whose name a loop around has.
        """
        values = {own: forms.substitute(form, self._short()) for own, form in leaf.at}
        taken = {symbol.name for form in values.values() for symbol in form.symbols()}
        named: dict[str, Form] = {}
        for own, form in values.items():
            name = index_name(own)
            if len(form.terms) > 1 and name not in taken and name not in named:
                named[name] = form
                values[own] = forms.symbol(Symbol(name, "index"))
        return values, named

    def _short(self) -> dict[Symbol, Form]:
        return {symbol: forms.symbol(Symbol(name, "index")) for symbol, name in self.shown.items()}

    def form(self, form: Form, above: int = 0) -> str:
        return form_text(forms.substitute(form, self._short()), above)


def short_names(nest: Nest) -> dict[Symbol, str]:
    """What each loop is called in print: its name, with its stage where a loop around it or in it has that name too.

    Loops of an initialisation are copies, which nobody names; they are called as the loops that they are copies of.
    """
    shown: dict[Symbol, str] = {}

    def visit(nodes: tuple[Node, ...], around: Path) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                shown.setdefault(node.symbol, node.name)
                for other in around:
                    if other.name == node.name:
                        shown[other.symbol], shown[node.symbol] = other.label, node.label
                visit(node.body, (*around, node))

    visit(nest.body, ())
    return {symbol: name.replace(SUFFIX, "") for symbol, name in shown.items()}


def _part(operand: Operand, values: Mapping[Symbol, Form]) -> str:
    """The part of a tensor that an operand is: on each axis, from its least to its greatest element."""
    texts = []
    for axis, written in enumerate(operand.written):
        steps = [step[axis] for step in operand.steps]
        start = forms.substitute(written, values)
        low, high = start + min(steps), start + max(steps)
        texts.append(form_text(low) if low == high else f"{form_text(low, 5)}..{form_text(high + 1, 5)}")
    return f"{operand.tensor}[{', '.join(texts)}]" if texts else operand.tensor
