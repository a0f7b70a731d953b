"""The loops and stages that the lines of a schedule can name, and what becomes of the names line by line.

    C[i, j] = sum(A[i, k] * B[k, j] for k)       offers C.i, C.j and C.k
    split C.i by 8 -> io, ii                     offers io, ii, C.j and C.k

Only names are kept here: not the order of loops, their extents, or whether a line may be applied. Where a name can be
settled only by more than that, it is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tdl.language import syntax
from tdl.language.source import Span


@dataclass(frozen=True, slots=True)
class Fate:
    """What a line made of a loop or stage: "`C.i` was `past` `io`, `ii`"."""

    past: str
    children: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop under all names that it answers to. `name` is the one shown, `axis` its last part.

    It runs over what the op's text introduces at `indices` (several where definitions share it), or over what a line
    `made` under a name of its own. An `is_open` loop stands for an unknown number of loops (those of a pack): it
    answers to `Y.i.0` too, and stays. One that `has_double` runs over what another loop has first, and is never meant
    by its axis alone.
    """

    name: str
    stage: str
    axis: str
    spellings: frozenset[str]
    is_reduction: bool = False
    is_open: bool = False
    has_double: bool = False
    fate: Fate | None = None
    indices: tuple[Span, ...] = ()
    made: syntax.Name | None = None

    def answers_to(self, spelling: str) -> bool:
        if spelling in self.spellings:
            return True
        head, _, last = spelling.rpartition(".")
        return self.is_open and last.isdigit() and head in self.spellings


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Something computed: a tensor, one of its definitions, an accumulator, a copy. An `is_open` one has any loops.

    `made` is its name in the line that made it.
    """

    name: str
    tensor: str
    can_vanish: bool = False
    is_open: bool = False
    fate: Fate | None = None
    made: syntax.Name | None = None


@dataclass(frozen=True, slots=True)
class Several:
    """A name that more than one loop answers to."""

    loops: tuple[Loop, ...]


@dataclass(frozen=True)
class Loops:
    """All loops, those gone included. `is_open` accepts every unknown name (in a tactic, or below a broken line)."""

    loops: tuple[Loop, ...] = ()
    stages: tuple[Stage, ...] = ()
    inputs: tuple[str, ...] = ()
    is_open: bool = False

    # ---- asking

    @property
    def live(self) -> list[Loop]:
        return [loop for loop in self.loops if loop.fate is None]

    def find(self, spelling: str) -> Loop | Several | None:
        """The loop of that name, also one that is gone. An axis alone will do where only one loop has it."""
        exact = [loop for loop in self.loops if loop.answers_to(spelling)]
        for candidates in (exact, self._by_axis(spelling)):
            live = [loop for loop in candidates if loop.fate is None]
            if len(live) == 1:
                return live[0]
            if live:
                return Several(tuple(live))
            if candidates:
                return candidates[-1]
        return self._open_loop(spelling)

    def _by_axis(self, axis: str) -> list[Loop]:
        """Loops that an axis alone may mean; of several definitions of one tensor, those that its short name means."""
        found = [loop for loop in self.loops if loop.axis == axis and not loop.has_double and not self.is_open]
        tensors = {loop.stage.partition(".")[0] for loop in found}
        if len(found) > 1 and len(tensors) == 1:
            short = f"{tensors.pop()}.{axis}"
            return [loop for loop in self.loops if loop.answers_to(short)] or found
        return found

    def _open_loop(self, spelling: str) -> Loop | None:
        head, _, axis = _parted(spelling)[0].rpartition(".")
        stage = self.stage(head.removesuffix(".out")) if head else None
        if self.is_open or (stage is not None and stage.is_open):
            return Loop(spelling, head, axis, frozenset({spelling}))
        return None

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, also one that is gone."""
        found = [stage for stage in self.stages if stage.name == name]
        if found:
            return found[-1]
        if any(spelling.startswith(f"{name}.") for loop in self.live for spelling in loop.spellings):
            return Stage(name, name)
        return Stage(name, name, is_open=True) if self.is_open and name not in self.inputs else None

    def loops_of(self, stage: str) -> list[Loop]:
        return [loop for loop in self.live if loop.stage == stage]

    def has_loop(self, name: str) -> bool:
        """Whether a loop that is still there was given this name."""
        return any(loop.name == name for loop in self.live)

    def has_stage(self, name: str) -> bool:
        """Whether a tensor or copy has this name."""
        return name in self.inputs or any(stage.name == name for stage in self.stages)

    # ---- changing

    def replaced(self, gone: Iterable[Loop], names: Iterable[syntax.Name], past: str) -> Loops:
        """New loops in the place of others."""
        gone, names = tuple(gone), tuple(names)
        stage = gone[0].stage if gone else ""
        homes = self._homes(gone[0]) if gone else []
        is_reduction = any(loop.is_reduction for loop in gone)
        made = tuple(
            Loop(text, stage, text, frozenset({text, *(f"{home}.{text}" for home in homes)}), is_reduction, made=name)
            for name in names
            for text in (name.text,)
        )
        return self._gone(gone, Fate(past, tuple(name.text for name in names)))._with(made)

    def _homes(self, loop: Loop) -> list[str]:
        """The stages that a loop may be in: any definition of its tensor, where its short name is not settled."""
        numbered = [each.name for each in self.stages if each.name.rpartition(".")[0] == loop.stage]
        known = {spelling.rpartition(".")[0] for spelling in loop.spellings}
        is_unsettled = not loop.axis or (loop.made is not None and not known.isdisjoint(numbered))
        return [*filter(None, (loop.stage,)), *(numbered if is_unsettled else ())]

    def peeled(self, loop: Loop) -> Loops:
        """The partial iteration beside the full ones, with a copy of each loop of the stage that may be inside."""
        known = {each.name for each in self.live}
        copied = [loop, *(each for each in self.live if each.stage == loop.stage and each is not loop)]
        tails = [
            Loop(
                f"{each.name}.tail",
                each.stage,
                f"{each.axis}.tail",
                frozenset(f"{spelling}.tail" for spelling in each.spellings),
                indices=each.indices,
                made=each.made,
            )
            for each in copied
            if f"{each.name}.tail" not in known
        ]
        return self._with(tuple(tails))

    def copied(self, made: syntax.Name, items: Iterable[str] | None) -> Loops:
        """A copy and its loops, in and out; `items` is None where they cannot be listed."""
        stage = Stage(made.text, made.text, is_open=items is None, made=made)
        loops = tuple(
            self._copying(made.text, f"{way}{_plain(item)}", item) for way in ("", "out.") for item in items or ()
        )
        return replace(self, stages=(*self.stages, stage))._with(loops)

    def _copying(self, stage: str, axis: str, item: str) -> Loop:
        """The loop of a copy over an item of its layout."""
        full, found = f"{stage}.{axis}", self.find(item)
        over = found.loops if isinstance(found, Several) else () if found is None else (found,)
        indices = tuple(dict.fromkeys(span for each in over for span in each.indices))
        made = next((each.made for each in over), None)
        return Loop(full, stage, axis, frozenset({full}), has_double=True, indices=indices, made=made)

    def factored(self, loop: Loop, made: syntax.Name) -> Loops:
        """Partial results: their stage has the accumulator's loops, and keeps all reduction loops but one's own.

        The reduction that is left runs over `loop` alone, under a name of its own: a plain name is now held by two.
        """
        name = made.text
        siblings = [each for each in self.loops if each.stage == loop.stage and each is not loop]
        inner = [each for each in siblings if each.is_reduction and each.fate is None]
        spatial = [each for each in siblings if not each.is_reduction]
        partial = [self._renamed(each, name) for each in (*spatial, loop, *inner)]
        kept = self._renamed(loop, loop.stage)
        stage = Stage(name, name, made=made)
        rest = tuple(
            kept
            if each is loop
            else replace(each, fate=Fate("factored into", (f"{name}.{each.axis}",)))
            if any(each is moved for moved in inner)
            else each
            for each in self.loops
        )
        return replace(self, loops=rest, stages=(*self.stages, stage))._with(tuple(partial))

    def _renamed(self, loop: Loop, stage: str) -> Loop:
        full = f"{stage}.{loop.axis}"
        plain = {loop.name} if "." not in loop.name and loop.is_reduction else set[str]()
        kept = loop.spellings if stage == loop.stage else frozenset[str]()
        spellings = frozenset({full, *plain, *kept})
        return Loop(
            full,
            stage,
            loop.axis,
            spellings,
            loop.is_reduction,
            is_open=loop.is_open,
            indices=loop.indices,
            made=loop.made,
        )

    def inlined(self, stage: Stage) -> Loops:
        """A stage that can vanish is gone with its loops; one with a reduction keeps them, at its use."""
        if not stage.can_vanish:
            return self
        fate = Fate("inlined")
        stages = tuple(replace(each, fate=fate) if each.tensor == stage.tensor else each for each in self.stages)
        names = {each.name for each in stages if each.fate is fate}
        return replace(self._gone([loop for loop in self.live if loop.stage in names], fate), stages=stages)

    def opened(self) -> Loops:
        """Below a line that could not be read: any name may have been made there."""
        return replace(self, is_open=True)

    def _gone(self, gone: Iterable[Loop], fate: Fate) -> Loops:
        gone = tuple(gone)
        known = [replace(each, fate=fate) if _is_in(each, gone) and not each.is_open else each for each in self.loops]
        unknown = [replace(each, fate=fate) for each in gone if not _is_in(each, self.loops)]
        return replace(self, loops=(*known, *unknown))

    def _with(self, made: tuple[Loop, ...]) -> Loops:
        """More loops; one whose plain name is given again is found under its stage only."""
        names = {loop.name for loop in made if "." not in loop.name}
        hidden = [
            replace(each, name=f"{each.stage}.{each.axis}", spellings=each.spellings - names)
            if each.name in names and each.fate is None
            else each
            for each in self.loops
        ]
        return replace(self, loops=(*hidden, *made))


def _plain(name: str) -> str:
    """A loop's name without its stage; those of a pack keep their numbers, those behind a `peel` their tails."""
    whole, tails = _parted(name)
    head, _, last = whole.rpartition(".")
    return (f"{head.rpartition('.')[2]}.{last}" if last.isdigit() else last) + tails


def _parted(name: str) -> tuple[str, str]:
    """A loop's name, and what each `peel` put behind it."""
    whole = name
    while whole.endswith(".tail"):
        whole = whole.removesuffix(".tail")
    return whole, name[len(whole) :]


def _is_in(loop: Loop, loops: Iterable[Loop]) -> bool:
    return any(loop is each for each in loops)
