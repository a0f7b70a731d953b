"""Names in schedules and tactics, as the checker finds them: it reads the lines, and is watched.

    split C.i by 8 -> io, ii        C is a tensor of the op, i an index of it; io and ii are made here
    apply strips(C, j)              the arguments mean what the lines of the tactic take them for
    unroll C.io                     the io of the first line

A loop carries what introduced it (an index of the op, or a name in the line that made it), so what a name means does
not depend on how it is spelt. In a tactic by itself, what is not a parameter or made by its lines has no meaning yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tdl.language import syntax
from tdl.language.calls import REDUCER_NAMES
from tdl.language.check import check_op
from tdl.language.dtypes import DTYPES
from tdl.language.hardware import MEMORIES
from tdl.language.mentions.data import Key, Meaning, Names, builtin
from tdl.language.mentions.heads import TENSORS, names_of
from tdl.language.mentions.items import mentions, read_target
from tdl.language.mentions.reader import Reader
from tdl.language.report import Report
from tdl.language.schedules.lines import LINES, THREADS, ClauseForm
from tdl.language.schedules.loops import Loop, Several
from tdl.language.schedules.operands import State
from tdl.language.schedules.reading import read_lines
from tdl.language.schedules.settings import sizes_of
from tdl.language.schedules.stages import loops_of, offered_loops
from tdl.language.schedules.tactics import state_of_tactic
from tdl.language.scope import Context, Declaration, Scope
from tdl.language.source import Span


def read_schedule(item: syntax.Schedule, reader: Reader) -> None:
    """Names in the head, then in the lines. Of an op that is wrong, what could be built of it."""
    op = reader.item("callable", item.op)
    read_target(item.target, reader)
    if op is None or not isinstance(op.item, syntax.Op):
        return
    key: Key = ("callable", item.op.text)
    names = {name: each.through(key) for name, each in names_of(op).items()}
    values = {name: each for name, each in names.items() if each.kind not in TENSORS}
    reader.expression(item.condition, values)
    program = check_op(op).program
    loops = offered_loops(op) or loops_of(program).opened()
    indices = tuple(each.meaning for each in mentions(op) if each.access == "declare" and each.meaning.kind == "index")
    watch = _Watch(
        reader, op, key, values, {name: each for name, each in names.items() if each.kind in TENSORS}, indices
    )
    scope = Scope(Context(Report(), reader.declaration.text), reader.declaration.environment, sizes_of(op))
    watch.read(item.body, State(scope, loops, dict.fromkeys(program.tensors)))


def read_tactic(item: syntax.Tactic, names: Names, reader: Reader) -> None:
    """Names in the head and lines of a tactic by itself."""
    reader.parameters(item.params, names)
    watch = _Watch(reader, None, None, dict(names), {}, (), parameters=names)
    watch.read(item.body, state_of_tactic(reader.declaration, Context(Report(), reader.declaration.text)))


@dataclass
class _Watch:
    """Is told of every line before it is read, also of those that an `apply` stands for.

    Of these only the names that the `apply` hands over are in this text; `handed` holds them, by identity.
    """

    reader: Reader
    op: Declaration | None
    key: Key | None
    values: dict[str, Meaning]
    tensors: Names
    indices: tuple[Meaning, ...]
    parameters: Names = field(default_factory=dict)
    made: dict[int, tuple[syntax.Name, Meaning]] = field(default_factory=dict)
    handed: dict[int, syntax.Name] = field(default_factory=dict)
    unused: list[tuple[syntax.Ref, State]] = field(default_factory=list)

    def read(self, body: tuple[syntax.ScheduleLine, ...], state: State) -> None:
        state.watch = self.line
        read_lines(body, state)
        known = {each.span for each in self.reader.found}
        for ref, before in self.unused:
            if ref.parts[-1].span not in known:
                self._argument(ref, before)

    def line(self, line: syntax.ScheduleLine, state: State) -> None:
        match line:
            case syntax.Line():
                self._operands(line, state)
                for clause in line.clauses:
                    row = LINES[line.verb.text].clause(clause.keyword.text)
                    if row is not None:
                        self._clause(clause, row, line, state)
                for name in line.results:
                    self._make(name, "copy" if LINES[line.verb.text].effect == "factor" else "loop", state)
            case syntax.Knob(name, value, choices) if not state.within:
                self.reader.expression((value, choices), self.values)
                self._name(name, Meaning("knob", name.text, name.span))
            case syntax.LetValue(name, value) if not state.within:
                self.reader.expression(value, self.values)
                self._name(name, Meaning("value", name.text, name.span))
            case syntax.Require(fact) if not state.within:
                self.reader.expression(fact, self.values)

    def _add(self, name: syntax.Name, meaning: Meaning | None, state: State) -> None:
        if not state.within or id(name) in self.handed:
            self.reader.add(name, meaning)

    # ---- names that lines make

    def _name(self, name: syntax.Name, meaning: Meaning) -> None:
        self.values[name.text] = meaning
        self.reader.add(name, meaning)

    def _make(self, name: syntax.Name, kind: Literal["loop", "copy"], state: State) -> None:
        if name.text in self.parameters:
            self._add(name, self.parameters[name.text], state)
            return
        is_own = not state.within or id(name) in self.handed
        via: tuple[Key, ...] = () if is_own else tuple(("tactic", each) for each in state.within)
        meaning = Meaning(kind, name.text, name.span, via)
        self.made[id(name)] = name, meaning
        if is_own:
            self.reader.add(name, meaning)

    def _made_by(self, name: syntax.Name) -> Meaning | None:
        found = self.made.get(id(name))
        return None if found is None else found[1]

    # ---- what lines are applied to

    def _operands(self, line: syntax.Line, state: State) -> None:
        for operand in line.operands:
            match LINES[line.verb.text].operands, operand:
                case "loop" | "axis", syntax.Ref():
                    self._loop(operand, state)
                case "stage" | "tensor", syntax.Ref():
                    self._stage(operand.parts, state)
                case "storage", syntax.Call():
                    self._storage(operand, line, state)
                case "tactic", syntax.Call() if not state.within:
                    self._apply(operand, state)

    def _loop(self, ref: syntax.Ref, state: State) -> bool:
        """The parts of a loop's name: its stage, and its axis. False where there is no such loop."""
        found = state.loops.find(ref.text)
        loops = found.loops if isinstance(found, Several) else () if found is None else (found,)
        if not loops:
            return self._stage(ref.parts[:-1], state)
        last = _axis_part(ref, loops[0])
        axis = ref.parts[last]
        if axis.text in self.parameters:
            self._add(axis, self.parameters[axis.text], state)
        else:
            for meaning in dict.fromkeys(each for loop in loops for each in self._over(loop)):
                self._add(axis, meaning, state)
        self._stage(ref.parts[:last], state)
        return True

    def _over(self, loop: Loop) -> Iterator[Meaning]:
        """What a loop runs over, under the name that introduced it."""
        if loop.made is not None:
            made = self._made_by(loop.made)
            yield from () if made is None else (made,)
        else:
            found = (self._index(span) for span in loop.indices)
            yield from (each for each in found if each is not None)

    def _index(self, binder: Span) -> Meaning | None:
        """The index that `k in 0..K` introduces: of the names introduced there, the first."""
        inside = (each for each in self.indices if binder.start <= each.span.start < binder.end)
        return next((each.through(self.key) for each in inside if self.key is not None), None)

    def _stage(self, parts: tuple[syntax.Name, ...], state: State) -> bool:
        """The parts of a stage's name: its tensor, then an accumulator, if any."""
        if not parts:
            return False
        first, *others = parts
        stage = next((each for each in reversed(state.loops.stages) if each.name == first.text), None)
        made = stage.made if stage is not None else None
        meaning = self.parameters.get(first.text) or (
            self.tensors.get(first.text) if made is None else self._made_by(made)
        )
        self._add(first, meaning, state)
        for name in others:
            self._accumulator(name, state)
        return meaning is not None

    def _accumulator(self, name: syntax.Name, state: State) -> None:
        """The `sum1` of `Y.sum1.k`: a reducer, numbered where there are several."""
        text = name.text.rstrip("0123456789")
        short = syntax.Name(text, span=Span(name.span.start, name.span.start + len(text)))
        declaration = None if self.op is None else self.op.environment.find("callable", text)
        if name.text in self.parameters:
            self._add(name, self.parameters[name.text], state)
        elif declaration is not None and self.key is not None:
            key: Key = ("callable", text)
            self._add(short, Meaning("reducer", text, declaration.span, (self.key, key)), state)
        elif text in REDUCER_NAMES:
            self._add(short, builtin("reducer", text), state)

    # ---- clauses

    def _clause(self, clause: syntax.Clause, row: ClauseForm, line: syntax.Line, state: State) -> None:
        for value in clause.values:
            match row.kind, value:
                case "loop", syntax.Ref():
                    self._loop(value, state)
                case "place", syntax.Ref():
                    if value.text == "root":
                        self._add(value.parts[0], builtin("place", "root"), state)
                    else:
                        self._loop(value, state)
                case "memory" | "intrinsic", syntax.Ref():
                    self._hardware(value, row.kind, state)
                case "name", syntax.Ref((name,)):
                    self._make(name, "copy", state)
                case "thread", syntax.Ref():
                    self._thread(value, state)
                case "order", _ if not isinstance(line.operands[0], syntax.Call):
                    self._order(value, state)
                case "factors" | "count" | "value", _ if not state.within:
                    self.reader.expression(value, self.values)

    def _hardware(self, ref: syntax.Ref, space: Literal["memory", "intrinsic"], state: State) -> bool:
        """A memory or intrinsic, which means in a tactic that is given it what it means outside."""
        if ref.text in self.parameters:
            self._add(ref.parts[0], self.parameters[ref.text], state)
        elif not state.within or id(ref.parts[0]) in self.handed:
            if self.reader.item(space, ref) is not None:
                return True
            if space == "memory" and ref.text in MEMORIES:
                self.reader.add(ref.parts[0], builtin("memory", ref.text))
                return True
        return False

    def _thread(self, ref: syntax.Ref, state: State) -> None:
        if ref.text in self.parameters:
            self._add(ref.parts[0], self.parameters[ref.text], state)
        elif ref.text in THREADS:
            name = syntax.Name(ref.text, span=ref.span)
            self._add(name if not state.within else ref.parts[0], builtin("thread", ref.text), state)

    def _order(self, value: syntax.Expr, state: State) -> None:
        """An item of `layout [ko, j, ki]`: a loop, or arithmetic on values."""
        if not isinstance(value, syntax.Ref):
            if not state.within:
                self.reader.expression(value, self.values)
        elif value.text in self.values or self.reader.declaration.environment.find("value", value.text):
            if not state.within:
                self.reader.value(value, self.values)
        else:
            self._loop(value, state)

    def _storage(self, storage: syntax.Call, line: syntax.Line, state: State) -> None:
        """`W(k, j) [k//16, j, k%16]`: the names of the dimensions are the line's own."""
        self._stage(storage.callee.parts, state)
        if state.within:
            return
        own = {
            name.text: Meaning("index", name.text, name.span)
            for argument in storage.args
            if isinstance(argument.value, syntax.Ref)
            for name in argument.value.parts[:1]
        }
        for each in own.values():
            self.reader.add(syntax.Name(each.name, span=each.span), each)
        for clause in line.clauses:
            if clause.keyword.text == "layout":
                self.reader.expression(clause.values, {**self.values, **own})

    # ---- tactics

    def _apply(self, call: syntax.Call, state: State) -> None:
        """`apply t(Y, i, n=8)`: values mean what they do here; any other name, what the tactic takes it for."""
        declaration = self.reader.item("tactic", call.callee)
        formals = {} if declaration is None else names_of(declaration)
        before = State(state.scope, state.loops, state.ranks)
        for argument in call.args:
            name, value = argument.name, argument.value
            if name is not None and name.text in formals:
                self.reader.add(name, formals[name.text].through(("tactic", call.callee.text)))
            if isinstance(value, syntax.Ref) and not self._is_value(value):
                self.handed.update({id(part): part for part in value.parts})
                self.unused.append((value, before))
            else:
                self.reader.expression(value, self.values)

    def _is_value(self, ref: syntax.Ref) -> bool:
        is_known = self.reader.declaration.environment.find("value", ref.text) is not None
        return ref.text in self.values or ref.text in DTYPES or is_known

    def _argument(self, ref: syntax.Ref, state: State) -> None:
        """An argument that no line of the tactic takes for anything."""
        if not self._loop(ref, state) and not self._stage(ref.parts, state):
            _ = self._hardware(ref, "memory", state) or self._hardware(ref, "intrinsic", state)


def _axis_part(ref: syntax.Ref, loop: Loop) -> int:
    """Which part of a loop's name is its axis: the last, before the number of a pack's loop and before `tail`."""
    last = len(ref.parts) - 1
    if last and loop.is_open and ref.parts[last].text.isdigit():
        last -= 1
    while last and loop.axis.endswith(".tail") and ref.parts[last].text == "tail":
        last -= 1
    return last
