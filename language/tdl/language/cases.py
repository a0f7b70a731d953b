"""Tests and benches: a call of an op with sizes or data, checked as a caller's would be.

test golden: softmax(X=[[0, 0]]) expect Y = [[0.5, 0.5]]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from tdl.language import expressions, syntax
from tdl.language.binding import ArrayType, BindError, Bound, bind
from tdl.language.check import check_op
from tdl.language.diagnostic import Diagnostic
from tdl.language.dtypes import BOOL, F64, DType
from tdl.language.folding import Constant, value_of
from tdl.language.literals import holds, parse_number, shorten
from tdl.language.parameters import Value, evaluate, explicit, kind_of
from tdl.language.report import Report
from tdl.language.scope import Context, Declaration, Scope
from tdl.language.source import Span
from tdl.language.types import Open, follow, unify

Nested = Constant | list["Nested"]
"""Data as written: numbers in lists of equal length."""


@dataclass(frozen=True, eq=False)
class Case:
    """A test or bench, ready to run. `given` holds the inputs written out; the others are random."""

    name: str
    op: Declaration
    bound: Bound
    given: Mapping[str, Nested]
    expect: Mapping[str, Nested]


def settings_of(case: Case) -> tuple[dict[str, Value], dict[str, int | list[int]]]:
    """The compile-time parameters and the sizes of a case by name, packs as lists."""
    packs: dict[str, list[int]] = {name: [] for name in case.bound.program.packs}
    sizes: dict[str, int | list[int]] = {}
    for symbol, size in case.bound.sizes.items():
        pack = symbol.name.rpartition(".")[0]
        if pack in packs:
            packs[pack].append(size)
            sizes[pack] = packs[pack]
        else:
            sizes[symbol.name] = size
    parameters = {name: value for name, value in case.bound.program.parameters.items() if value is not None}
    return parameters, sizes


@dataclass(frozen=True)
class CheckedCase:
    """A case, or None where it or its op is wrong; spans relative to the item."""

    case: Case | None
    diagnostics: tuple[Diagnostic, ...]


@lru_cache(maxsize=4096)
def check_case(declaration: Declaration) -> CheckedCase:
    """Check a test or bench. Nothing is reported that follows from an op that is itself wrong."""
    item = declaration.item
    assert isinstance(item, syntax.Test | syntax.Bench)
    context = Context(Report(), declaration.text)
    case = None
    if item.call is not None:
        case = _Reader(item, item.call, Scope(context, declaration.environment, {})).read()
    return CheckedCase(None if context.failed else case, tuple(context.report.diagnostics))


@dataclass
class _Reader:
    item: syntax.Test | syntax.Bench
    call: syntax.Call
    scope: Scope

    def read(self) -> Case | None:
        op = self._op()
        if op is None:
            return None
        item = op.item
        assert isinstance(item, syntax.Op)
        if not check_op(op).is_sound:
            return None
        parameters = self._parameters(op, item)
        sizes, given, spans = self._arguments(op, item, parameters)
        if self.scope.context.failed:
            return None
        arrays = {name: ArrayType(None, shape_of(value)) for name, value in given.items()}
        try:
            bound = bind(op, arrays, parameters, sizes)
        except BindError as error:
            span = spans.get(error.argument or "", self.call.span)
            self.scope.error(error.code, error.message, span, *error.notes)
            return None
        self._check_data(given, bound, spans)
        expect = self._expect(bound)
        return Case(self.item.name.text, op, bound, given, expect)

    def _op(self) -> Declaration | None:
        name = self.call.callee.text
        found = self.scope.environment.find("callable", name)
        if found is None and name in self.scope.environment.broken:
            return None
        if found is None:
            note = "a test calls an op of this module, or one it imports"
            self.scope.error("unknown-name", f"unknown op `{name}`", self.call.callee.span, note)
            return None
        if not isinstance(found.item, syntax.Op):
            if not isinstance(found.item, syntax.Graph):
                self.scope.error("test", f"`{name}` is not an op", self.call.callee.span, "tests call ops")
            return None
        return found

    def _parameters(self, op: Declaration, item: syntax.Op) -> dict[str, object]:
        given = explicit(op.name, item.params, self.call.params, self.scope) or {}
        values: dict[str, object] = {}
        for name, expr in given.items():
            value = self._parameter(item, name, expr)
            if value is not None:
                values[name] = value
        return values

    def _parameter(self, item: syntax.Op, name: str, expr: syntax.Expr) -> Value | None:
        parameter = next(each for each in item.params if each.name.text == name)
        kind = kind_of(parameter, self.scope)
        return None if kind is None else evaluate(expr, name, kind, self.scope)

    def _arguments(
        self, op: Declaration, item: syntax.Op, parameters: dict[str, object]
    ) -> tuple[dict[str, int | list[int]], dict[str, Nested], dict[str, Span]]:
        inputs = [each.name.text for each in item.inputs]
        names = {parameter.name.text for parameter in item.params}
        sizes: dict[str, int | list[int]] = {}
        given: dict[str, Nested] = {}
        spans: dict[str, Span] = {}
        position = 0
        for argument in self.call.args:
            if argument.name is None:
                if position >= len(inputs):
                    self.scope.error("arguments", f"`{op.name}` has {len(inputs)} inputs", argument.span)
                    continue
                name = inputs[position]
                position += 1
            else:
                name = argument.name.text
            if name in spans:
                self.scope.error("arguments", f"`{name}` is given twice", argument.span)
                continue
            spans[name] = argument.span
            if name in inputs:
                value = self._data(argument.value)
                if value is not None:
                    given[name] = value
            elif name in parameters:
                self.scope.error("arguments", f"`{name}` is given twice", argument.span)
            elif name in names:
                found = self._parameter(item, name, argument.value)
                if found is not None:
                    parameters[name] = found
            else:
                self._size(name, argument, sizes)
        return sizes, given, spans

    def _size(self, name: str, argument: syntax.Argument, sizes: dict[str, int | list[int]]) -> None:
        value = self._data(argument.value)
        if isinstance(value, list) and all(type(entry) is int for entry in value):
            sizes[name] = [entry for entry in value if isinstance(entry, int)]
        elif type(value) is int:
            sizes[name] = value
        elif value is not None:
            self.scope.error("test", f"the size `{name}` takes an integer", argument.value.span)

    # ---- data

    def _data(self, expr: syntax.Expr) -> Nested | None:
        """Numbers and lists of them, every list of one length with its neighbours; None after an error."""
        if not isinstance(expr, syntax.Array):
            return self._number(expr)
        items: list[Nested] = []
        for each in expr.items:
            item = self._data(each)
            if item is None:
                return None
            if items and shape_of(item) != shape_of(items[0]):
                message = f"this entry has shape {_shape(item)}, and the first has {_shape(items[0])}"
                self.scope.error("shape", message, each.span)
                return None
            items.append(item)
        return items

    def _number(self, expr: syntax.Expr) -> Constant | None:
        """A number as written, or the value of a constant expression, which is computed in i64 or f64."""
        match expr:
            case syntax.Number(text) | syntax.Unary("-", syntax.Number(text)):
                value = parse_number(text if isinstance(expr, syntax.Number) else f"-{text}")
                if not isinstance(value, float) or abs(value) != float("inf"):
                    return value
        with self.scope.context.attempt():
            typed = expressions.elaborate(expr, self.scope)
            known = follow(typed.type)
            if isinstance(known, Open) and known.demand == "float":
                unify(known, F64)
            found = None if self.scope.context.failed else value_of(typed.build())
            if found is None and not self.scope.context.failed:
                self.scope.error("test", "data in a test is numbers and lists of them", expr.span)
        return found

    def _check_data(self, given: Mapping[str, Nested], bound: Bound, spans: Mapping[str, Span]) -> None:
        for name, value in given.items():
            dtype = bound.program.tensors[name].dtype
            assert isinstance(dtype, DType)
            self._fits(name, value, dtype, spans[name])

    def _fits(self, name: str, value: Nested, dtype: DType, span: Span) -> None:
        for number in flat(value):
            if isinstance(number, bool) != (dtype == BOOL) or not (isinstance(number, bool) or holds(dtype, number)):
                self.scope.error("literal", f"`{name}` is {dtype}, which cannot hold {_literal(number)}", span)
                return

    def _expect(self, bound: Bound) -> dict[str, Nested]:
        expect: dict[str, Nested] = {}
        seen: set[str] = set()
        for argument in self.item.expect if isinstance(self.item, syntax.Test) else ():
            name = argument.name.text if argument.name is not None else ""
            if name not in bound.program.outputs:
                known = ", ".join(f"`{each}`" for each in bound.program.outputs)
                message = f"`{name}` is not an output of `{bound.program.name}` (it has {known})"
                self.scope.error("test", message, argument.span)
            elif name in seen:
                self.scope.error("test", f"`{name}` is expected twice", argument.span)
            elif (value := self._expected(name, argument, bound)) is not None:
                expect[name] = value
            seen.add(name)
        return expect

    def _expected(self, name: str, argument: syntax.Argument, bound: Bound) -> Nested | None:
        value, shape = self._data(argument.value), bound.output_shapes[name]
        if value is None:
            return None
        if shape_of(value) != shape and not (value == [] and 0 in shape):
            message = f"`{name}` has shape {list(shape)}, and {_shape(value)} is expected"
            self.scope.error("shape", message, argument.span)
            return None
        dtype = bound.program.tensors[name].dtype
        assert isinstance(dtype, DType)
        self._fits(name, value, dtype, argument.span)
        return value


def shape_of(value: Nested) -> tuple[int, ...]:
    """The shape of nested lists of equal length."""
    if not isinstance(value, list):
        return ()
    return (len(value), *(shape_of(value[0]) if value else ()))


def flat(value: Nested) -> list[Constant]:
    if not isinstance(value, list):
        return [value]
    return [number for each in value for number in flat(each)]


def _shape(value: Nested) -> str:
    return str(list(shape_of(value)))


def _literal(value: Constant) -> str:
    return str(value).lower() if isinstance(value, bool) else shorten(value)
