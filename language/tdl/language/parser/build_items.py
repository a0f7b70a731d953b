"""The items of the syntax tree: `build` for what stands on a file's top level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tdl.language import syntax as s
from tdl.language.diagnostic import Diagnostic
from tdl.language.parser.build import Builder, Children
from tdl.language.parser.docs import doc_above
from tdl.language.source import Span


@dataclass(slots=True)
class ItemBuilder(Builder):
    def doc(self, start: int) -> str | None:
        return doc_above(self.text, start)

    def import_(self, children: Children, start: int, end: int) -> s.Import:
        return s.Import(children[0], span=Span(start, end))

    def from_(self, children: Children, start: int, end: int) -> s.Import:
        return s.Import(children[0], (*children[1:],), span=Span(start, end))

    def const(self, children: Children, start: int, end: int) -> s.Const:
        return s.Const(children[0], children[1], children[2], self.doc(start), span=Span(start, end))

    def fn(self, children: Children, start: int, end: int) -> s.Fn:
        name, params, args, result, body = children
        return s.Fn(name, _all(params), _all(args), result, body, self.doc(start), span=Span(start, end))

    def identity(self, children: Children, start: int, end: int) -> tuple[str, s.Expr, Span]:
        return children[0].text, children[1], Span(start, end)

    combine = identity

    def reducer(self, children: Children, start: int, end: int) -> s.Reducer:
        name, params, left, right, results, body = children
        parts = self._reducer_parts(name, _all(body))
        return s.Reducer(
            name,
            _all(params),
            _all(left),
            _all(right),
            _all(results),
            parts.get("identity"),
            parts.get("combine"),
            self.doc(start),
            span=Span(start, end),
        )

    def _reducer_parts(self, name: s.Name, body: tuple[Any, ...]) -> dict[str, s.Expr]:
        """`identity` and `combine`, each once; what broken text was meant to be is not asked for."""
        parts: dict[str, s.Expr] = {}
        is_whole = not self.diagnostics
        for keyword, value, span in (part for part in body if not isinstance(part, s.Broken)):
            if keyword in parts:
                self.diagnostics.append(Diagnostic("reducer", f"`{keyword}` is given twice", span))
            parts.setdefault(keyword, value)
        if is_whole:
            for keyword in ("identity", "combine"):
                if keyword not in parts:
                    message = f"the reducer `{name.text}` has no `{keyword}`"
                    self.diagnostics.append(Diagnostic("reducer", message, name.span))
        return parts

    def op(self, children: Children, start: int, end: int) -> s.Op:
        name, params, inputs, outputs, facts, body = children
        parts = (_all(params), _all(inputs), _all(outputs), _all(facts), _all(body))
        return s.Op(name, *parts, self.doc(start), span=Span(start, end))

    def graph(self, children: Children, start: int, end: int) -> s.Graph:
        name, params, inputs, outputs, facts, body = children
        parts = (_all(params), _all(inputs), _all(outputs), _all(facts), _all(body))
        return s.Graph(name, *parts, self.doc(start), span=Span(start, end))

    def schedule(self, children: Children, start: int, end: int) -> s.Schedule:
        op, target, condition, body = children
        return s.Schedule(op, target, condition, _all(body), self.doc(start), span=Span(start, end))

    def tactic(self, children: Children, start: int, end: int) -> s.Tactic:
        name, *params, body = children
        return s.Tactic(name, _all(params), _all(body), self.doc(start), span=Span(start, end))

    def intrinsic(self, children: Children, start: int, end: int) -> s.Intrinsic:
        name, params, inputs, outputs, target, features, body = children
        return s.Intrinsic(
            name,
            _all(params),
            _all(inputs),
            _all(outputs),
            target,
            _all(features),
            _all(body),
            self.doc(start),
            span=Span(start, end),
        )

    def memory(self, children: Children, start: int, end: int) -> s.Memory:
        return s.Memory(children[0], _all(children[1]), self.doc(start), span=Span(start, end))

    def target(self, children: Children, start: int, end: int) -> s.TargetItem:
        name, parent, body = children
        return s.TargetItem(name, parent, _all(body), self.doc(start), span=Span(start, end))

    def property(self, children: Children, start: int, end: int) -> s.Property:
        return s.Property(children[0], _all(children[1]), span=Span(start, end))

    def test_body(self, children: Children, start: int, end: int) -> tuple[s.Call, tuple[s.Argument, ...]]:
        return children[0], _all(children[1:])

    def test(self, children: Children, start: int, end: int) -> s.Test:
        name, body = children
        call, expect = body or (None, ())
        return s.Test(name, call, expect, self.doc(start), span=Span(start, end))

    def bench(self, children: Children, start: int, end: int) -> s.Bench:
        return s.Bench(children[0], children[1], self.doc(start), span=Span(start, end))


def _all(children: Children | None) -> tuple[Any, ...]:
    """The children without the None that stands for an empty list."""
    return tuple(child for child in children or () if child is not None)
