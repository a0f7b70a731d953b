"""What can be done to a loop: lines written behind the schedule, or behind the line that made the loop.

C.i         split by 16 · tile with C.j · outward · inward · vectorize · unroll · parallel · peel · cache A here
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tdl.lsp.actions import layout
from tdl.lsp.actions.candidate import REWRITE, Candidate, Choice, Edit
from tdl.lsp.actions.orders import neighbours, reordered
from tdl.lsp.actions.sizes import extents, lanes, sensible_factor
from tdl.lsp.actions.subject import Subject

if TYPE_CHECKING:
    from tdl.compiler.schedule.tree import Loop

_SHORT = 64
"""A loop of so many iterations at most is made a vector as a whole."""


def loop_moves(subject: Subject, loop: Loop) -> Iterator[Choice]:
    """Changes of one loop of the nest that the whole schedule makes."""
    name = subject.name(loop)
    yield _split(subject, loop, name)
    yield from _tiled(subject, loop, name)
    outer, inner = neighbours(subject, loop)
    if outer is not None:
        yield _one(
            "outward", f"move `{name}` outward, around `{subject.name(outer)}`", reordered(subject, [loop, outer])
        )
    if inner is not None:
        yield _one("inward", f"move `{name}` inward, into `{subject.name(inner)}`", reordered(subject, [inner, loop]))
    yield _vector(subject, loop, name)
    yield _lines("unroll", f"unroll `{name}`", subject, loop, f"unroll {name}")
    yield _lines("parallel", f"run `{name}` in parallel", subject, loop, f"parallel {name}")
    yield _lines("peel", f"peel the partial iteration off `{name}`", subject, loop, f"peel {name}")
    yield from _factored(subject, loop, name)
    yield from _cached(subject, loop, name)
    yield from _computed(subject, loop, name)


def _one(id: str, title: str, edits: tuple[Edit, ...]) -> Choice:
    return (Candidate(id, title, REWRITE, edits),)


def _lines(id: str, title: str, subject: Subject, loop: Loop, *lines: str) -> Choice:
    """Lines behind the last one, else right behind the one that made the loop."""
    ends = dict.fromkeys((len(subject.lines), loop.line + 1))
    return tuple(Candidate(id, title, REWRITE, layout.insert(subject, number, *lines)) for number in ends)


def _axis(name: str) -> str:
    return name.rpartition(".")[2]


def _split(subject: Subject, loop: Loop, name: str) -> Choice:
    factor = sensible_factor(extents(subject, loop))
    outer, inner = subject.fresh(f"{_axis(name)}o", f"{_axis(name)}i")
    return _lines(
        "split", f"split `{name}` by {factor}", subject, loop, f"split {name} by {factor} -> {outer}, {inner}"
    )


def _tiled(subject: Subject, loop: Loop, name: str) -> Iterator[Choice]:
    """With the loop inside of it."""
    _, inner = neighbours(subject, loop)
    if inner is None:
        return
    other = subject.name(inner)
    factors = ", ".join(str(sensible_factor(extents(subject, each))) for each in (loop, inner))
    axes = _axis(name), _axis(other)
    made = ", ".join(subject.fresh(*(f"{axis}{level}" for level in "oi" for axis in axes)))
    title = f"tile `{name}` and `{other}` by {factors}"
    yield _lines("tile", title, subject, loop, f"tile {name}, {other} by {factors} -> {made}")


def _vector(subject: Subject, loop: Loop, name: str) -> Choice:
    from tdl.compiler.schedule.bounds import greatest_extent

    most = greatest_extent(loop)
    title = f"make `{name}` a vector"
    if most is not None and most <= _SHORT:
        return _lines("vectorize", title, subject, loop, f"vectorize {name}")
    count = lanes(subject, loop)
    return _lines("vectorize", f"{title} of {count} lanes", subject, loop, f"vectorize {name} by {count}")


def _factored(subject: Subject, loop: Loop, name: str) -> Iterator[Choice]:
    """Partial results, of a loop that runs over a reduction."""
    from tdl.language.schedules.loops import Loop as Named

    named = subject.state.loops.find(name)
    if isinstance(named, Named) and named.is_reduction:
        (partial,) = subject.fresh("P")
        yield _lines("rfactor", f"partial results for each `{name}`", subject, loop, f"rfactor {name} -> {partial}")


def _cached(subject: Subject, loop: Loop, name: str) -> Iterator[Choice]:
    """Copies of what the body touches: of results in registers if they may be."""
    from tdl.compiler.schedule.regions import touching

    nest = subject.nests[-1]
    for tensor in nest.program.tensors:
        found = touching(nest, loop, [tensor])
        if found:
            title = f"cache `{tensor}` in `{name}`"
            is_written = any(each.touch.is_write for each in found)
            (near,) = subject.fresh(f"{tensor}r" if is_written else f"{tensor}c")
            ways = [f"cache {tensor} at {name} in register as {near}"] if is_written else []
            ways.append(f"cache {tensor} at {name} as {near}")
            yield tuple(each for way in ways for each in _lines(f"cache:{tensor}", title, subject, loop, way))


def _computed(subject: Subject, loop: Loop, name: str) -> Iterator[Choice]:
    """Other stages computed in it."""
    nest = subject.nests[-1]
    for tensor in nest.groups:
        role = nest.program.tensors[tensor].role if tensor in nest.program.tensors else ""
        if role == "intermediate" and loop.stage.partition(".")[0] != tensor:
            title = f"compute `{tensor}` in `{name}`"
            yield _lines(f"compute:{tensor}", title, subject, loop, f"compute {tensor} at {name}")
