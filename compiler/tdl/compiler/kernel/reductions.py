"""Reductions become accumulator stages: initialise, loop and update, then a pointwise finish that reads the result.

    Y[i] = sum(X[i, k] for k) / 2        Y.sum = 0
                                         for k in 0..K
                                             Y.sum += X[i, k]
                                         Y[i] = Y.sum / 2

Only reductions that are certain to run are taken out. One inside a branch of a conditional, on the right of `and` or
`or`, or inside a subscript or range end stays in its expression, since it may raise where it must not run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tdl.compiler.kernel.tree import Accumulator, Bind, Guard, Init, Loop, Node, Origin, Update
from tdl.language.tree import (
    Binary,
    Binder,
    Call,
    Compare,
    Convert,
    Expr,
    Let,
    Local,
    Reduce,
    Select,
    Unary,
)


@dataclass
class Reductions:
    """Takes reductions out of the expressions of one definition; `stage` names its loops and accumulators."""

    stage: str
    definition: int
    counts: dict[str, int] = field(default_factory=dict)

    def take_out(self, expr: Expr) -> tuple[tuple[Node, ...], Expr]:
        """Statements to run first, and the expression that then has the same value."""
        match expr:
            case Reduce():
                accumulator = Accumulator(self._name(expr), expr.reducer)
                return self.loops(expr, accumulator), Local(accumulator.local(0), expr.dtype, span=expr.span)
            case Let(name, value, body):
                before, value = self.take_out(value)
                inside, body = self.take_out(body)
                if not inside:
                    return before, replace(expr, value=value)
                bind = Bind(name, value, Origin(self.definition, expr.span))
                return (*before, bind, *inside), body
            case Select(condition):
                before, condition = self.take_out(condition)
                return before, replace(expr, condition=condition)
            case Binary(operator, left) if operator in ("and", "or"):
                before, left = self.take_out(left)
                return before, replace(expr, left=left)
            case Binary(_, left, right) | Compare(_, left, right):
                first, left = self.take_out(left)
                second, right = self.take_out(right)
                return first + second, replace(expr, left=left, right=right)
            case Unary(_, operand) | Convert(operand):
                before, operand = self.take_out(operand)
                return before, replace(expr, operand=operand)
            case Call(_, args):
                before, args = self.take_out_all(args)
                return before, replace(expr, args=args)
        return (), expr

    def take_out_all(self, exprs: tuple[Expr, ...]) -> tuple[tuple[Node, ...], tuple[Expr, ...]]:
        taken = [self.take_out(expr) for expr in exprs]
        return tuple(node for before, _ in taken for node in before), tuple(expr for _, expr in taken)

    def loops(self, reduce: Reduce, accumulator: Accumulator) -> tuple[Node, ...]:
        """Initialise the accumulator and run the reduction's loops, innermost the update."""
        origin = Origin(self.definition, reduce.span)
        before, args = self.take_out_all(reduce.args)
        body = (*before, Update(accumulator, args, origin))
        body = self.guarded(reduce.filter, body, origin)
        return Init(accumulator, origin), *binder_loops(accumulator.stage, reduce.binders, body, origin)

    def guarded(self, condition: Expr | None, body: tuple[Node, ...], origin: Origin) -> tuple[Node, ...]:
        """The body under a filter, if there is one."""
        if condition is None:
            return body
        before, condition = self.take_out(condition)
        return (*before, Guard(condition, body, origin))

    def _name(self, reduce: Reduce) -> str:
        name = reduce.reducer.name
        count = self.counts.get(name, 0)
        self.counts[name] = count + 1
        return f"{self.stage}.{name}{count or ''}"


def binder_loops(stage: str, binders: tuple[Binder, ...], body: tuple[Node, ...], origin: Origin) -> tuple[Node, ...]:
    """The body inside one reduction loop for each binder, the first outermost."""
    for binder in reversed(binders):
        body = (Loop(stage, binder.index, binder.lo, binder.hi, "reduction", body, origin),)
    return body
