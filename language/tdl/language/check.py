"""An op, checked: from its syntax to a `Program`, for one instance.

The head is elaborated first, then every definition's types, then (once all are settled) the trees are built, and the
proofs run on them: ranges, bounds, coverage, order. Everything wrong is reported, and what is broken is left out of the
later steps, so that one mistake gives one diagnostic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tdl.language import tree
from tdl.language.bounds import check_bounds
from tdl.language.coverage import check_coverage
from tdl.language.definitions import Drafted, elaborate_body
from tdl.language.diagnostic import Diagnostic
from tdl.language.order import find_order
from tdl.language.ranges import infer_ranges
from tdl.language.report import Report
from tdl.language.scope import Context, Declaration
from tdl.language.signature import Instance, Signature, check_solvable, elaborate_signature
from tdl.language.types import settle

PROOFS: tuple[Callable[[tree.Program, Report], tree.Program], ...] = (
    infer_ranges,
    check_bounds,
    check_coverage,
    find_order,
)


@dataclass(frozen=True)
class Checked:
    """The program (with what could be built of it) and everything wrong; spans relative to the op's item."""

    program: tree.Program
    diagnostics: tuple[Diagnostic, ...]
    is_broken: bool = False
    """Whether something in it, or that it refers to, was reported elsewhere: as a syntax error, or where it stands."""

    @property
    def is_sound(self) -> bool:
        return not self.is_broken and not any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


def check_op(declaration: Declaration, instance: Instance = Instance()) -> Checked:  # noqa: B008 (immutable)
    """Check an op with what the instance binds. Memoised on the declaration's content."""
    return _check(declaration, instance)


@lru_cache(maxsize=4096)
def _check(declaration: Declaration, instance: Instance) -> Checked:
    """The instance is never left out here: to the memo, a call that omits it would be another call."""
    context = Context(Report(), declaration.text)
    try:
        program = _proved(declaration, instance, context)
    except RecursionError:
        program = tree.Program(declaration.name, {}, (), {}, {}, (), (), (), (), ())
        context.report.diagnostics.clear()
        context.error("definition", f"`{declaration.name}` nests too deeply to be checked", declaration.span)
    report = context.report
    ordered = sorted(report.diagnostics, key=lambda each: each.primary.start)
    return Checked(program, tuple(ordered), bool(report.broken))


def _proved(declaration: Declaration, instance: Instance, context: Context) -> tree.Program:
    signature = elaborate_signature(declaration, instance, context)
    if not context.failed:
        check_solvable(declaration.item, signature)  # type: ignore[arg-type]
    drafted = elaborate_body(declaration.item, signature, context)  # type: ignore[arg-type]
    program = _draft(declaration, signature, drafted)
    for proof in PROOFS:
        program = proof(program, context.report)
    return program


def _draft(declaration: Declaration, signature: Signature, drafted: Drafted) -> tree.Program:
    tensors = {
        entity.name: tree.Tensor(
            entity.name, entity.role, settle(entity.type), entity.shape or (), entity.doc, span=entity.span
        )
        for entity in drafted.tensors
    }
    item = declaration.item
    return tree.Program(
        name=declaration.name,
        parameters=signature.parameters,
        dims=tuple(signature.dims),
        packs=signature.packs,
        tensors=tensors,
        inputs=tuple(tensor.name for tensor in signature.inputs),
        outputs=tuple(tensor.name for tensor in signature.outputs),
        facts=tuple(signature.facts),
        definitions=drafted.definitions,
        steps=(),
        doc=getattr(item, "doc", None),
    )
