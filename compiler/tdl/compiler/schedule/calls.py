"""What a tensorized loop is a call of: an intrinsic's statement found in the nest's, its operands in tensors.

    c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)
    C[i, 16*jo + ji] += i32(A[i, 4*ko + ki]) * i32(B[4*ko + ki, 16*jo + ji])        ji counts n, ki counts k
                                                                                    a[k] is A[i, 4*ko + k], ...

It is found anew whenever it is asked for, since lines that come later move what the operands are: to other tiles, into
copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from tdl.compiler.schedule.likeness import refuse_unlike
from tdl.compiler.schedule.operands import Operand, Points, Unlike, operand, overlap
from tdl.compiler.schedule.patterns import Comparison, Difference, Pair, Pattern, patterns_of, with_plain_names
from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.compiler.schedule.tree import Copy, Leaf, Loop, Nest, Stage, Store, Update
from tdl.compiler.schedule.walk import Path
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.intrinsics import Intrinsic
from tdl.language.tree import Access, Binder, Expr, Integer, Target


@dataclass(frozen=True, slots=True)
class Invocation:
    """What a tensorized loop does: the intrinsic's inputs, in their order, and what its result is written to."""

    intrinsic: Intrinsic
    leaf: Leaf
    inputs: tuple[Operand, ...]
    output: Operand


def invocation(nest: Nest, loop: Loop) -> Invocation:
    """The call that a tensorized loop is. Raises Refusal where it is none."""
    assert loop.intrinsic is not None
    intrinsic = loop.intrinsic
    region, leaf = region_of(nest, loop)
    difference = Difference()
    for pattern, pairs in compared(nest, intrinsic, region, leaf):
        for counted in _countings(nest, pattern, region, leaf, difference):
            found = _assigned(nest, intrinsic, pattern, pairs, region, leaf, counted)
            if isinstance(found, Invocation):
                return found
            difference.note(1, found)
    raise refuse_unlike(nest, intrinsic, region, leaf, difference.text)


# ---- the region


def region_of(nest: Nest, loop: Loop) -> tuple[Path, Leaf]:
    """The loops and the one statement that is in all of them."""
    region = [loop]
    while len(region[-1].body) == 1 and isinstance(region[-1].body[0], Loop):
        region.append(region[-1].body[0])
    body = region[-1].body
    if len(body) != 1 or not isinstance(body[0], Leaf):
        names = ", ".join(f"`{node.label if isinstance(node, Loop) else node.stage}`" for node in body)
        message = f"`{loop.name}` is more than one statement: there are {names} in `{region[-1].name}`"
        raise Refusal("tensorize", message, "a call stands for one statement and the loops around it")
    inside = {each.symbol for each in region}
    for buffer in nest.buffers.values():
        if buffer.at in inside:
            raise Refusal("tensorize", f"`{buffer.tensor}` is kept in `{loop.name}`, which would be one instruction")
    leaf = body[0]
    stage = nest.stages[leaf.stage]
    if leaf.guards or stage.domain is not None or (stage.filter is not None):
        raise Refusal("tensorize", f"the statement in `{loop.name}` runs only under a condition")
    for position, each in enumerate(region):
        before = {other.symbol for other in region[:position]}
        if any(end.mentions(symbol) for symbol in before for end in (each.lo, each.hi)):
            message = f"the range of `{each.name}` depends on other loops in `{loop.name}`"
            is_open = any(symbol.kind == "dim" for end in (each.lo, each.hi) for symbol in end.symbols())
            raise NeedsSize(message, code="tensorize") if is_open else Refusal("tensorize", message)
    return tuple(region), leaf


def is_reduced(nest: Nest, leaf: Leaf, loop: Loop) -> bool:
    own = {binder.index for binder in nest.stages[leaf.stage].reduction}
    return any(form.mentions(loop.symbol) for index, form in leaf.at if index in own)


# ---- the statement


