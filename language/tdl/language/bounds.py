"""Is every access inside its tensor?

Each affine subscript is proved to be in bounds for all sizes that the facts admit, wherever the access runs. What
cannot be proved is an error with the least counterexample, unless it is beyond proof: a subscript through data is
tested when it runs, and one that is quasi-affine only once sizes have numbers is tested too, and proved before a call.
A boundary needs no proof, but `edge`, `wrap` and `mirror` need an element to land on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tdl.language import forms
from tdl.language.conditions import AtLeast, Formula, forms_of, nature, negation, some
from tdl.language.diagnostic import Fix
from tdl.language.domains import Domain, visit_accesses
from tdl.language.forms import Form
from tdl.language.inequalities import Facts
from tdl.language.printing import text_of
from tdl.language.proof import connected, holds
from tdl.language.report import Report
from tdl.language.sets import Undecided
from tdl.language.source import Span
from tdl.language.tree import Access, Definition, Expr, Obligation, Program, map_children
from tdl.language.witness import Point, find_witness, is_refuted_at, show_element, show_point, size_facts, size_symbols

_REMEDY = "add a boundary such as `| 0`, give an index a smaller range, or state a `where` fact"


@dataclass
class _Checker:
    program: Program
    report: Report
    facts: Facts
    checked: dict[int, tuple[bool, ...]] = field(default_factory=dict)  # by the identity of the access
    obligations: list[Obligation] = field(default_factory=list)

    def visit(self, access: Access, domain: Domain) -> None:
        tensor = self.program.tensors.get(access.tensor)
        if tensor is None or access.tensor in self.report.broken:
            return
        try:
            flags = self._flags(access, tensor.shape, domain)
        except Undecided:
            self.report.error(
                "undecided",
                f"whether `{text_of(access)}` is in bounds could not be decided",
                access.span,
                "simplify the subscript or the conditions around it, or give the access a boundary",
            )
            return
        if any(flags):
            before = self.checked.get(id(access), (False,) * len(flags))
            self.checked[id(access)] = tuple(a or b for a, b in zip(before, flags))

    def _flags(self, access: Access, shape: tuple[Form, ...], domain: Domain) -> tuple[bool, ...]:
        """Which subscripts are tested when they run; reports those that are wrong."""
        if access.boundary is not None:
            if access.boundary.mode != "constant":
                self._require_elements(access, shape, domain)
            return ()
        flags: list[bool] = []
        wrong: list[Formula] = []
        for subscript, size in zip(access.subscripts, shape):
            if _is_whole(subscript, size, domain):
                flags.append(False)
                continue
            goals = [goal for goal in (subscript, size - subscript - 1) if not holds(goal, self.facts, domain)]
            is_tested = bool(goals) and self._is_tested(subscript, goals, access.span, domain)
            flags.append(is_tested)
            if not is_tested:
                wrong += [negation(AtLeast(goal)) for goal in goals]
        if wrong:
            self._report_outside(access, shape, some(wrong), domain)
        return tuple(flags)

    def _is_tested(self, subscript: Form, goals: list[Form], span: Span, domain: Domain) -> bool:
        """Whether an unproved subscript is left to a test at run time, noting what is to be proved before a call."""
        if nature(subscript) == "data" or not domain.data_indices.isdisjoint(subscript.symbols()):
            return True
        if self._is_deferred(goals, domain):
            self.obligations.append(Obligation("bounds", span))
            return True
        return False

    def _is_deferred(self, goals: list[Form], domain: Domain) -> bool:
        """Whether a proof may be found once sizes have numbers: not all is affine now, and no sizes refute it."""
        symbols = [symbol for goal in goals for symbol in goal.symbols()]
        known = connected((*self.facts.formulas, *domain.formulas()), symbols)
        every_form = (*goals, *(form for formula in known for form in forms_of(formula)))
        return any(nature(form) == "deferred" for form in every_form) and not self._is_refuted(goals, domain)

    def _is_refuted(self, goals: list[Form], domain: Domain) -> bool:
        """Whether the goals fail at the least sizes that come to mind."""
        wrong = some(negation(AtLeast(goal)) for goal in goals)
        known = (*self.facts.formulas, *domain.formulas())
        return any(is_refuted_at(wrong, known, size_symbols(self.program), least) for least in (0, 1, 2))

    def _require_elements(self, access: Access, shape: tuple[Form, ...], domain: Domain) -> None:
        missing = [size - 1 for size in shape if not holds(size - 1, self.facts, domain)]
        if not missing:
            return
        if self._is_deferred(missing, domain):
            self.obligations.append(Obligation("bounds", access.span))
            return
        point = self._witness(some(negation(AtLeast(goal)) for goal in missing), missing, domain)
        mode = access.boundary.mode if access.boundary is not None else ""
        self.report.error(
            "boundary",
            f"`{mode}` needs an element to read, but `{access.tensor}` may be empty where `{text_of(access)}` runs",
            access.span,
            *([f"{show_point(point)}: `{access.tensor}` is empty"] if point else []),
            "state a `where` fact, or use a constant boundary such as `| 0`",
        )

    def _report_outside(self, access: Access, shape: tuple[Form, ...], outside: Formula, domain: Domain) -> None:
        point = self._witness(outside, access.subscripts, domain)
        notes = [_REMEDY]
        if point:
            notes.insert(0, f"{show_point(point)}: {show_element(access.tensor, access.subscripts, point)}")
        end = access.span.end
        fixes = (Fix("read 0 outside", Span(end - 1, end - 1), " | 0"),) if access.subscripts else ()
        sizes = ", ".join(map(str, shape))
        self.report.error(
            "out-of-bounds",
            f"`{text_of(access)}` reads outside of `{access.tensor}`, whose shape is [{sizes}]",
            access.span,
            *notes,
            fixes=fixes,
        )

    def _witness(self, wrong: Formula, shown: Iterable[Form], domain: Domain) -> Point | None:
        known = (*self.facts.formulas, *domain.formulas())
        order = (*size_symbols(self.program), *(binder.index for binder in domain.binders))
        return find_witness(known, wrong, order, shown)


def _is_whole(subscript: Form, size: Form, domain: Domain) -> bool:
    """Whether the subscript is an index that goes over exactly the axis: most are."""
    symbol = subscript.symbol
    for binder in reversed(domain.binders):
        if binder.index == symbol:
            return binder.hi == size and binder.lo == forms.ZERO
    return False


def _flagged(expr: Expr, checked: dict[int, tuple[bool, ...]]) -> Expr:
    def change(child: Expr) -> Expr:
        return _flagged(child, checked)

    def change_form(form: Form) -> Form:
        return form if nature(form) != "data" else forms.substitute(form, {}, change)

    changed = map_children(expr, change, change_form)
    flags = checked.get(id(expr))
    return replace(changed, checked=flags) if flags is not None and isinstance(changed, Access) else changed


def _flagged_definition(definition: Definition, checked: dict[int, tuple[bool, ...]]) -> Definition:
    condition = None if definition.filter is None else _flagged(definition.filter, checked)
    return replace(definition, filter=condition, value=_flagged(definition.value, checked))


def check_bounds(program: Program, report: Report) -> Program:
    checker = _Checker(program, report, size_facts(program))
    for definition in program.definitions:
        if not any(target.tensor in report.broken for target in definition.targets):
            visit_accesses(definition, checker.visit)
    if checker.checked:
        definitions = tuple(_flagged_definition(definition, checker.checked) for definition in program.definitions)
        program = replace(program, definitions=definitions)
    return replace(program, obligations=(*program.obligations, *checker.obligations))
