"""Unroll, parallel, vectorize: what kind of loop a loop is.

    unroll i        straight-line copies of the body; always legal, needs a known bound of the extent
    parallel i      iterations at the same time on several threads; legal where the loop carries no dependence
    vectorize i     iterations in the lanes of one vector; legal where it carries none but a reduction's own combining

A reduction is never parallel: two iterations write one element. `rfactor` gives each its own, to be added later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tdl.compiler.schedule.bounds import greatest_extent
from tdl.compiler.schedule.races import Conflict, conflict
from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.compiler.schedule.split import split
from tdl.compiler.schedule.tree import Kind, Loop, Nest, Node, Update
from tdl.compiler.schedule.walk import leaves_of, loops_of, path_to, replace_loop
from tdl.language.forms import Symbol
from tdl.language.sets import Undecided


def unroll(nest: Nest, loop: Loop, line: int = -1) -> Nest:
    """Straight-line copies of the body."""
    count = greatest_extent(loop)
    if count is None:
        raise NeedsSize(
            f"`{loop.name}` runs over {loop.lo}..{loop.hi}, which is not bounded by a number",
            "split it by a number first",
        )
    if count > 1024:
        raise Refusal("schedule", f"`{loop.name}` has {count} iterations, too many to unroll", "split it first")
    return _marked(nest, loop, "unrolled", line)


def parallel(nest: Nest, loop: Loop, line: int = -1) -> Nest:
    """Iterations on several threads; `check_kinds` asks whether they may be."""
    return _marked(nest, loop, "parallel", line)


def vectorize(nest: Nest, loop: Loop, lanes: int | None = None, line: int = -1) -> Nest:
    """Iterations in lanes. `lanes` splits first; the outer part keeps the name, and is unrolled where it is short."""
    if lanes is None:
        count = greatest_extent(loop)
        if count is None:
            note = f"give the number of lanes: `vectorize {loop.name} by 16`"
            raise NeedsSize(f"`{loop.name}` runs over {loop.lo}..{loop.hi}, which is not bounded by a number", note)
        return _marked(nest, loop, "vector", line)
    if lanes < 1 or lanes & (lanes - 1):
        raise Refusal("schedule", f"a vector has a power of two lanes, not {lanes}")
    names = (loop.name, f"{loop.name}.lane")
    result = split(nest, loop, lanes, names, line)
    outer, inner = (Symbol(f"{loop.stage}.{name}", "index") for name in names)
    children = {key: value for key, value in result.children.items() if key != loop.label}
    result = replace(result, children=children)
    lane = path_to(result.body, inner)[-1]
    if _conflict(result, lane, allow_reductions=True) is not None:
        _free_of_conflicts(nest, loop, "a vector", allow_reductions=True)
    result = _marked(result, lane, "vector", line)
    whole = path_to(result.body, outer)[-1]
    steps = greatest_extent(whole)
    return _marked(result, whole, "unrolled", line) if steps is not None and steps <= 8 else result


def check_kinds(before: Nest, after: Nest) -> None:
    """Refuse a line that leaves a parallel or vector loop what it may not be: whatever changed in it is asked again."""
    known = {loop.symbol: loop for loop in loops_of(before.body)}
    for loop in loops_of(after.body):
        if loop.kind in ("serial", "unrolled") or (known.get(loop.symbol) == loop and before.buffers == after.buffers):
            continue
        what = "parallel" if loop.kind == "parallel" else "a vector"
        _free_of_conflicts(after, loop, what, allow_reductions=loop.kind == "vector")
        inner = next((each for each in loops_of(loop.body) if each.kind in ("vector", "parallel")), None)
        if loop.kind == "vector" and inner is not None:
            raise Refusal("schedule", f"`{loop.name}` is a vector, and `{inner.name}` in it is {inner.kind}")
        if loop.kind == "vector" and greatest_extent(loop) is None:
            raise NeedsSize(f"`{loop.name}` is a vector of {loop.hi - loop.lo} lanes, which no number bounds")


def _marked(nest: Nest, loop: Loop, kind: Kind, line: int) -> Nest:
    if loop.kind != "serial":
        raise Refusal("schedule", f"`{loop.name}` is {loop.kind} already")

    def change(old: Loop) -> tuple[Node, ...]:
        return (replace(old, kind=kind, line=line),)

    return replace(nest, body=replace_loop(nest.body, loop.symbol, change))


def _free_of_conflicts(nest: Nest, loop: Loop, what: str, *, allow_reductions: bool) -> None:
    found = _conflict(nest, loop, allow_reductions=allow_reductions)
    if found is None:
        return
    verb = "be parallel" if what == "parallel" else f"be {what}"
    notes = [*found.sentences()]
    stage = _reduces(nest, loop)
    if stage is not None and not allow_reductions:
        notes.append(f"`rfactor` gives each iteration a partial result of its own: `rfactor {loop.label} -> P`")
    notes.extend(_alternatives(nest, loop, allow_reductions))
    raise Refusal("race", f"`{loop.label}` cannot {verb}: two of its iterations touch {found.element}", *notes)


def _conflict(nest: Nest, loop: Loop, *, allow_reductions: bool) -> Conflict | None:
    try:
        return conflict(nest, loop, allow_reductions=allow_reductions)
    except Undecided as why:
        message = f"whether `{loop.name}` carries a dependence could not be decided"
        raise Refusal("undecided", message, str(why) or "it was searched for too long") from None


def _reduces(nest: Nest, loop: Loop) -> str | None:
    """The stage whose reduction the loop runs over."""
    for _, leaf in leaves_of((loop,)):
        stage = nest.stages[leaf.stage]
        reduced = {binder.index for binder in stage.reduction}
        if isinstance(stage.work, Update) and any(
            own in reduced and form.mentions(loop.symbol) for own, form in leaf.at
        ):
            return stage.name
    return None


def _alternatives(nest: Nest, loop: Loop, allow_reductions: bool) -> list[str]:
    """The loops around and inside that could be of the kind."""
    outermost = path_to(nest.body, loop.symbol)[0]
    names = Counter(each.name for each in loops_of(nest.body))
    free: list[str] = []
    for each in loops_of((outermost,)):
        if each.symbol == loop.symbol or each.kind != "serial":
            continue
        try:
            if conflict(nest, each, allow_reductions=allow_reductions) is None:
                free.append(f"`{each.name if names[each.name] == 1 else each.label}`")
        except Undecided:
            continue
    return [f"of the loops here, {', '.join(dict.fromkeys(free))} could"] if free else []
