"""Whether a refusal is right, by enumeration: the line is applied all the same, at small sizes, and seen to go wrong.

`confirmed` was seen to be wrong, or is what the language says is refused; `conservative` was tried and not seen to be
wrong; `data` would be wrong for other data; `structural` is about the form of the nest, which no enumeration judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
from tdl.compiler.schedule import reorder as reordering
from tdl.compiler.schedule import skew as skewing
from tdl.compiler.schedule import verbs
from tdl.compiler.schedule.evaluate import evaluate_nest
from tdl.compiler.schedule.names import find_loop
from tdl.compiler.schedule.split import split
from tdl.compiler.schedule.store import computed_at
from tdl.compiler.schedule.tree import Nest
from tdl.compiler.schedule.values import Values, names_of
from tdl.compiler.schedule.walk import path_to
from tdl.language import syntax
from tdl.language.conditions import nature
from tdl.language.diagnostic import Diagnostic, InternalError
from tdl.language.evaluate import evaluate
from tdl.language.failure import Failure
from tdl.language.forms import Symbol
from tdl.language.forms import evaluate as evaluated
from tdl.language.tree import Access, walk

from tests.compiler.schedule.generated.cases import Sizes, Subject, symbols
from tests.compiler.schedule.generated.tracing import Reading, Trace

_TRIED = 40


def confirm(subject: Subject, number: int, nest: Nest, refusal: Diagnostic, sizes: Sequence[Sizes]) -> Any:
    """The verdict on a refusal of line `number`, which found the nest as it is given."""
    line = subject.schedule.item.body[number]  # type: ignore[union-attr]
    if refusal.code == "undecided":
        return "undecided"
    if refusal.code not in ("race", "order", "placement") or not isinstance(line, syntax.Line):
        return "structural"
    if refusal.code == "race" and line.verb.text not in ("parallel", "vectorize"):
        return "structural"  # a line that would put a conflict into a parallel loop
    goes_wrong = {"race": _races, "order": _disorders, "placement": _misplaces}[refusal.code](nest, line, refusal)
    if goes_wrong is None:
        return "confirmed"
    for here in _sizes(subject, refusal, sizes):
        with suppress(Failure):
            if goes_wrong(subject, here):
                return "confirmed"
    return "data" if _uses_data(subject) else "conservative"


Wrong = Callable[[Subject, Sizes], bool]


def _sizes(subject: Subject, refusal: Diagnostic, sizes: Sequence[Sizes]) -> Iterator[Sizes]:
    """Sizes to try: those that the refusal names, those of the case, then all small ones; only one tuple if bound."""
    op = subject.case.op
    if len(sizes) == 1:
        yield sizes[0]
        return
    named = {name: int(value) for note in refusal.notes for name, value in re.findall(r"(\w[\w.]*) = (\d+)", note)}
    for rest in (3, 4, 2, 8):
        witness = {name: named.get(name, rest) for name in op.dims}
        if max(witness.values(), default=0) <= 64 and op.admits(witness):
            yield witness
    yield from sizes
    tried = 0
    for values in product((2, 3, 5, 1, 9, 4, 8, 12), repeat=len(op.dims)):
        here = dict(zip(op.dims, values))
        if np.prod(values) <= 200 and op.admits(here):
            tried += 1
            yield here
        if tried > _TRIED:
            return


# ---- races


def _races(nest: Nest, line: syntax.Line, refusal: Diagnostic) -> Wrong | None:
    """The loop's iterations are traced."""
    (loop,) = (find_loop(nest, operand.text) for operand in line.operands if isinstance(operand, syntax.Ref))
    is_vector = line.verb.text == "vectorize"
    lanes = next((clause.values[0] for clause in line.clauses if clause.keyword.text == "by"), None)
    if isinstance(lanes, syntax.Number):
        nest = split(nest, loop, int(lanes.text), ("traced", "traced.lane"))
        loop = path_to(nest.body, Symbol(f"{loop.stage}.traced.lane", "index"))[-1]

    def races(subject: Subject, sizes: Sizes) -> bool:
        trace = Trace(nest, {loop.symbol}, {loop.symbol} if is_vector else ())
        evaluate_nest(nest, subject.inputs(sizes), symbols(sizes), trace)
        return bool(trace.clashes)

    return races


# ---- order


def _disorders(nest: Nest, line: syntax.Line, refusal: Diagnostic) -> Wrong | None:
    """The rewrite is made without its check, and run."""

    def disorders(subject: Subject, sizes: Sizes) -> bool:
        arguments = verbs.Arguments(line, 0, _values(subject))
        with patch.object(reordering, "check_order"), patch.object(skewing, "check_order"):
            made = verbs.VERBS[line.verb.text](nest, arguments)
        return _is_wrong(subject, made, sizes)

    return disorders


