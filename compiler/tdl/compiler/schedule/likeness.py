"""How a nest and an intrinsic differ, told to people: both beside each other, the first difference, what would match.

the intrinsic    c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)          with n in 0..16, k in 0..4
the nest         C[i, 8*jo + ji] += i32(A[i, k]) * i32(B[k, 8*jo + ji])      with ji in 0..8, k in 0..4
`n` runs 16 times, and `ji` 8
these would match: `split C.j by 16 -> jo, ji`, `split C.k by 4 -> ko, ki`
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from tdl.compiler.schedule.names import index_name
from tdl.compiler.schedule.patterns import Comparison, Pattern, patterns_of, with_plain_names
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.statements import statement_text
from tdl.compiler.schedule.text import form_text
from tdl.compiler.schedule.tree import Leaf, Nest, Stage, Store, Update
from tdl.compiler.schedule.walk import Path, loops_of
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.intrinsics import Intrinsic
from tdl.language.tree import Access, Binder


def refuse_unlike(
    nest: Nest, intrinsic: Intrinsic, region: Path, leaf: Leaf, difference: str, *, is_alike: bool = True
) -> Refusal:
    """The refusal of a nest that is not what the intrinsic computes. `is_alike`: but its statement is."""
    short = _short(nest)
    ends = [[form_text(forms.substitute(end, short), 5) for end in (loop.lo, loop.hi)] for loop in region]
    ranges = ", ".join(f"{loop.name} in {lo}..{hi}" for loop, (lo, hi) in zip(region, ends))
    notes = [
        f"the intrinsic: {intrinsic.meaning}{_ranges(intrinsic)}",
        f"the nest: {_statement(nest, leaf)} with {ranges}",
        f"the first difference: {difference}",
    ]
    splits = _splits(nest, intrinsic, leaf) if is_alike else None
    if splits is not None:
        notes.append(splits)
    return Refusal("tensorize", f"`{region[0].name}` is not what `{intrinsic.name}` computes", *notes)


def _statement(nest: Nest, leaf: Leaf) -> str:
    """The statement in the loops' names."""
    short = _short(nest)
    values = {own: forms.substitute(form, short) for own, form in leaf.at}
    return statement_text(nest.stages[leaf.stage], values, dict(leaf.through))


def _short(nest: Nest) -> dict[Symbol, Form]:
    return {loop.symbol: forms.symbol(Symbol(loop.name, "index")) for loop in loops_of(nest.body)}


def _ranges(intrinsic: Intrinsic) -> str:
    patterns = patterns_of(intrinsic)
    binders = max(((*each.indices, *each.reduction) for each in patterns), key=len, default=())
    texts = [f"{each.index} in {each.lo}..{each.hi}" for each in binders]
    return f" with {', '.join(texts)}" if texts else ""


# ---- what would match


def _splits(nest: Nest, intrinsic: Intrinsic, leaf: Leaf) -> str | None:
    """The tiles of the statement's own indices that would be the intrinsic's, as lines."""
    stage = nest.stages[leaf.stage]
    if not isinstance(stage.work, Store | Update) or len(stage.work.targets) != 1:
        return None
    for pattern in patterns_of(intrinsic):
        if (pattern.reducer is None) != isinstance(stage.work, Store):
            continue
        for roles in _roles(pattern, stage):
            lines = [_line(nest, stage, own, binder) for binder, own in roles.items()]
            names = ", ".join(f"`{each}`" for each in (_inner(own) for own in roles.values()))
            return f"these would match: {', '.join(lines)}, with {names} innermost"
    return None


def _line(nest: Nest, stage: Stage, own: Symbol, binder: Binder) -> str:
    name, size = index_name(own), (binder.hi - binder.lo).constant
    whole = next(each for each in (*stage.indices, *stage.reduction) if each.index == own)
    if whole.hi - whole.lo == forms.constant(size):
        return f"`{stage.name}.{name}` as it is"
    return f"`split {stage.name}.{name} by {size} -> {name}o, {_inner(own)}`"


def _inner(own: Symbol) -> str:
    return f"{index_name(own)}i"


def _roles(pattern: Pattern, stage: Stage) -> Iterator[Mapping[Binder, Symbol]]:
    """Which of the statement's own indices could count which of the pattern's: those in the same operands."""
    assert isinstance(stage.work, Store | Update)
    (value,) = stage.work.values if isinstance(stage.work, Store) else stage.work.args
    target = stage.work.targets[0]
    wanted = [*pattern.indices, *pattern.reduction]
    own = [binder.index for binder in (*stage.indices, *stage.reduction)]
    reduced = {binder.index for binder in stage.reduction}
    for pairs in Comparison().pairs(with_plain_names(pattern.value), with_plain_names(value)):
        subscripts = [(pattern.target.coordinates, target.coordinates)]
        subscripts += [
            (a.subscripts, b.subscripts) for a, b in pairs if isinstance(a, Access) and isinstance(b, Access)
        ]
        for chosen in permutations(own, len(wanted)):
            roles = dict(zip(wanted, chosen))
            kinds = all((symbol in reduced) == (each in pattern.reduction) for each, symbol in roles.items())
            if kinds and all(_is_alike(each.index, symbol, subscripts) for each, symbol in roles.items()):
                yield roles


def _is_alike(ours: Symbol, theirs: Symbol, subscripts: Sequence[tuple[tuple[Form, ...], tuple[Form, ...]]]) -> bool:
    """Whether an index of the pattern is in just those operands that one of the statement is in."""
    return all(
        any(form.mentions(ours) for form in one) == any(form.mentions(theirs) for form in other)
        for one, other in subscripts
    )
