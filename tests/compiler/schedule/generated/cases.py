"""A random op under a random schedule, with sizes to try: all of it follows from a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from tdl.compiler.schedule.apply import Applied, apply_schedule
from tdl.language import syntax
from tdl.language.analysis import Analysis, analyse
from tdl.language.arrays import Array, numpy_dtype
from tdl.language.check import check_op
from tdl.language.forms import Symbol, evaluate
from tdl.language.samples import random_array
from tdl.language.scope import Declaration
from tdl.language.signature import Instance
from tdl.language.source import Source
from tdl.language.tree import Program

from tests.compiler.schedule.generated.intrinsics import declared, tensorize
from tests.compiler.schedule.generated.lines import Writer, random_line
from tests.compiler.schedule.generated.ops import RandomOp, random_op, random_sizes, with_facts

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Case:
    """An op, the lines of its schedule, and sizes at which both are tried. `ranks` are those of packs."""

    seed: int
    op: RandomOp
    lines: tuple[str, ...]
    sizes: tuple[Sizes, ...]
    ranks: tuple[tuple[str, int], ...] = ()

    @property
    def text(self) -> str:
        lines = "\n".join(f"    {line}" for line in self.lines)
        return f"{declared(self.lines)}{self.op.text}schedule f for cpu {{\n{lines}\n}}\n"


class Subject:
    """A case's op and schedule, checked."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.analysis: Analysis = analyse(Source("random.tdl", case.text))
        declared = [entry.declaration for entry in self.analysis.module.entries]
        self.op: Declaration = next(each for each in declared if isinstance(each.item, syntax.Op))
        self.schedule: Declaration = next(each for each in declared if isinstance(each.item, syntax.Schedule))
        self.ranks = dict(case.ranks)

    @property
    def program(self) -> Program:
        """The op for all sizes. Raises ValueError where it is wrong."""
        return self._checked({})

    def program_at(self, sizes: Sizes) -> Program:
        """The op with its sizes bound."""
        return self._checked(sizes)

    def _checked(self, sizes: Sizes) -> Program:
        plain = check_op(self.op)
        if not sizes and not self.ranks:
            checked = plain
        else:
            parameters = {name: value for name, value in plain.program.parameters.items() if value is not None}
            checked = check_op(self.op, Instance.of(parameters, self.ranks, dict(sizes)))
        if not checked.is_sound:
            raise ValueError([each.message for each in checked.diagnostics])
        return checked.program

    def applied(self) -> Applied:
        return apply_schedule(self.program, self.schedule)

    def applied_at(self, sizes: Sizes) -> Applied:
        return apply_schedule(self.program_at(sizes), self.schedule, sizes=symbols(sizes))

    def inputs(self, sizes: Sizes) -> dict[str, Array]:
        """Small integers in every type; subscripts that are inside."""
        found = {}
        for name in self.program.inputs:
            tensor = self.program.tensors[name]
            shape = tuple(evaluate(size, symbols(sizes)) for size in tensor.shape)
            found[name] = self._input(name, tensor.dtype, shape, sizes)
        return found

    def _input(self, name: str, dtype: Any, shape: tuple[int, ...], sizes: Sizes) -> Array:
        numbers = np.random.default_rng([self.case.seed, len(name), *shape])
        for indices, dim in self.case.op.indices:
            if name == indices:
                return numbers.integers(0, _size(dim, sizes), shape).astype(numpy_dtype(dtype))
        for offsets, dim in self.case.op.offsets:
            if name == offsets:
                return np.sort(numbers.integers(0, _size(dim, sizes) + 1, shape)).astype(numpy_dtype(dtype))
        if dtype.is_float:
            return numbers.integers(-9, 10, shape).astype(numpy_dtype(dtype))
        return random_array(name, dtype, shape, self.case.seed)


def symbols(sizes: Sizes) -> dict[Symbol, int]:
    return {Symbol(name, "dim"): size for name, size in sizes.items()}


def _size(dim: str, sizes: Sizes) -> int:
    """The value of a size in text."""
    return int(eval(dim, {"__builtins__": {}}, dict(sizes)))


def random_case(seed: int) -> Case:
    """The case of a seed."""
    rng = Random(seed)
    op = random_op(rng)
    ranks: tuple[tuple[str, int], ...] = ()
    if op.kinds == ("pack",):
        ranks = (("S", rng.randint(0, 3)),)
        op = replace(op, dims=tuple(f"S.{axis}" for axis in range(ranks[0][1])))
    case = Case(seed, op, (), (), ranks)
    writer: Writer | None = None
    for _ in range(rng.choice((1, 2, 3, 4, 4, 5, 5, 6, 7, 8))):
        subject = Subject(case)
        try:
            steps = subject.applied().steps
        except Exception:
            break
        nest = steps[-1].nest
        last = case.lines[-1] if case.lines and steps[-1].refusal is None else ""
        writer = Writer(rng, nest, dims=op.dims) if writer is None else replace(writer, nest=nest, last=last)
        line = random_line(writer)
        if line.startswith("require") and "." not in line:
            case = replace(case, op=with_facts(case.op, [line.removeprefix("require ")]))
        case = replace(case, lines=(*case.lines, line))
    sizes = tuple(random_sizes(case.op, rng) for _ in range(3))
    return replace(case, sizes=sizes, lines=(*case.lines, *_tensorized(case)))


def _tensorized(case: Case) -> tuple[str, ...]:
    """For some cases one more line, which nothing else follows from."""
    rng = Random(f"tensorize {case.seed}")
    if rng.random() < 0.5:
        return ()
    try:
        nest = Subject(case).applied().nest
    except Exception:
        return ()  # which is reported without it
    line = tensorize(nest, rng)
    return () if line is None else (line,)
