"""Which loop walks memory kindly: a question of subscripts alone, asked by the default nest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Binder, Definition, Expr, Reduce, walk

Walk = Literal["fixed", "contiguous", "strided"]

_IN_PLACE = ("sum", "prod", "max", "min")


def prefers_inside(definition: Definition, reduce: Reduce, binders: tuple[Binder, ...]) -> bool:
    """Whether the loop over the last axis of the target should run inside the reduction's loops.

    It may, where no range depends on it and nothing is filtered. It should, where every access then has stride 0 or 1
    and the innermost reduction loop would not do better.
    """
    if reduce.reducer.name not in _IN_PLACE or not reduce.reducer.is_builtin or definition.filter is not None:
        return False
    index = definition.targets[0].coordinates[-1].symbol if definition.targets[0].coordinates else None
    if index is None or not binders or binders[-1].index != index:
        return False
    if any(index in (*binder.lo.symbols(), *binder.hi.symbols()) for binder in reduce.binders):
        return False
    exprs = reduce.args if reduce.filter is None else (*reduce.args, reduce.filter)
    if any(isinstance(node, Reduce) for expr in exprs for node in walk(expr)):
        return False
    accesses = list(_accesses(exprs))
    return _is_kind(accesses, index) and not _is_better_off(accesses, reduce.binders[-1])


def walk_of(subscripts: tuple[Form, ...], index: Symbol) -> Walk:
    """How an access moves through memory as the index goes up by one."""
    if not any(form.mentions(index) for form in subscripts):
        return "fixed"
    if any(form.mentions(index) for form in subscripts[:-1]):
        return "strided"
    rest = [term for term in subscripts[-1].terms if term[0] != index]
    steps = dict(subscripts[-1].terms).get(index, 0)
    inside = any(symbol == index for atom, _ in rest for symbol in Form(((atom, 1),), 0).symbols())
    return "contiguous" if steps == 1 and not inside else "strided"


def _is_kind(accesses: list[Access], index: Symbol) -> bool:
    walks = {walk_of(access.subscripts, index) for access in accesses}
    return "strided" not in walks and "contiguous" in walks


def _is_better_off(accesses: list[Access], binder: Binder) -> bool:
    """Whether the reduction's innermost loop reads everything in order and gives each element a long run of its own.

    Where both loops are kind, an access that only one of them moves (`F[s]` in a convolution) speaks for the spatial
    one, whose vectors then need no sum across lanes.
    """
    if not _is_kind(accesses, binder.index):
        return False
    return all(walk_of(access.subscripts, binder.index) == "contiguous" for access in accesses)


def _accesses(exprs: Iterable[Expr]) -> Iterator[Access]:
    for expr in exprs:
        yield from (node for node in walk(expr) if isinstance(node, Access))
