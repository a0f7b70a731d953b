"""The stages of a program, and the loops that a schedule's first line can name.

    m[i] = max(X[i, k] for k)             loops m.i, m.k               the maximum is kept in m
    Y[i] = sum(f16(X[i, k]) for k)        loops Y.i, Y.sum.i, Y.sum.k  f16 is summed in f32: an accumulator of its own
    S[0, j] = ...  S[t, j] = ...          loops S.0.j, S.1.t, S.1.j    S.t is short for S.1.t

Of several definitions with one index the short name means the one with the largest domain. Where that hangs on sizes
that are not known yet, the short name is accepted and stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce

from tdl.language import forms, tree
from tdl.language.forms import Form
from tdl.language.schedules.loops import Loop, Loops, Stage
from tdl.language.scope import Declaration


@lru_cache(maxsize=1024)
def offered_loops(op: Declaration) -> Loops | None:
    """What a schedule of an op starts from; None where the op is wrong."""
    from tdl.language.check import check_op

    checked = check_op(op)
    return loops_of(checked.program) if checked.is_sound else None


def loops_of(program: tree.Program) -> Loops:
    """The stages and loops of a checked program."""
    loops: list[Loop] = []
    stages: list[Stage] = []
    written = _written(program)
    own: dict[int, list[Loop]] = {}
    for definition in program.definitions:
        prefixes = [_prefix(written[target.tensor], definition, target.tensor) for target in definition.targets]
        made = own[definition.number] = list(_loops_of(definition, prefixes))
        loops.extend(made)
        names = {each.stage: None for each in made} | dict.fromkeys(prefixes)
        stages.extend(Stage(name, _tensor(name, definition)) for name in names)
    loops = _with_shared(loops, own, program)
    for tensor, definitions in written.items():
        stages = [each for each in stages if each.name != tensor]
        stages.append(Stage(tensor, tensor, can_vanish=_can_vanish(program.tensors[tensor], definitions, program)))
        if len(definitions) > 1:
            loops = _with_short_names(tensor, definitions, loops, program)
    return Loops(tuple(loops), tuple(stages), program.inputs)


def _with_shared(loops: list[Loop], own: dict[int, list[Loop]], program: tree.Program) -> list[Loop]:
    """The loops with one in the place of those that a recurrence makes its definitions share."""
    definitions = {definition.number: definition for definition in program.definitions}
    for sweep in _all_sweeps(program.steps):
        held: list[Loop] = []
        for number, axis in sweep.axes.items():
            symbol = definitions[number].targets[0].coordinates[axis].symbol
            held += [each for each in own[number] if symbol is not None and each.axis == symbol.name][:1]
        if len(held) > 1:
            spellings = frozenset[str]().union(*(each.spellings for each in held))
            indices = tuple(dict.fromkeys(span for each in held for span in each.indices))
            shared = replace(held[0], spellings=spellings, indices=indices)
            loops = [shared if each is held[0] else each for each in loops if not any(each is h for h in held[1:])]
    return loops


def _can_vanish(tensor: tree.Tensor, definitions: list[tree.Definition], program: tree.Program) -> bool:
    """Whether nothing is left of a tensor that is inlined: no output, no reduction, no recurrence."""
    swept = {number for numbers in _sweeps(program.steps) for number in numbers}
    is_recurrence = any(each.number in swept for each in definitions)
    return tensor.role == "intermediate" and not is_recurrence and not any(map(reductions_of, definitions))


def reductions_of(definition: tree.Definition) -> list[tree.Reduce]:
    """Every reduction in a definition, in text order, outer before inner."""
    parts = (definition.value,) if definition.filter is None else (definition.value, definition.filter)
    return [node for part in parts for node in tree.walk(part) if isinstance(node, tree.Reduce)]


def _written(program: tree.Program) -> dict[str, list[tree.Definition]]:
    written: dict[str, list[tree.Definition]] = {}
    for definition in program.definitions:
        for target in definition.targets:
            written.setdefault(target.tensor, []).append(definition)
    return written


def _prefix(definitions: Sequence[tree.Definition], definition: tree.Definition, tensor: str) -> str:
    """`S`, or `S.1` for the second of several definitions."""
    if len(definitions) == 1:
        return tensor
    return f"{tensor}.{[each.number for each in definitions].index(definition.number)}"


def _tensor(stage: str, definition: tree.Definition) -> str:
    return next(each.tensor for each in definition.targets if stage.split(".")[0] == each.tensor)


# ---- the loops of one definition


def _loops_of(definition: tree.Definition, prefixes: list[str]) -> Iterator[Loop]:
    whole = definition.value if isinstance(definition.value, tree.Reduce) else None
    for binder in definition.indices:
        yield _loop(binder, prefixes)
    for binder in _binders(whole):
        yield _loop(binder, prefixes, is_reduction=True)
    for accumulator, outer, own in _accumulators(definition, whole):
        names = [f"{prefix}.{accumulator}" for prefix in prefixes]
        for binder in (*definition.indices, *outer):
            yield replace(_loop(binder, names), has_double=True)
        for binder in own:
            yield _loop(binder, names, prefixes, is_reduction=True)


def _accumulators(
    definition: tree.Definition, whole: tree.Reduce | None
) -> Iterator[tuple[str, tuple[tree.Binder, ...], tuple[tree.Binder, ...]]]:
    """Name, enclosing reduction indices and own indices of each reduction that does not share its tensor's storage."""
    enclosing: dict[int, tuple[tree.Binder, ...]] = {}
    count: dict[str, int] = {}
    for each in reductions_of(definition):
        inner = (*enclosing.get(id(each), ()), *each.binders)
        for below in (node for child in tree.children(each) for node in tree.walk(child)):
            enclosing[id(below)] = inner
        if each is whole:
            continue
        name = each.reducer.name
        number = count.get(name, 0)
        count[name] = number + 1
        yield (f"{name}{number or ''}", enclosing.get(id(each), ()), each.binders)


