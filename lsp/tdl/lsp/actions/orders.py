"""Loops in another order: a `reorder` behind the schedule, or the one that is there rewritten.

reorder io, jo, ii          with jo moved outward:          reorder jo, io, ii
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tdl.language import syntax
from tdl.language.source import Span
from tdl.lsp.actions import layout
from tdl.lsp.actions.candidate import Edit
from tdl.lsp.actions.subject import Subject

if TYPE_CHECKING:
    from tdl.compiler.schedule.tree import Loop


def chain(subject: Subject, loop: Loop) -> tuple[Loop, ...]:
    """The loops around and inside one as far as each is all that is in the body of the one before, outermost first."""
    from tdl.compiler.schedule.tree import Loop as Node
    from tdl.compiler.schedule.walk import path_to

    path = list(path_to(subject.nests[-1].body, loop.symbol))
    for number in reversed(range(1, len(path))):
        if len(path[number - 1].body) > 1:
            path = path[number:]
            break
    while len(path[-1].body) == 1 and isinstance(path[-1].body[0], Node):
        path.append(path[-1].body[0])
    return tuple(path)


def neighbours(subject: Subject, loop: Loop) -> tuple[Loop | None, Loop | None]:
    """The loop right around one, and the one right inside of it."""
    loops = chain(subject, loop)
    place = next(number for number, each in enumerate(loops) if each.symbol == loop.symbol)
    return (
        loops[place - 1] if place else None,
        loops[place + 1] if place + 1 < len(loops) else None,
    )


def reordered(subject: Subject, loops: Sequence[Loop]) -> tuple[Edit, ...]:
    """Loops that follow each other in the nest, in this order instead."""
    names = [subject.name(loop) for loop in loops]
    last = subject.lines[-1] if subject.lines else None
    if isinstance(last, syntax.Line) and last.verb.text == "reorder":
        there = [subject.text(operand) for operand in last.operands]
        known = {text: subject.state.loops.find(text) for text in there}
        spelt = {id(loop): text for text, loop in known.items()}
        found = [spelt.get(id(subject.state.loops.find(name))) for name in names]
        if None not in found:
            moved = iter(each for each in found if each is not None)
            new = ", ".join(next(moved) if text in found else text for text in there)
            whole = Span(subject.place(last.operands[0]).start, subject.place(last.operands[-1]).end)
            return (Edit(whole, new),)
    return layout.insert(subject, len(subject.lines), f"reorder {', '.join(names)}")