def _is_wrong(subject: Subject, nest: Nest, sizes: Sizes) -> bool:
    inputs = subject.inputs(sizes)
    wanted = evaluate(subject.program, inputs, symbols(sizes))
    try:
        found = evaluate_nest(nest, inputs, symbols(sizes))
    except InternalError:
        return True
    return any(not np.array_equal(found[name], wanted[name], equal_nan=True) for name in wanted)


def _values(subject: Subject) -> Values:
    """The names that the schedule's lines give to values."""
    values = Values(subject.schedule, names_of(subject.program, {}))
    for line in subject.schedule.item.body:  # type: ignore[union-attr]
        if isinstance(line, syntax.Knob | syntax.LetValue):
            values = values.named(line)
    return values


# ---- placement

_SAID_BY_THE_LANGUAGE = (
    "is an output: it must be stored",
    "is a recurrence: its elements need each other",
    "nothing reads",
    "is a loop of",
    "reads `",
    "is computed at root and kept for the whole op",
    "is not around",
    "is not placed in a loop",
    "and only as a whole",
    "would be shared by its iterations",
    "goes where",
    "which is kept for an iteration of",
    "is a copy, or a part of a tensor",
)
"""What language.md refuses whatever the sizes."""


def _misplaces(nest: Nest, line: syntax.Line, refusal: Diagnostic) -> Wrong | None:
    if any(words in refusal.message for words in _SAID_BY_THE_LANGUAGE):
        return None
    tensor = next(operand.text for operand in line.operands if isinstance(operand, syntax.Ref))
    if "is a recurrence, and only part of it" in refusal.message:
        place = next(clause.values[0] for clause in line.clauses if clause.keyword.text == "at")
        loop = find_loop(nest, place.text)  # type: ignore[union-attr]
        return lambda subject, sizes: _reads_part(subject, nest, loop.symbol, tensor, sizes)
    if "does not hold the" in refusal.message:
        tensor, _, name = tensor.rpartition(".")
        axis = verbs.axis_named(nest, tensor, name)
        count = int(re.findall(r"a ring of (\d+)", refusal.message)[0])
        at = computed_at(nest, tensor)[0][-1].symbol
        return lambda subject, sizes: any(
            span[axis] > count for span in _spans(subject, nest, at, tensor, sizes) if span
        )
    if "is an output" in refusal.message:
        place = next(clause.values[0] for clause in line.clauses if clause.keyword.text == "at")
        loop = find_loop(nest, place.text)  # type: ignore[union-attr]
        return lambda subject, sizes: not _partitions(subject, nest, loop.symbol, tensor, sizes)
    return lambda subject, sizes: False


def _partitions(subject: Subject, nest: Nest, at: Symbol, tensor: str, sizes: Sizes) -> bool:
    """Whether the iterations of a loop read every element of a tensor, and each in one of them."""
    reading = Reading(at, tensor)
    evaluate_nest(nest, subject.inputs(sizes), symbols(sizes), reading)
    count = int(np.prod([evaluated(size, symbols(sizes)) for size in nest.tensors[tensor].shape], dtype=int))
    return sum(map(len, reading.found)) == count == len(set().union(*reading.found))


def _reads_part(subject: Subject, nest: Nest, at: Symbol, tensor: str, sizes: Sizes) -> bool:
    """Whether some iteration of a loop reads less of a tensor than all of it."""
    shape = tuple(evaluated(size, symbols(sizes)) for size in nest.tensors[tensor].shape)
    return any(span != shape for span in _spans(subject, nest, at, tensor, sizes))


def _spans(subject: Subject, nest: Nest, at: Symbol, tensor: str, sizes: Sizes) -> list[tuple[int, ...]]:
    """How far apart what each iteration of a loop reads of a tensor is, by axis."""
    reading = Reading(at, tensor)
    evaluate_nest(nest, subject.inputs(sizes), symbols(sizes), reading)
    return [tuple(max(a) - min(a) + 1 for a in zip(*elements)) for elements in reading.found if elements]


def _uses_data(subject: Subject) -> bool:
    """Whether any subscript or range is data, so that other data could be what the refusal fears."""
    return bool(subject.case.op.indices or subject.case.op.offsets) or any(
        isinstance(node, Access) and any(nature(form) == "data" for form in node.subscripts)
        for definition in subject.program.definitions
        for node in walk(definition.value)
    )
