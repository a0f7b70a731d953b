"""Which loop a name in a schedule line means.

A loop is `stage.name` (`C.i`, `acc.sum.k`, `S.0.j`), or its name alone where that is unique. `T.k` is short for the
loop of `T.sum` where only that has one; with several definitions `S.t` is the one with the largest domain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.tree import Copy, Loop, Nest
from tdl.compiler.schedule.walk import leaves_of, loops_of
from tdl.language.forms import Symbol
from tdl.language.inequalities import is_known
from tdl.language.scope import closest
from tdl.language.witness import size_facts


def find_loop(nest: Nest, text: str) -> Loop:
    """The loop that a name means; a refusal lists what there is, or what became of it."""
    loops = list({loop.symbol: loop for loop in loops_of(nest.body)}.values())
    own = [loop for loop in loops if not _copies(nest, loop)]
    for match in (_exactly, partial(_shared, nest), _by_name, _of_parts):
        found = match(loops if match is _exactly else own, text)
        if len(found) == 1:
            return found[0]
        if len(found) > 1:
            largest = _largest(nest, found)
            if largest is not None:
                return largest
            names = ", ".join(f"`{loop.label}`" for loop in found)
            raise Refusal("unknown-loop", f"`{text}` names several loops", f"say which: {names}")
    raise _missing(nest, loops, text)


def new_symbols(nest: Nest, stage: str, names: Sequence[str], replaced: Iterable[Loop] = ()) -> tuple[Symbol, ...]:
    """The symbols of loops that a line makes; a name may be that of a loop which goes, and of no other here."""
    gone = {loop.symbol for loop in replaced}
    taken = {loop.symbol for loop in loops_of(nest.body)} - gone
    found: list[Symbol] = []
    for name in names:
        symbol = Symbol(f"{stage}.{name}", "index")
        if symbol in taken:
            raise Refusal("duplicate-name", f"there is a loop `{symbol}` already", "a loop needs a name of its own")
        taken.add(symbol)
        found.append(symbol)
    return tuple(found)


def find_stage(nest: Nest, text: str) -> str:
    """The tensor that a name means, computed by some stage."""
    if text in nest.groups or any(text == stage for stage in nest.stages):
        return text
    suggestion = closest(text, nest.groups)
    notes = () if suggestion is None else (f"did you mean `{suggestion}`?",)
    raise Refusal("unknown-loop", f"this schedule has no stage `{text}`", *notes)


def _copies(nest: Nest, loop: Loop) -> bool:
    """Whether a loop is a cache's copy, which is spoken of only with its stage."""
    stage = nest.stages.get(loop.stage)
    return stage is not None and isinstance(stage.work, Copy)


def _exactly(loops: list[Loop], text: str) -> list[Loop]:
    return [loop for loop in loops if loop.label == text]


def _shared(nest: Nest, loops: list[Loop], text: str) -> list[Loop]:
    """The loop of a recurrence that a stage shares with another, which the loop is called by."""
    stage, _, name = text.rpartition(".")
    counted = {
        form.symbol
        for _, leaf in leaves_of(nest.body)
        if leaf.stage == stage
        for own, form in leaf.at
        if own.name == name
    }
    return [loop for loop in loops if loop.symbol in counted and loop.stage != stage]


def _by_name(loops: list[Loop], text: str) -> list[Loop]:
    return [loop for loop in loops if loop.name == text]


def _of_parts(loops: list[Loop], text: str) -> list[Loop]:
    """`T.k` among the loops of `T.sum`, `T.0` and the like."""
    stage, _, name = text.rpartition(".")
    return [loop for loop in loops if stage and loop.name == name and loop.stage.startswith(f"{stage}.")]


def _largest(nest: Nest, loops: list[Loop]) -> Loop | None:
    """The loop whose range holds those of the others, for all sizes; None where there is no one such."""
    tensors = {nest.stages[loop.stage].writes[0].tensor if loop.stage in nest.stages else loop.stage for loop in loops}
    if len({loop.name for loop in loops}) != 1 or len(tensors) != 1:
        return None
    facts = size_facts(nest.program)
    extents = [(loop, loop.hi - loop.lo) for loop in loops]
    for loop, extent in extents:
        others = [other for each, other in extents if each is not loop]
        if all(is_known(extent - other, facts, ()) for other in others) and extent not in others:
            return loop
    return None


def _missing(nest: Nest, loops: list[Loop], text: str) -> Refusal:
    for old, children in nest.children.items():
        if text == old or text == old.rpartition(".")[2]:
            now = ", ".join(f"`{child}`" for child in children)
            return Refusal("unknown-loop", f"the loop `{text}` is gone: it became {now}")
    names = [loop.label for loop in loops]
    suggestion = closest(text, [*names, *(loop.name for loop in loops)])
    notes = [] if suggestion is None else [f"did you mean `{suggestion}`?"]
    notes.append(f"the loops here are {', '.join(f'`{name}`' for name in names)}")
    return Refusal("unknown-loop", f"there is no loop `{text}`", *notes)


def index_name(index: Symbol) -> str:
    """What people call an index: one that a schedule added is named after its stage as well, `P[ko]`."""
    return index.name.rpartition("[")[2].removesuffix("]")


def stages_inside(loop: Loop) -> set[str]:
    """The stages whose statements run in a loop."""
    return {leaf.stage for _, leaf in leaves_of((loop,))}
