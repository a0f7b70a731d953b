"""Whether iterations of a loop may run at the same time, decided exactly.

A loop carries a dependence if two of its iterations, under the same iteration of every loop around it, touch one
element of storage that both see, and at least one of them writes it. The least such pair is the counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tdl.compiler.schedule.touches import Touch, touches
from tdl.compiler.schedule.tree import Copy, Leaf, Loop, Nest, Update
from tdl.compiler.schedule.walk import Path, leaves_of, loops_of, path_to
from tdl.language import forms
from tdl.language.conditions import AtLeast, Equal, Formula, equal, forms_of, less, nature, substituted
from tdl.language.forms import Form, Symbol
from tdl.language.sets import Undecided, is_empty
from tdl.language.witness import find_witness, refuting_sizes, size_facts, size_symbols

_SIZES_TRIED = 4


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two iterations that may not run at the same time. `point` holds sizes and outer loops, `first` and `second` the
    loops from the one in question inwards."""

    element: str
    point: Mapping[str, int]
    first: Mapping[str, int]
    second: Mapping[str, int]
    writes: tuple[bool, bool]

    def sentences(self) -> tuple[str, ...]:
        """The counterexample in words."""
        what = {(True, True): "write", (True, False): "write and read", (False, True): "read and write"}[self.writes]
        where = ", ".join(f"{name} = {value}" for name, value in self.point.items())
        a, b = (", ".join(f"{name} = {value}" for name, value in each.items()) for each in (self.first, self.second))
        return (f"{f'with {where}, ' if where else ''}the iterations ({a}) and ({b}) {what} {self.element}",)


def conflict(nest: Nest, loop: Loop, *, allow_reductions: bool = False, written: str | None = None) -> Conflict | None:
    """The two iterations of a loop that conflict, or None where there are none.

    With `written` only those that both write that tensor.
    `allow_reductions` leaves out an update's own combining, which may be done in any order: a vector's lanes do.
    Raises `Undecided` where the budget ends.
    """
    outer = path_to(nest.body, loop.symbol)[:-1]
    inside = list(leaves_of(loop.body, (loop,)))
    private = {buffer.tensor for buffer in nest.buffers.values() if buffer.at in _symbols(loop)}
    facts = size_facts(nest.program).formulas
    for (path_a, leaf_a), (path_b, leaf_b) in _pairs(inside):
        same = _same_iterations(path_a, path_b)
        for a, b in _touching(nest, leaf_a, leaf_b, private, allow_reductions):
            if written is not None and not (a.tensor == written and a.is_write and b.is_write):
                continue
            if same is not None and _keeps_apart(nest, inside, (path_a, leaf_a), a, b, same):
                continue
            found = _search(nest, facts, outer, (path_a, a), (path_b, b))
            if found is not None:
                return found
    return None


def _symbols(loop: Loop) -> set[Symbol | None]:
    return {loop.symbol, *(each.symbol for each in loops_of(loop.body))}


_Placed = tuple[Path, Leaf]


def _pairs(inside: Sequence[_Placed]) -> Iterator[tuple[_Placed, _Placed]]:
    for first in inside:
        for second in inside:
            yield first, second


def _touching(
    nest: Nest, first: Leaf, second: Leaf, private: set[str], allow_reductions: bool
) -> Iterator[tuple[Touch, Touch]]:
    """Pairs of accesses of one tensor that both iterations see, with a write among them."""
    combines = first.stage == second.stage and isinstance(nest.stages[first.stage].work, Update)
    if combines and allow_reductions:
        own = {target.tensor for target in nest.stages[first.stage].writes}
        private = private | own | {through for tensor, through in first.through if tensor in own}
    for a in touches(nest, first):
        for b in touches(nest, second):
            if a.tensor == b.tensor and (a.is_write or b.is_write) and a.tensor not in private:
                yield a, b


def _same_iterations(first: Path, second: Path) -> Mapping[Symbol, Form] | None:
    """The second's loops as the first's, where both run over the same iterations: a copy in and its copy out do."""
    if len(first) != len(second):
        return None
    renamed: dict[Symbol, Form] = {}
    for one, two in zip(first, second):
        if one.symbol != two.symbol:
            if (one.lo, one.hi) != (forms.substitute(two.lo, renamed), forms.substitute(two.hi, renamed)):
                return None
            renamed[two.symbol] = forms.symbol(one.symbol)
    return renamed


def _keeps_apart(
    nest: Nest, inside: Sequence[_Placed], placed: _Placed, a: Touch, b: Touch, same: Mapping[Symbol, Form]
) -> bool:
    """Whether one element means one iteration of the outermost loop, as is seen without a search.

    `b` may be another leaf's that runs over the same iterations, whose loops `same` renames. A copy in the loops of
    others takes the box of what is written there, so it meets no other iteration's where that does not.
    """
    path, leaf = placed
    loop = path[0]
    if not _fixes(leaf, a, b, same, loop, _rings(nest, a.tensor)):
        return False
    if not isinstance(nest.stages[leaf.stage].work, Copy) or all(each.stage == leaf.stage for each in path):
        return True
    cache = leaf.stage.removesuffix(".out")
    writers = [
        (each, touch)
        for each in inside
        if each[1].stage != cache
        for touch in touches(nest, each[1])
        if touch.is_write and touch.tensor == cache
    ]
    return len(writers) == 1 and all(
        _keeps_apart(nest, inside, each, touch, touch, {inner.symbol: forms.symbol(inner.symbol) for inner in each[0]})
        for each, touch in writers
    )


