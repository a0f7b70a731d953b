"""Whether a nest still runs everything in an order that its data allow.

Every element that a statement reads must have been written before, by the last statement that gives it a value. Only
stages that read what their own cycle writes can be put wrong by moving loops of a perfect nest, so only pairs of leaves
that share a loop are asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from tdl.compiler.schedule.races import with_numbers
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.touches import Touch, touches
from tdl.compiler.schedule.tree import Copy, Leaf, Loop, Nest, Update
from tdl.compiler.schedule.walk import Path, leaves_of, loops_of, path_to
from tdl.language import forms
from tdl.language.conditions import AtLeast, Equal, Formula, equal, every, less, some, substituted
from tdl.language.forms import Symbol
from tdl.language.sets import is_empty
from tdl.language.witness import find_witness, show_point, size_facts, size_symbols


def check_order(nest: Nest, what: str, moved: Symbol) -> None:
    """Refuse `what` with the two iterations that come in the wrong order; `moved` is the outermost loop it changed."""
    path = path_to(nest.body, moved)
    _check_rings(nest, path[-1])
    placed = list(leaves_of((path[-1],), path[:-1]))
    facts = size_facts(nest.program).formulas
    for position, (path, leaf) in enumerate(placed):
        for other, (before_path, before) in enumerate(placed):
            shared = _shared(path, before_path)
            if not shared or not _may_be_put_wrong(nest, leaf, before):
                continue
            for read, write in _flows(nest, leaf, before):
                _check(nest, what, facts, (path, read), (before_path, write), shared, other < position)


def _check_rings(nest: Nest, moved: Loop) -> None:
    """A ring holds what is read next in the order that it was folded for."""
    for _, leaf in leaves_of((moved,)):
        for touch in touches(nest, leaf):
            buffer = nest.buffers[touch.tensor]
            if buffer.ring and buffer.at not in {loop.symbol for loop in loops_of((moved,))}:
                message = f"`{touch.tensor}` is kept in a ring, which holds what is read next in the order before"
                raise Refusal("schedule", message, "fold it after the loops are in order")


def _may_be_put_wrong(nest: Nest, reader: Leaf, writer: Leaf) -> bool:
    """Whether the stages' own order can matter: a stage that reads itself, or another of its recurrence."""
    if _are_copies_of_partial_results(nest, reader, writer):
        return False
    written = {target.tensor for target in nest.stages[writer.stage].writes}
    read = {touch.tensor for touch in touches(nest, reader) if not touch.is_write}
    return bool(written & read)


def _are_copies_of_partial_results(nest: Nest, reader: Leaf, writer: Leaf) -> bool:
    """Whether these bring an update's partial results into a cache and back, to be brought in by the next iteration."""
    if writer.stage != f"{reader.stage}.out" or not isinstance(nest.stages[reader.stage].work, Copy):
        return False
    using = [leaf for _, leaf in leaves_of(nest.body) if reader.stage in dict(leaf.through).values()]
    return all(isinstance(nest.stages[leaf.stage].work, Update) for leaf in using)


def _flows(nest: Nest, reader: Leaf, writer: Leaf) -> Iterator[tuple[Touch, Touch]]:
    writes = [touch for touch in touches(nest, writer) if touch.is_write]
    for read in touches(nest, reader):
        for write in writes:
            if not read.is_write and read.tensor == write.tensor:
                yield read, write


def _shared(path: Path, other: Path) -> int:
    count = 0
    for a, b in zip(path, other):
        if a.symbol != b.symbol:
            break
        count += 1
    return count


def _check(
    nest: Nest,
    what: str,
    facts: tuple[Formula, ...],
    reader: tuple[Path, Touch],
    writer: tuple[Path, Touch],
    shared: int,
    is_earlier: bool,
) -> None:
    """No instance of the writer that gives what an instance of the reader reads may come after it (or be it)."""
    (path, read), (write_path, write) = reader, writer
    at = nest.buffers[read.tensor].at if read.tensor in nest.buffers else None
    symbols = [loop.symbol for loop in path]
    if at in symbols[shared:]:
        return  # each has its own
    same = symbols.index(at) + 1 if at in symbols else 0
    other = {loop.symbol: Symbol(f"{loop.symbol.name}'", "index") for loop in write_path}
    other.update({symbol: Symbol(f"{symbol.name}'", "index") for symbol in write.inner})
    renamed = {old: forms.symbol(new) for old, new in other.items()}
    known: list[Formula] = [*facts, *(f for loop in path for f in _range(loop)), *read.where]
    known += [substituted(f, renamed) for loop in write_path for f in _range(loop)]
    known += [substituted(f, renamed) for f in write.where]
    known += [Equal(x - forms.substitute(y, renamed)) for x, y in zip(read.element, write.element)]
    known += [Equal(forms.symbol(symbol) - forms.symbol(other[symbol])) for symbol in symbols[:same]]
    wrong = _not_before(path[same:shared], other, is_earlier)
    if is_empty((*known, wrong)):
        return
    known = with_numbers(nest, known, wrong)
    order = [*size_symbols(nest.program), *(loop.symbol for loop in path), *(other[loop.symbol] for loop in write_path)]
    point = find_witness(known, wrong, order) or {}
    values = {symbol: forms.constant(value) for symbol, value in point.items()}
    inside = ", ".join(str(forms.substitute(form, values)) for form in read.element)
    note = f"{show_point(point)}: `{read.tensor}[{inside}]` would be read before it is computed"
    raise Refusal("order", f"{what} breaks the recurrence of `{read.tensor}`", note)


def _not_before(path: Path, other: dict[Symbol, Symbol], is_earlier: bool) -> Formula:
    """That the writer's instance does not come before the reader's, by the loops they share."""
    cases: list[Formula] = []
    same: list[Formula] = []
    for loop in path:
        here, there = forms.symbol(loop.symbol), forms.symbol(other[loop.symbol])
        later = less(there, here) if loop.descending else less(here, there)
        cases.append(every((*same, later)))
        same.append(equal(here, there))
    if not is_earlier:
        cases.append(every(same))
    return some(cases)


def _range(loop: Loop) -> tuple[Formula, ...]:
    symbol = forms.symbol(loop.symbol)
    return (AtLeast(symbol - loop.lo), AtLeast(loop.hi - symbol - 1))
