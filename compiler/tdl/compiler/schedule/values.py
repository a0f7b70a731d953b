"""Values in schedule lines: numbers by now, since a knob has its value and sizes may be bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.language import expressions, forms, syntax, tree
from tdl.language.folding import value_of
from tdl.language.report import Report
from tdl.language.schedules.settings import entity_of
from tdl.language.scope import Context, Declaration, Entity, IndexEntity, Scope, SizeEntity
from tdl.language.tree import Program


def names_of(program: Program, sizes: Mapping[forms.Symbol, int]) -> dict[str, Entity]:
    """What a schedule's lines may speak of from the start: the sizes of a program, bound or not, and its parameters."""
    names: dict[str, Entity] = {symbol.name: SizeEntity(forms.symbol(symbol)) for symbol in program.dims}
    for name, value in program.parameters.items():
        if isinstance(value, int) and not isinstance(value, bool):
            names[name] = SizeEntity(forms.constant(value))
    return {**names, **{symbol.name: SizeEntity(forms.constant(size)) for symbol, size in sizes.items()}}


@dataclass(frozen=True, slots=True)
class Values:
    """The names that a line of a schedule may speak of: sizes, parameters, and the knobs and `let`s above it."""

    schedule: Declaration
    names: Mapping[str, Entity]
    knobs: Mapping[str, int] = field(default_factory=dict)

    def named(self, line: syntax.Knob | syntax.LetValue) -> Values:
        """With a knob's chosen value, or what a `let` stands for."""
        name = line.name.text
        if isinstance(line, syntax.Knob) and name in self.knobs:
            entity: Entity = SizeEntity(forms.constant(self.knobs[name]))
        else:
            entity = entity_of(expressions.elaborate(line.value, self._scope()))
        return replace(self, names={**self.names, name: entity})

    def integer(self, expr: syntax.Expr, what: str) -> int:
        """An integer; refused where it depends on a size that has no number here."""
        built = self.built(expr)
        if isinstance(built, tree.Integer) and not built.form.is_constant:
            note = "it is known once the op is called; `tdlc show --set` and `test` sizes give it"
            raise NeedsSize(f"{what} is {built.form}, which depends on a size", note)
        value = value_of(built)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Refusal("schedule", f"{what} must be an integer")
        return value

    def integers(self, exprs: Sequence[syntax.Expr], what: str) -> list[int]:
        """Several integers, or one list of them."""
        if len(exprs) == 1 and isinstance(exprs[0], syntax.Array):
            exprs = exprs[0].items
        return [self.integer(expr, what) for expr in exprs]

    def forms(self, exprs: Sequence[syntax.Expr], axes: Sequence[str]) -> list[forms.Form]:
        """Forms over the axes of a tensor, by the names given to them; axis `a` is `Symbol(str(a), "index")`."""
        if len(exprs) == 1 and isinstance(exprs[0], syntax.Array):
            exprs = exprs[0].items
        named = {name: IndexEntity(forms.Symbol(str(axis), "index")) for axis, name in enumerate(axes)}
        return [tree.form_of(self.built(expr, named)) for expr in exprs]

    def fact(self, expr: syntax.Expr) -> tree.Expr:
        """A bool over sizes and parameters."""
        return self.built(expr)

    def built(self, expr: syntax.Expr, more: Mapping[str, Entity] | None = None) -> tree.Expr:
        """The checked expression; `more` are names that only it may speak of."""
        scope = self._scope().with_names(more or {})
        typed = expressions.elaborate(expr, scope)
        if scope.context.failed:
            found = scope.context.report.diagnostics
            raise Refusal("schedule", found[0].message if found else "this value is wrong")
        return typed.build()

    def _scope(self) -> Scope:
        context = Context(Report(), self.schedule.text)
        return Scope(context, self.schedule.environment, self.names)