def compared(nest: Nest, intrinsic: Intrinsic, region: Path, leaf: Leaf) -> list[tuple[Pattern, tuple[Pair, ...]]]:
    """Ways to see the intrinsic's statement in the nest's. Refused where there is none."""
    return list(_comparisons(nest, intrinsic, region, leaf))


def _comparisons(
    nest: Nest, intrinsic: Intrinsic, region: Path, leaf: Leaf
) -> Iterator[tuple[Pattern, tuple[Pair, ...]]]:
    stage = nest.stages[leaf.stage]
    patterns = patterns_of(intrinsic)
    if not patterns or len(intrinsic.program.outputs) != 1:
        message = f"`{intrinsic.name}` is no one statement, which is all that a nest is compared with"
        raise Refusal("tensorize", message, f"it is {intrinsic.meaning}")
    comparison, has_any = Comparison(), False
    for pattern in patterns:
        why = _other_work(nest, intrinsic, pattern, stage)
        if why is not None:
            comparison.difference.note(0, why)
            continue
        value, target = _statement(nest, stage)
        ours = (Access(pattern.target.tensor, pattern.target.coordinates, value.dtype),)
        theirs = (Access(target.tensor, target.coordinates, value.dtype),)
        for pairs in comparison.pairs(with_plain_names(pattern.value), with_plain_names(value)):
            has_any = True
            own = () if pattern.accumulator is None else ((pattern.accumulator, theirs[0]),)
            yield pattern, (*zip(ours, theirs), *own, *pairs)
    if not has_any:
        raise refuse_unlike(nest, intrinsic, region, leaf, comparison.difference.text, is_alike=False)


def _statement(nest: Nest, stage: Stage) -> tuple[Expr, Target]:
    match stage.work:
        case Copy(target, source):
            return Access(source.tensor, source.coordinates, nest.tensors[source.tensor].dtype), target
        case Store((target,), (value,)) | Update((target,), _, (value,)):
            return value, target
    raise Refusal("tensorize", f"`{stage.name}` gives several values, and an intrinsic gives one")


def _other_work(nest: Nest, intrinsic: Intrinsic, pattern: Pattern, stage: Stage) -> str | None:
    """What the statement does to its target, where that is something else than the pattern does."""
    value, target = _statement(nest, stage)
    ours, theirs = intrinsic.program.tensors[pattern.target.tensor].dtype, nest.tensors[target.tensor].dtype
    reducer = stage.work.reducer if isinstance(stage.work, Update) else None
    name = None if reducer is None or not reducer.is_builtin else reducer.name
    if pattern.reducer != name or (reducer is not None and name is None):
        return f"it {_does(pattern.reducer, 'its target')}, and the nest {_does(name, f'`{target.tensor}`')}"
    if ours != theirs or value.dtype != ours:
        return f"it gives {ours}, and the nest computes {value.dtype} into `{target.tensor}`, which is {theirs}"
    return None


def _does(reducer: str | None, what: str) -> str:
    verbs = {None: f"stores {what}", "sum": f"adds to {what}", "prod": f"multiplies into {what}"}
    return verbs.get(reducer, f"takes the `{reducer}` with {what}")


# ---- loops and indices


def _countings(
    nest: Nest, pattern: Pattern, region: Path, leaf: Leaf, difference: Difference
) -> Iterator[dict[Symbol, Symbol]]:
    """Each way to give every index of the pattern a loop of its extent and kind: the index that each loop counts."""
    loops = [loop for loop in region if loop.hi - loop.lo != forms.constant(1)]
    kinds = [*((each, False) for each in pattern.indices), *((each, True) for each in pattern.reduction)]
    indices = [each for each in kinds if (each[0].hi - each[0].lo).constant != 1]
    if len(loops) != len(indices):
        runs = " and ".join(f"`{loop.name}` runs {loop.hi - loop.lo} times" for loop in loops) or "no loop is left"
        difference.note(0, f"it counts {_extents(indices)}, and in the nest {runs}")
        return
    for chosen in permutations(indices):
        pairs = list(zip(loops, chosen))
        wrong = [
            (loop, index)
            for loop, (index, of_reduction) in pairs
            if (loop.hi - loop.lo) != (index.hi - index.lo) or of_reduction != is_reduced(nest, leaf, loop)
        ]
        if not wrong:
            yield {loop.symbol: index.index for loop, (index, _) in pairs}
        elif len(wrong) == 1 and is_reduced(nest, leaf, wrong[0][0]) == (wrong[0][1] in pattern.reduction):
            loop, index = wrong[0]
            size = (index.hi - index.lo).constant
            difference.note(0, f"`{index.index}` runs {size} times, and `{loop.name}` {loop.hi - loop.lo}")
    if not difference.text:
        runs = " and ".join(f"`{loop.name}` runs {loop.hi - loop.lo} times" for loop in loops)
        difference.note(0, f"it counts {_extents(indices)}, and in the nest {runs}")


