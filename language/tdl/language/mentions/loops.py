"""Names of loops and stages in the lines of a schedule, part by part.

    split Y.sum.k by 8 -> ko, ki        Y is a tensor, sum a reducer, k the index of the op that is summed over
    unroll P.ki                         P is a copy that a line made, ki the loop of the first line

A loop carries what introduced it (an index of the op, or a name in the line that made it), so what a name means does
not depend on how it is spelt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tdl.language import syntax
from tdl.language.calls import REDUCER_NAMES
from tdl.language.mentions.data import Key, Meaning, Names, builtin
from tdl.language.mentions.reader import Reader
from tdl.language.schedules.loops import Loop, Several
from tdl.language.schedules.operands import State
from tdl.language.scope import Declaration
from tdl.language.source import Span


@dataclass
class LoopNames:
    """What names of loops and stages mean, for the op that `key` leads to; it is None in a tactic by itself.

    `tensors` and `indices` are the op's, `parameters` a tactic's. `made` holds the names that lines made so far, and
    `handed` those that an `apply` hands to the tactic being read, by identity: only these are in the text of the item.
    """

    reader: Reader
    op: Declaration | None = None
    key: Key | None = None
    tensors: Names = field(default_factory=dict)
    indices: tuple[Meaning, ...] = ()
    parameters: Names = field(default_factory=dict)
    made: dict[int, tuple[syntax.Name, Meaning]] = field(default_factory=dict)
    handed: dict[int, syntax.Name] = field(default_factory=dict)

    def is_here(self, name: syntax.Name, state: State) -> bool:
        """Whether a name is in the text of the item, and not in that of a tactic that it applies."""
        return not state.within or id(name) in self.handed

    def add(self, name: syntax.Name, meaning: Meaning | None, state: State) -> None:
        if self.is_here(name, state):
            self.reader.add(name, meaning)

    def make(self, name: syntax.Name, kind: Literal["loop", "copy"], state: State) -> None:
        if name.text in self.parameters:
            self.add(name, self.parameters[name.text], state)
            return
        is_own = self.is_here(name, state)
        via: tuple[Key, ...] = () if is_own else tuple(("tactic", each) for each in state.within)
        meaning = Meaning(kind, name.text, name.span, via)
        self.made[id(name)] = name, meaning
        if is_own:
            self.reader.add(name, meaning)

    def _made_by(self, name: syntax.Name) -> Meaning | None:
        found = self.made.get(id(name))
        return None if found is None else found[1]

    def loop(self, ref: syntax.Ref, state: State) -> bool:
        """The parts of a loop's name: its stage, and its axis. False where there is no such loop."""
        found = state.loops.find(ref.text)
        loops = found.loops if isinstance(found, Several) else () if found is None else (found,)
        if not loops:
            return self.stage(ref.parts[:-1], state)
        last = _axis_part(ref, loops[0])
        axis = ref.parts[last]
        if axis.text in self.parameters:
            self.add(axis, self.parameters[axis.text], state)
        else:
            for meaning in dict.fromkeys(each for loop in loops for each in self._over(loop)):
                self.add(axis, meaning, state)
        self.stage(ref.parts[:last], state)
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

    def stage(self, parts: tuple[syntax.Name, ...], state: State) -> bool:
        """The parts of a stage's name: its tensor, then an accumulator, if any."""
        if not parts:
            return False
        first, *others = parts
        stage = next((each for each in reversed(state.loops.stages) if each.name == first.text), None)
        made = stage.made if stage is not None else None
        meaning = self.parameters.get(first.text) or (
            self.tensors.get(first.text) if made is None else self._made_by(made)
        )
        self.add(first, meaning, state)
        for name in others:
            self._accumulator(name, state)
        return meaning is not None

    def _accumulator(self, name: syntax.Name, state: State) -> None:
        """The `sum1` of `Y.sum1.k`: a reducer, numbered where there are several."""
        text = name.text.rstrip("0123456789")
        short = syntax.Name(text, span=Span(name.span.start, name.span.start + len(text)))
        declaration = None if self.op is None else self.op.environment.find("callable", text)
        if name.text in self.parameters:
            self.add(name, self.parameters[name.text], state)
        elif declaration is not None and self.key is not None:
            key: Key = ("callable", text)
            self.add(short, Meaning("reducer", text, declaration.span, (self.key, key)), state)
        elif text in REDUCER_NAMES:
            self.add(short, builtin("reducer", text), state)


def _axis_part(ref: syntax.Ref, loop: Loop) -> int:
    """Which part of a loop's name is its axis: the last, before the number of a pack's loop and before `tail`."""
    last = len(ref.parts) - 1
    if last and loop.is_open and ref.parts[last].text.isdigit():
        last -= 1
    while last and loop.axis.endswith(".tail") and ref.parts[last].text == "tail":
        last -= 1
    return last
