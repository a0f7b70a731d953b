"""Names in schedules and tactics, as the checker finds them: it reads the lines, and is watched.

    split C.i by 8 -> io, ii        C is a tensor of the op, i an index of it; io and ii are made here
    apply strips(C, j)              the arguments mean what the lines of the tactic take them for
    unroll C.io                     the io of the first line

In a tactic by itself, what is not a parameter or made by its lines has no meaning yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tdl.language import syntax
from tdl.language.check import check_op
from tdl.language.dtypes import DTYPES
from tdl.language.hardware import MEMORIES
from tdl.language.mentions.data import Key, Meaning, Names, builtin
from tdl.language.mentions.heads import TENSORS, names_of
from tdl.language.mentions.items import mentions, read_target
from tdl.language.mentions.loops import LoopNames
from tdl.language.mentions.reader import Reader
from tdl.language.report import Report
from tdl.language.schedules.lines import LINES, THREADS, ClauseForm
from tdl.language.schedules.operands import State
from tdl.language.schedules.reading import read_lines
from tdl.language.schedules.settings import sizes_of
from tdl.language.schedules.stages import loops_of, offered_loops
from tdl.language.schedules.tactics import state_of_tactic
from tdl.language.scope import Context, Scope


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
    tensors = {name: each for name, each in names.items() if each.kind in TENSORS}
    watch = _Watch(reader, LoopNames(reader, op, key, tensors, indices), values)
    scope = Scope(Context(Report(), reader.declaration.text), reader.declaration.environment, sizes_of(op))
    watch.read(item.body, State(scope, loops, dict.fromkeys(program.tensors)))


def read_tactic(item: syntax.Tactic, names: Names, reader: Reader) -> None:
    """Names in the head and lines of a tactic by itself."""
    reader.parameters(item.params, names)
    watch = _Watch(reader, LoopNames(reader, parameters=names), dict(names))
    watch.read(item.body, state_of_tactic(reader.declaration, Context(Report(), reader.declaration.text)))


@dataclass
class _Watch:
    """Is told of every line before it is read, also of those that an `apply` stands for.

    `values` holds what names of values mean, `unused` the arguments of tactics that stand for something else, each
    with what was known before its line.
    """

    reader: Reader
    names: LoopNames
    values: dict[str, Meaning]
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
                    self.names.make(name, "copy" if LINES[line.verb.text].effect == "factor" else "loop", state)
            case syntax.Knob(name, value, choices) if not state.within:
                self.reader.expression((value, choices), self.values)
                self._name(name, Meaning("knob", name.text, name.span))
            case syntax.LetValue(name, value) if not state.within:
                self.reader.expression(value, self.values)
                self._name(name, Meaning("value", name.text, name.span))
            case syntax.Require(fact) if not state.within:
                self.reader.expression(fact, self.values)

    # ---- names that lines make

    def _name(self, name: syntax.Name, meaning: Meaning) -> None:
        self.values[name.text] = meaning
        self.reader.add(name, meaning)

    # ---- what lines are applied to

    def _operands(self, line: syntax.Line, state: State) -> None:
        for operand in line.operands:
            match LINES[line.verb.text].operands, operand:
                case "loop" | "axis", syntax.Ref():
                    self.names.loop(operand, state)
                case "stage" | "tensor", syntax.Ref():
                    self.names.stage(operand.parts, state)
                case "storage", syntax.Call():
                    self._storage(operand, line, state)
                case "tactic", syntax.Call() if not state.within:
                    self._apply(operand, state)

    # ---- clauses

    def _clause(self, clause: syntax.Clause, row: ClauseForm, line: syntax.Line, state: State) -> None:
        for value in clause.values:
            match row.kind, value:
                case "loop", syntax.Ref():
                    self.names.loop(value, state)
                case "place", syntax.Ref():
                    if value.text == "root":
                        self.names.add(value.parts[0], builtin("place", "root"), state)
                    else:
                        self.names.loop(value, state)
                case "memory" | "intrinsic", syntax.Ref():
                    self._hardware(value, row.kind, state)
                case "name", syntax.Ref((name,)):
                    self.names.make(name, "copy", state)
                case "thread", syntax.Ref():
                    self._thread(value, state)
                case "order", _ if not isinstance(line.operands[0], syntax.Call):
                    self._order(value, state)
                case "factors" | "count" | "value", _ if not state.within:
                    self.reader.expression(value, self.values)

    def _hardware(self, ref: syntax.Ref, space: Literal["memory", "intrinsic"], state: State) -> bool:
        """A memory or intrinsic, which means in a tactic that is given it what it means outside."""
        if ref.text in self.names.parameters:
            self.names.add(ref.parts[0], self.names.parameters[ref.text], state)
        elif self.names.is_here(ref.parts[0], state):
            if self.reader.item(space, ref) is not None:
                return True
            if space == "memory" and ref.text in MEMORIES:
                self.reader.add(ref.parts[0], builtin("memory", ref.text))
                return True
        return False

    def _thread(self, ref: syntax.Ref, state: State) -> None:
        if ref.text in self.names.parameters:
            self.names.add(ref.parts[0], self.names.parameters[ref.text], state)
        elif ref.text in THREADS:
            name = syntax.Name(ref.text, span=ref.span)
            self.names.add(name if not state.within else ref.parts[0], builtin("thread", ref.text), state)

    def _order(self, value: syntax.Expr, state: State) -> None:
        """An item of `layout [ko, j, ki]`: a loop, or arithmetic on values."""
        if not isinstance(value, syntax.Ref):
            if not state.within:
                self.reader.expression(value, self.values)
        elif value.text in self.values or self.reader.declaration.environment.find("value", value.text):
            if not state.within:
                self.reader.value(value, self.values)
        else:
            self.names.loop(value, state)

    def _storage(self, storage: syntax.Call, line: syntax.Line, state: State) -> None:
        """`W(k, j) [k//16, j, k%16]`: the names of the dimensions are the line's own."""
        self.names.stage(storage.callee.parts, state)
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
                self.names.handed.update({id(part): part for part in value.parts})
                self.unused.append((value, before))
            else:
                self.reader.expression(value, self.values)

    def _is_value(self, ref: syntax.Ref) -> bool:
        is_known = self.reader.declaration.environment.find("value", ref.text) is not None
        return ref.text in self.values or ref.text in DTYPES or is_known

    def _argument(self, ref: syntax.Ref, state: State) -> None:
        """An argument that no line of the tactic takes for anything."""
        if not self.names.loop(ref, state) and not self.names.stage(ref.parts, state):
            _ = self._hardware(ref, "memory", state) or self._hardware(ref, "intrinsic", state)