def _extents(indices: Sequence[tuple[Binder, bool]]) -> str:
    texts = [f"`{each.index}` to {(each.hi - each.lo).constant}" for each, _ in indices]
    return " and ".join(texts) or "nothing"


def _assigned(
    nest: Nest,
    intrinsic: Intrinsic,
    pattern: Pattern,
    pairs: Sequence[Pair],
    region: Path,
    leaf: Leaf,
    counted: dict[Symbol, Symbol],
) -> Invocation | str:
    """The call, where the loops count these indices; in words why there is none."""
    points = Points.of((*pattern.indices, *pattern.reduction), counted)
    begins = {
        loop.symbol: loop.lo + forms.symbol(loop.symbol) if loop.symbol in counted else loop.lo for loop in region
    }
    at = {own: forms.substitute(form, begins) for own, form in leaf.at}
    through = dict(leaf.through)
    found: dict[str, Operand] = {}
    for ours, theirs in pairs:
        if isinstance(ours, Integer) and isinstance(theirs, Integer):
            if not _same_integers(points, ours.form, forms.substitute(theirs.form, at)):
                return f"where it has the number `{ours.form}`, the nest has `{theirs.form}`"
            continue
        assert isinstance(ours, Access)
        assert isinstance(theirs, Access)
        shape = _shape(intrinsic, ours.tensor)
        element = [forms.substitute(form, at) for form in theirs.subscripts]
        made = operand(points, ours.tensor, shape, ours.subscripts, through.get(theirs.tensor, theirs.tensor), element)
        if isinstance(made, Unlike):
            return made.why
        made = replace(made, written=theirs.subscripts)
        if found.setdefault(ours.tensor, made) != made:
            return f"`{ours.tensor}` would be both a part of `{found[ours.tensor].tensor}` and another"
    output = found.pop(pattern.target.tensor)
    return (
        overlap(output, _shape(intrinsic, output.name))
        or _not_read(intrinsic, found)
        or _reads_itself(pattern, found, output)
        or Invocation(intrinsic, leaf, tuple(found[name] for name in intrinsic.program.inputs), output)
    )


def _same_integers(points: Points, ours: Form, theirs: Form) -> bool:
    one, other = points.of_indices(ours), points.of_loops(theirs)
    if one is None or other is None or not other[0].is_constant:
        return False
    return all(value == other[0].constant + moved for value, moved in zip(one, other[1]))


def _shape(intrinsic: Intrinsic, name: str) -> list[int]:
    return [size.constant for size in intrinsic.program.tensors[name].shape]


def _not_read(intrinsic: Intrinsic, found: dict[str, Operand]) -> str | None:
    missing = [name for name in intrinsic.program.inputs if name not in found]
    return f"its operand `{missing[0]}` is in no place of the statement" if missing else None


def _reads_itself(pattern: Pattern, found: dict[str, Operand], output: Operand) -> str | None:
    """An iteration may read what another has written, which an instruction does not."""
    own = None if pattern.accumulator is None else pattern.accumulator.tensor
    for name, each in found.items():
        if name != own and each.tensor == output.tensor:
            return f"the nest reads `{output.tensor}`, which it writes, as `{name}`"
    return None