def _fixes(leaf: Leaf, a: Touch, b: Touch, same: Mapping[Symbol, Form], loop: Loop, rings: Mapping[int, int]) -> bool:
    """Whether one element means one iteration of the loop: where the element fixes the indices behind it.

    A leaf's own indices and its loops are in bijection; a loop is fixed by the own indices that share loops with it.
    """
    connected = {loop.symbol}
    sources: set[Symbol] = set()
    grown = True
    while grown:
        grown = False
        for own, form in leaf.at:
            if own not in sources and not connected.isdisjoint(form.symbols()):
                sources.add(own)
                connected.update(form.symbols())
                grown = True
    at = dict(leaf.at)
    other = [forms.substitute(form, same) for form in b.element]
    places = [each for axis, each in enumerate(zip(a.element, other)) if axis not in rings]
    fixed = {own for own, form in at.items() if any(x == y == form for x, y in places)}
    return bool(sources) and sources <= fixed


def _rings(nest: Nest, tensor: str) -> Mapping[int, int]:
    """The axes that are folded: elements so many apart are in one place."""
    buffer = nest.buffers.get(tensor)
    return {} if buffer is None else dict(buffer.ring)


def _search(
    nest: Nest,
    facts: tuple[Formula, ...],
    outer: Path,
    first: tuple[Path, Touch],
    second: tuple[Path, Touch],
) -> Conflict | None:
    """An iteration of the first and a later one of the second that touch one element."""
    (path_a, a), (path_b, b) = first, second
    after = {each.symbol: Symbol(f"{each.symbol.name}'", "index") for each in path_b}
    after.update({symbol: Symbol(f"{symbol.name}'", "index") for symbol in b.inner})
    renamed = {old: forms.symbol(new) for old, new in after.items()}
    here, there = forms.symbol(path_a[0].symbol), forms.symbol(after[path_b[0].symbol])
    apart = [x - forms.substitute(y, renamed) for x, y in zip(a.element, b.element)]
    for axis, count in _rings(nest, a.tensor).items():
        apart[axis] = forms.modulo(apart[axis], forms.constant(count))
    meeting = [Equal(form) for form in apart]
    known: list[Formula] = [*facts]
    known += [formula for loop in (*outer, *path_a) for formula in _range(loop)]
    known += [substituted(formula, renamed) for loop in path_b for formula in _range(loop)]
    known += [*a.where, *(substituted(formula, renamed) for formula in b.where)]
    later = less(here, there)
    if is_empty((*known, *meeting, later)):
        return None
    known = with_numbers(nest, [*known, *meeting], later)
    return _witness(nest, known, [later], outer, (path_a, a), (path_b, b), after)


def with_numbers(nest: Nest, known: Sequence[Formula], wrong: Formula) -> list[Formula]:
    """What is known, at sizes at which something is wrong, where products of sizes were taken for anything.

    Raises Undecided where no small sizes show it: with other numbers the answer may be another.
    """
    if all(nature(form) != "deferred" for formula in (*known, wrong) for form in forms_of(formula)):
        return list(known)
    for least in range(1, _SIZES_TRIED + 1):
        point = refuting_sizes(wrong, known, size_symbols(nest.program), least)
        if point is not None:
            values = {size: forms.constant(value) for size, value in point.items()}
            at = [equal(forms.symbol(size), value) for size, value in values.items()]
            return [*at, *(substituted(formula, values) for formula in known)]
    raise Undecided("it hangs on products of sizes, which have no numbers here")


def _witness(
    nest: Nest,
    known: list[Formula],
    wrong: list[Formula],
    outer: Path,
    first: tuple[Path, Touch],
    second: tuple[Path, Touch],
    after: Mapping[Symbol, Symbol],
) -> Conflict:
    (path_a, a), (path_b, b) = first, second
    sizes, around = size_symbols(nest.program), [loop.symbol for loop in outer]
    one = [loop.symbol for loop in path_a]
    two = [after[loop.symbol] for loop in path_b]
    order = [*sizes, *around, *one, *two, *a.inner, *(after[symbol] for symbol in b.inner)]
    point = find_witness((*known, *wrong), less(forms.symbol(one[0]), forms.symbol(two[0])), order) or {}
    values = {symbol: forms.constant(point.get(symbol, 0)) for symbol in (*order, *point)}
    inside = ", ".join(str(forms.substitute(form, values)) for form in a.element)
    element = f"{a.tensor}[{inside}]" if a.element else a.tensor
    names = {loop.symbol: loop.name for loop in (*outer, *path_a, *path_b)}
    first_at = {loop.name: point[loop.symbol] for loop in path_a if loop.symbol in point}
    second_at = {loop.name: point[after[loop.symbol]] for loop in path_b if after[loop.symbol] in point}
    shared = {names.get(s, s.name): point[s] for s in (*sizes, *around) if s in point}
    return Conflict(element, shared, first_at, second_at, (a.is_write, b.is_write))


def _range(loop: Loop) -> tuple[Formula, ...]:
    symbol = forms.symbol(loop.symbol)
    return (AtLeast(symbol - loop.lo), AtLeast(loop.hi - symbol - 1))
