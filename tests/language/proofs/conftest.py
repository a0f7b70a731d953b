"""What the tests of the proofs share: checking a text, and small sizes tried one by one as a referee."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import pytest
from tdl.language import forms, syntax
from tdl.language.analysis import analyse
from tdl.language.check import check_op
from tdl.language.diagnostic import Diagnostic
from tdl.language.forms import Form, Symbol
from tdl.language.source import Source
from tdl.language.tree import Access, Binary, Binder, Compare, Definition, Expr, Integer, Program, Reduce, Select, Unary
from tdl.language.tree import children as children_of

Values = Mapping[Symbol, int]
Checked = tuple[Program, tuple[Diagnostic, ...]]


def _check(text: str) -> Checked:
    analysis = analyse(Source("test.tdl", text), lambda path: None)
    *_, last = (entry for entry in analysis.module.entries if isinstance(entry.declaration.item, syntax.Op))
    return check_op(last.declaration).program, analysis.diagnostics


@pytest.fixture(scope="session")
def check() -> Callable[[str], Checked]:
    """The last op of a text, and everything wrong with the text."""
    return _check


@pytest.fixture(scope="session")
def sound() -> Callable[[str], Program]:
    """The program of a text that has no errors."""

    def sound(text: str) -> Program:
        program, diagnostics = _check(text)
        assert [diagnostic.message for diagnostic in diagnostics] == []
        return program

    return sound


@pytest.fixture(scope="session")
def wrong() -> Callable[[str], Diagnostic]:
    """The only error of a text."""

    def wrong(text: str) -> Diagnostic:
        _, diagnostics = _check(text)
        assert len(diagnostics) == 1, diagnostics
        return diagnostics[0]

    return wrong


class Referee:
    """Tries a program at small sizes: slow, plain, and without any proof."""

    def sizes(self, program: Program, limit: int) -> Iterator[dict[Symbol, int]]:
        """All sizes up to a limit that the facts admit."""
        for values in product(range(limit + 1), repeat=len(program.dims)):
            sizes = dict(zip(program.dims, values))
            if all(self.truth(fact, sizes) for fact in program.facts):
                yield sizes

    def truth(self, condition: Expr, values: Values) -> bool:
        match condition:
            case Compare(operator, Integer(left), Integer(right)):
                a, b = forms.evaluate(left, values), forms.evaluate(right, values)
                return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[operator]
            case Unary("not", operand):
                return not self.truth(operand, values)
            case Binary("and", left, right):
                return self.truth(left, values) and self.truth(right, values)
            case Binary("or", left, right):
                return self.truth(left, values) or self.truth(right, values)
        raise AssertionError(condition)

    def points(self, binders: tuple[Binder, ...], condition: Expr | None, values: Values) -> Iterator[Values]:
        if not binders:
            if condition is None or self.truth(condition, values):
                yield values
            return
        first, *rest = binders
        for value in range(forms.evaluate(first.lo, values), forms.evaluate(first.hi, values)):
            yield from self.points(tuple(rest), condition, {**values, first.index: value})

    def instances(self, definition: Definition, sizes: Values) -> Iterator[Values]:
        yield from self.points(definition.indices, definition.filter, sizes)

    def accesses(self, expr: Expr, values: Values) -> Iterator[tuple[Access, tuple[int, ...]]]:
        """Every access that runs, with its subscripts' values."""
        match expr:
            case Access():
                yield expr, self.element(expr.subscripts, values)
            case Select(condition, then, other):
                yield from self.accesses(then if self.truth(condition, values) else other, values)
            case Reduce(_, binders, condition, args):
                for inner in self.points(binders, condition, values):
                    for arg in args:
                        yield from self.accesses(arg, inner)
            case _:
                for child in children_of(expr):
                    yield from self.accesses(child, values)

    def element(self, subscripts: tuple[Form, ...], values: Values) -> tuple[int, ...]:
        return tuple(forms.evaluate(subscript, values) for subscript in subscripts)

    def shape(self, program: Program, tensor: str, sizes: Values) -> tuple[int, ...]:
        return self.element(program.tensors[tensor].shape, sizes)

    def is_inside(self, program: Program, tensor: str, element: tuple[int, ...], sizes: Values) -> bool:
        return all(0 <= at < size for at, size in zip(element, self.shape(program, tensor, sizes)))


@pytest.fixture(scope="session")
def referee() -> Referee:
    return Referee()
