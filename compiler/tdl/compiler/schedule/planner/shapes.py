"""What the stages of a nest look like to a planner: which loops are their own, what they read, how much they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tdl.compiler.schedule.contiguity import Walk, walk_of
from tdl.compiler.schedule.tree import Copy, Initial, Leaf, Loop, Nest, Stage, Update
from tdl.compiler.schedule.walk import Path, leaves_of
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Expr, walk
from tdl.language.types import AnyType


@dataclass(frozen=True)
class Shape:
    """A stage where it stands. `own` are loops that count one index each that its results have, `summed` those over
    which it is reduced, the outermost first; `around` all loops of others that it stands in."""

    stage: Stage
    leaf: Leaf
    path: Path
    own: tuple[tuple[Loop, Symbol], ...]
    summed: tuple[tuple[Loop, Symbol], ...]
    dtype: AnyType

    @property
    def name(self) -> str:
        return self.stage.name

    @property
    def tensor(self) -> str:
        return self.stage.writes[0].tensor

    @property
    def exprs(self) -> tuple[Expr, ...]:
        work = self.stage.work
        match work:
            case Update():
                found = work.args
            case Copy() | Initial():
                found = ()
            case _:
                found = work.values
        return tuple(each for each in (*found, self.stage.domain, self.stage.filter) if each is not None)

    @property
    def accesses(self) -> tuple[Access, ...]:
        return tuple(node for expr in self.exprs for node in walk(expr) if isinstance(node, Access))

    @property
    def is_sum(self) -> bool:
        return isinstance(self.stage.work, Update)

    def walk(self, access: Access, index: Symbol) -> Walk:
        return walk_of(access.subscripts, index)

    def is_kind(self, index: Symbol) -> bool:
        """Whether everything that moves with an index is side by side in memory, what is written included."""
        written = [walk_of(target.coordinates, index) for target in self.stage.writes]
        walks = {*written, *(self.walk(access, index) for access in self.accesses)}
        return "strided" not in walks and "contiguous" in walks

    def gathers(self, index: Symbol) -> int:
        """How many accesses jump as an index goes up."""
        written = [walk_of(target.coordinates, index) for target in self.stage.writes]
        return [*written, *(self.walk(access, index) for access in self.accesses)].count("strided")


def shapes_of(nest: Nest) -> tuple[Shape, ...]:
    """Every stage that computes, in running order."""
    return tuple(_shape(nest, path, leaf) for path, leaf in leaves_of(nest.body) if _computes(nest.stages[leaf.stage]))


def shape_of(nest: Nest, stage: str) -> Shape | None:
    return next((each for each in shapes_of(nest) if each.name == stage), None)


def _computes(stage: Stage) -> bool:
    return not isinstance(stage.work, Copy | Initial)


def _shape(nest: Nest, path: Path, leaf: Leaf) -> Shape:
    stage = nest.stages[leaf.stage]
    reduced = {binder.index for binder in stage.reduction}
    counted = {form.symbol: own for own, form in leaf.at if form.symbol is not None}
    loops = [(loop, counted[loop.symbol]) for loop in path if loop.symbol in counted and loop.kind == "serial"]
    own = tuple(each for each in loops if each[1] not in reduced)
    summed = tuple(each for each in loops if each[1] in reduced)
    return Shape(stage, leaf, path, own, summed, nest.tensors[stage.writes[0].tensor].dtype)


def extent(loop: Loop, path: Path, sizes: Mapping[Symbol, int]) -> int:
    """How often a loop runs, with those around it in the middle of their ranges; 1 where data say."""
    known = dict(sizes)
    for each in path:
        lo, hi = _value(each.lo, known), _value(each.hi, known)
        if each.symbol == loop.symbol:
            return 1 if lo is None or hi is None else max(hi - lo, 0)
        known[each.symbol] = 0 if lo is None or hi is None else (lo + max(hi - 1, lo)) // 2
    return 1


def _value(form: Form, known: Mapping[Symbol, int]) -> int | None:
    try:
        return forms.evaluate(form, known)
    except (KeyError, ZeroDivisionError):
        return None


def tensors_read(shape: Shape) -> Iterator[str]:
    """The tensors that a stage reads, each once."""
    yield from dict.fromkeys(access.tensor for access in shape.accesses)