def _binders(reduction: tree.Reduce | None) -> tuple[tree.Binder, ...]:
    return () if reduction is None else reduction.binders


def _loop(binder: tree.Binder, stages: list[str], short: Sequence[str] = (), *, is_reduction: bool = False) -> Loop:
    """The loop over an index; one of a pack stands for as many as the pack turns out to have."""
    axis, _, number = binder.index.name.partition(".")
    names = [f"{stage}.{axis}" for stage in (*stages, *short)]
    return Loop(names[0], stages[0], axis, frozenset(names), is_reduction, is_open=bool(number), indices=(binder.span,))


# ---- short names of several definitions


def _with_short_names(
    tensor: str, definitions: list[tree.Definition], loops: list[Loop], program: tree.Program
) -> list[Loop]:
    """`S.t` for the loop of the one definition that is meant by it."""
    holders: dict[str, list[tuple[tree.Definition, Loop]]] = {}
    for position, definition in enumerate(definitions):
        prefix = f"{tensor}.{position}."
        for loop in loops:
            for spelling in loop.spellings:
                if spelling.startswith(prefix):
                    holders.setdefault(f"{tensor}.{spelling[len(prefix) :]}", []).append((definition, loop))
    more: dict[int, set[str]] = {}
    unsettled: list[Loop] = []
    for short, found in holders.items():
        meant = _meant(found, program)
        for loop in meant or ():
            more.setdefault(id(loop), set()).add(short)
        if meant is None:
            unsettled.append(Loop(short, tensor, "", frozenset({short}), is_open=True))
    named = [replace(each, spellings=each.spellings | more.get(id(each), set())) for each in loops]
    return [*named, *unsettled]


def _meant(found: list[tuple[tree.Definition, Loop]], program: tree.Program) -> list[Loop] | None:
    """The loop of the largest domain; several where none is largest; None where that depends on sizes."""
    domains = [_Domain.of(definition) for definition, _ in found]
    largest = [domain for domain in domains if domain.rank == max(each.rank for each in domains)]
    best = largest[:1]
    for domain in largest[1:]:
        difference = domain.volume - best[0].volume
        if not difference.is_constant:
            return None
        if difference.constant > 0:
            best = [domain]
        elif difference.constant == 0 and domain.extents != best[0].extents:
            return None
        elif difference.constant == 0:
            best.append(domain)
    meant = [loop for domain, (_, loop) in zip(domains, found) if any(domain is each for each in best)]
    numbers = {domain.number for domain in best}
    is_shared = any(numbers <= axes for axes in _sweeps(program.steps))
    return meant[:1] if is_shared else meant


def _sweeps(steps: tuple[tree.Step, ...]) -> Iterator[set[int]]:
    """The definitions that share each loop of a recurrence."""
    return (set(sweep.axes) for sweep in _all_sweeps(steps))


def _all_sweeps(steps: tuple[tree.Step, ...]) -> Iterator[tree.Sweep]:
    for step in steps:
        if isinstance(step, tree.Sweep):
            yield step
            yield from _all_sweeps(step.body)


@dataclass(frozen=True, eq=False)
class _Domain:
    number: int
    rank: int
    volume: Form
    extents: tuple[Form, ...]

    @staticmethod
    def of(definition: tree.Definition) -> _Domain:
        extents = tuple(binder.hi - binder.lo for binder in definition.indices)
        return _Domain(definition.number, len(extents), reduce(forms.product, extents, forms.constant(1)), extents)
