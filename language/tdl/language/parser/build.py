"""What a reduction of the grammar makes: one method for each rule or alias of `tdl.lark`, named after it.

A method gets the children that count (a part that the text left out is None), and where the text of the rule starts
and ends. Spans come from there, so that `(a + b) * c` starts at its parenthesis. Nothing is looked up or checked here
beyond how a number is written and what a reducer consists of.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tdl.language import syntax as s
from tdl.language.diagnostic import Diagnostic
from tdl.language.parser.docs import doc_above
from tdl.language.source import Span

_DIGITS = r"\d+(?:_\d+)*"
_NUMBER = re.compile(
    rf"0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|{_DIGITS}(?:\.{_DIGITS})?(?:[eE][+-]?{_DIGITS})?|{_DIGITS}[KMG]iB", re.ASCII
)

Children = list[Any]


@dataclass(slots=True)
class Builder:
    """Builds the tree of the item `text`; `diagnostics` collects what it finds on the way."""

    text: str
    diagnostics: list[Diagnostic] = field(default_factory=list)

    # ---- lists

    def children(self, children: Children, start: int, end: int) -> Children:
        return children

    refs = names = facts = params = declarations = positional = keywords = packs = types = targets = children
    op_body = graph_body = schedule_body = intrinsic_body = property_body = reducer_body = children

    def appended(self, children: Children, start: int, end: int) -> Children:
        children[0].append(children[1])
        return children[0]  # type: ignore[no-any-return]

    def side(self, children: Children, start: int, end: int) -> Children:
        return children[0] if isinstance(children[0], list) else children

    outputs = side

    def results(self, children: Children, start: int, end: int) -> tuple[Any, ...]:
        return tuple(children)

    # ---- expressions

    def ref(self, children: Children, start: int, end: int) -> s.Ref:
        return s.Ref(tuple(children), span=Span(start, end))

    def digits(self, children: Children, start: int, end: int) -> s.Name:
        if not children[0].isdecimal():
            self._wrong_number(f"`{children[0]}` cannot be part of a name", Span(start, end))
        return s.Name(children[0], span=Span(start, end))

    def number(self, children: Children, start: int, end: int) -> s.Number:
        if not _NUMBER.fullmatch(children[0]):
            self._wrong_number(f"`{children[0]}` is not a number", Span(start, end))
            return s.Number("0", span=Span(start, end))
        return s.Number(children[0], span=Span(start, end))

    def _wrong_number(self, message: str, span: Span) -> None:
        note = "numbers are written `16`, `1_000`, `0xff`, `2.5`, `1e-5` or `48KiB`"
        self.diagnostics.append(Diagnostic("number", message, span, (note,)))

    def constant(self, children: Children, start: int, end: int) -> s.Constant:
        return s.Constant(children[0], span=Span(start, end))

    def string(self, children: Children, start: int, end: int) -> s.String:
        quotes = 3 if children[0].startswith('"""') else 1
        return s.String(children[0][quotes:-quotes], span=Span(start, end))

    def index(self, children: Children, start: int, end: int) -> s.Index:
        base, subscripts, boundary = children
        return s.Index(base, tuple(subscripts), boundary, span=Span(start, end))

    def mode(self, children: Children, start: int, end: int) -> s.Boundary:
        return s.Boundary(children[0].text, span=Span(start, end))

    def boundary(self, children: Children, start: int, end: int) -> s.Boundary:
        return s.Boundary("constant", children[0], span=Span(start, end))

    def rest(self, children: Children, start: int, end: int) -> s.Pack:
        return s.Pack(children[0], span=Span(start, end))

    def call(self, children: Children, start: int, end: int) -> s.Call:
        callee, params, args = children
        return s.Call(callee, _arguments(params), _arguments(args), span=Span(start, end))

    def named(self, children: Children, start: int, end: int) -> s.Argument:
        return s.Argument(children[0], children[1], span=Span(start, end))

    def reduction(self, children: Children, start: int, end: int) -> s.Reduction:
        callee, params, body, clause = children
        return s.Reduction(callee, _arguments(params), body, clause, span=Span(start, end))

    def for_clause(self, children: Children, start: int, end: int) -> s.ForClause:
        return s.ForClause(tuple(children[:-1]), children[-1], span=Span(start, end))

    def binder(self, children: Children, start: int, end: int) -> s.Binder:
        return s.Binder(children[0], False, children[1], span=Span(start, end))

    def pack_binder(self, children: Children, start: int, end: int) -> s.Binder:
        return s.Binder(children[0], True, span=Span(start, end))

    def index_range(self, children: Children, start: int, end: int) -> s.Range:
        return s.Range(children[0], children[1], span=Span(start, end))

    def unary(self, children: Children, start: int, end: int) -> s.Unary:
        return s.Unary(children[0], children[1], span=Span(start, end))

    def binary(self, children: Children, start: int, end: int) -> s.Binary:
        left, operator, right = children
        return s.Binary(operator, left, right, span=Span(start, end))

    def compare(self, children: Children, start: int, end: int) -> s.Compare:
        return s.Compare(children[0], tuple(zip(children[1::2], children[2::2])), span=Span(start, end))

    def conditional(self, children: Children, start: int, end: int) -> s.Conditional:
        other = children[2] if len(children) == 3 else None
        return s.Conditional(children[0], children[1], other, span=Span(start, end))

    def parenthesised(self, children: Children, start: int, end: int) -> s.Expr:
        return children[0]  # type: ignore[no-any-return]

    def tuple_expr(self, children: Children, start: int, end: int) -> s.Tuple:
        return s.Tuple((*children,), span=Span(start, end))

    def array(self, children: Children, start: int, end: int) -> s.Array:
        return s.Array((*(children[0] or ()),), span=Span(start, end))

    # ---- declarations and statements

    def type_expr(self, children: Children, start: int, end: int) -> s.TypeExpr:
        return s.TypeExpr(children[0], (*(children[1] or ()),), span=Span(start, end))

    def param(self, children: Children, start: int, end: int) -> s.Parameter:
        return s.Parameter(*children, span=Span(start, end))

    tactic_param = param

    def declaration(self, children: Children, start: int, end: int) -> s.Declaration:
        return s.Declaration(*children, span=Span(start, end))

    def element(self, children: Children, start: int, end: int) -> s.Target:
        name, subscripts, dtype = children
        return s.Target(name, (*(subscripts or ()),), dtype, span=Span(start, end))

    def definition(self, children: Children, start: int, end: int) -> s.Definition:
        targets, value, clause = children
        return s.Definition((*targets,), value, clause, doc_above(self.text, start), span=Span(start, end))

    def let(self, children: Children, start: int, end: int) -> s.Let:
        return s.Let(*children, span=Span(start, end))

    def emit(self, children: Children, start: int, end: int) -> s.Emit:
        string = children[2]
        return s.Emit(children[1], self.string([string], end - len(string), end), span=Span(start, end))

    def assign(self, children: Children, start: int, end: int) -> s.Assign:
        return s.Assign((*children[:-1],), children[-1], span=Span(start, end))

    # ---- schedule lines

    def knob(self, children: Children, start: int, end: int) -> s.Knob:
        name, value, choices = children
        return s.Knob(name, value, (*choices,), span=Span(start, end))

    def let_value(self, children: Children, start: int, end: int) -> s.LetValue:
        return s.LetValue(*children, span=Span(start, end))

    def require(self, children: Children, start: int, end: int) -> s.Require:
        return s.Require(children[0], span=Span(start, end))

    def order(self, children: Children, start: int, end: int) -> s.Array:
        return s.Array((*children[0],), span=Span(start, end))

    def clause(self, children: Children, start: int, end: int) -> s.Clause:
        is_order = children[0].text == "layout"
        values = children[1].items if is_order else _flat(children[1:])
        return s.Clause(children[0], values, span=Span(start, end))

    def memory_clause(self, children: Children, start: int, end: int) -> s.Clause:
        return s.Clause(s.Name("in", span=Span(start, start + 2)), (children[0],), span=Span(start, end))

    def line(self, children: Children, start: int, end: int) -> s.Line:
        clauses = tuple(child for child in children if isinstance(child, s.Clause))
        results = next((child for child in children if isinstance(child, tuple)), ())
        operands = [child for child in children[1:] if not isinstance(child, (s.Clause, tuple))]
        return s.Line(children[0], _flat(operands), clauses, results, span=Span(start, end))

    def layout_line(self, children: Children, start: int, end: int) -> s.Line:
        verb, tensor, order, *clauses = children
        layout = s.Clause(verb, order.items, span=order.span)
        return s.Line(verb, (tensor,), (layout, *clauses), span=Span(start, end))


def _arguments(values: Children | None) -> tuple[s.Argument, ...]:
    return tuple(
        value if isinstance(value, s.Argument) else s.Argument(None, value, span=value.span) for value in values or ()
    )


def _flat(children: Children) -> tuple[Any, ...]:
    """The children with the items of lists in place of the lists."""
    return tuple(item for child in children for item in (child if isinstance(child, list) else (child,)))
