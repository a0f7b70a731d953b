"""The plan of an op of a file: at the sizes that are set, with those of its benches as a guess for the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tdl.compiler.schedule.planner.draft import Draft
from tdl.compiler.schedule.planner.plan import plan
from tdl.language import syntax
from tdl.language.binding import instance_of
from tdl.language.cases import check_case
from tdl.language.check import check_op
from tdl.language.forms import Symbol
from tdl.language.scope import Declaration
from tdl.language.tree import Program


def automatic_schedule(
    op: Declaration,
    *,
    parameters: Mapping[str, object] | None = None,
    sizes: Mapping[str, int | Sequence[int]] | None = None,
    cases: Iterable[Declaration] = (),
) -> Draft:
    """The schedule that the compiler writes for an op; `cases` are its tests and benches.

    Raises BindError for parameters and sizes that the op does not have.
    """
    instance = instance_of(op, parameters or {}, sizes or {})
    program = check_op(op, instance).program
    known = {Symbol(name, "dim"): size for name, size in instance.sizes}
    return plan(op, program, known, guesses(program, cases))


def guesses(program: Program, cases: Iterable[Declaration]) -> Mapping[Symbol, int]:
    """The sizes of the first bench with the program's ranks; nothing where there is none."""
    for declaration in cases:
        case = check_case(declaration).case if isinstance(declaration.item, syntax.Bench) else None
        if case is not None and case.bound.program.packs == program.packs:
            return case.bound.sizes
    return {}
