"""Graphs: dataflow between ops, checked name by name.

    graph mlp(x: f32[B, 784], w: f32[784, 10], b: f32[10]) -> y: f32[B, 10] { y = softmax(dense(x, w, b)) }

Every value is assigned once, in any order, without a circle. A call names an op or graph, gives each input once, and
agrees with it in rank, in dtype, and in sizes where both are numbers. Sizes with names are compared when a call runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic, Fix
from tdl.language.flow import Flow
from tdl.language.matching import call_value
from tdl.language.report import Report
from tdl.language.scope import Context, Declaration, Scope, TensorEntity, closest
from tdl.language.signature import Instance, check_solvable, elaborate_signature
from tdl.language.types import settle


def check_graph(declaration: Declaration) -> tuple[Diagnostic, ...]:
    """What is wrong with a graph; spans relative to its item."""
    return _read(declaration)[0]


def values_of(declaration: Declaration) -> Mapping[str, Flow | None]:
    """What is known of the inputs and values of a graph; None of those that are wrong."""
    return _read(declaration)[1]


@lru_cache(maxsize=1024)
def _read(declaration: Declaration) -> tuple[tuple[Diagnostic, ...], Mapping[str, Flow | None]]:
    item = declaration.item
    assert isinstance(item, syntax.Graph)
    context = Context(Report(), declaration.text)
    signature = elaborate_signature(declaration, Instance(), context)
    if not context.failed:
        check_solvable(item, signature)
    reader = _Reader(item, signature.scope)
    for tensor in signature.inputs:
        reader.flows[tensor.name] = flow_of(tensor)
    reader.read({tensor.name: tensor for tensor in signature.outputs})
    return tuple(sorted(context.report.diagnostics, key=lambda each: each.primary.start)), reader.flows


@dataclass
class _Reader:
    """Values by name. `open` are those being worked out: one met again there depends on itself."""

    item: syntax.Graph
    scope: Scope
    flows: dict[str, Flow | None] = field(default_factory=dict)
    assigned: dict[str, tuple[syntax.Assign, int]] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    open: list[str] = field(default_factory=list)
    results: dict[int, list[Flow] | None] = field(default_factory=dict)

    def read(self, outputs: Mapping[str, TensorEntity]) -> None:
        for statement in self.item.body:
            if isinstance(statement, syntax.Broken):
                self.broken.update(name.text for name in statement.defines)
                continue
            for position, target in enumerate(statement.targets):
                self._declare(target, statement, position)
        for name in self.assigned:
            self._agrees(name, self.flow(name), outputs)
        for output in self.item.outputs:
            name = output.name.text
            if name not in self.assigned and name not in self.broken:
                note = f"add an assignment such as `{name} = ...`"
                self.scope.error("missing-output", f"nothing gives the output `{name}`", output.name.span, note)

    def _declare(self, target: syntax.Name, statement: syntax.Assign, position: int) -> None:
        name = target.text
        if any(name == each.name.text for each in self.item.inputs):
            self.scope.error("definition", f"`{name}` is an input; inputs are given, not defined", target.span)
        elif name in self.assigned:
            self.scope.error("duplicate-name", f"`{name}` is assigned twice", target.span, "each value has one name")
        elif name in self.scope.names and not isinstance(self.scope.names[name], TensorEntity):
            self.scope.error("duplicate-name", f"`{name}` already names something in this graph", target.span)
            self.broken.add(name)
        else:
            self.assigned[name] = (statement, position)

    def _agrees(self, name: str, flow: Flow | None, outputs: Mapping[str, TensorEntity]) -> None:
        declared = outputs.get(name)
        if declared is None or flow is None:
            return
        statement, _ = self.assigned[name]
        trouble = flow_of(declared).disagreement(flow, f"`{name}`")
        if trouble is not None:
            self.scope.error(trouble.code, trouble.message, statement.value.span)

    # ---- values

    def flow(self, name: str) -> Flow | None:
        """What is known of a value that has a name; None where it is wrong."""
        if name in self.flows:
            return self.flows[name]
        statement, position = self.assigned[name]
        if name in self.open:
            self._circle(name)
            return None
        self.open.append(name)
        results = self._statement(statement)
        self.open.pop()
        found = results[position] if results is not None and position < len(results) else None
        self.flows[name] = found
        return found

    def _circle(self, name: str) -> None:
        circle = self.open[self.open.index(name) :]
        statement, position = self.assigned[name]
        needs = " needs ".join(f"`{each}`" for each in (*circle, name))
        self.scope.error("cycle", f"`{name}` depends on itself", statement.targets[position].span, needs)

    def _statement(self, statement: syntax.Assign) -> list[Flow] | None:
        """The results of a statement, worked out once for all its targets."""
        if id(statement) not in self.results:
            self.results[id(statement)] = None
            results = self._value(statement.value)
            if results is not None and len(results) != len(statement.targets):
                message = f"this gives {_values(len(results))}, and {len(statement.targets)} {_are(statement)} assigned"
                self.scope.error("arguments", message, statement.span)
                results = None
            self.results[id(statement)] = results
        return self.results[id(statement)]

    def _value(self, expr: syntax.Expr) -> list[Flow] | None:
        match expr:
            case syntax.Ref():
                flow = self._named(expr)
                return None if flow is None else [flow]
            case syntax.Call():
                return call_value(expr, self.scope, self._argument)
        note = "arithmetic belongs in ops: a graph calls them, as in `h = dense(x, w, b)`"
        self.scope.error("not-a-value", "a graph holds calls of ops and names of values", expr.span, note)
        return None

    def _argument(self, expr: syntax.Expr) -> Flow | None:
        """The one value of an argument."""
        literal = Flow.literal(expr, self.scope)
        if literal is not None:
            return literal
        results = self._value(expr)
        if results is not None and len(results) != 1:
            note = "give its results names: `(a, b) = ...`"
            self.scope.error("arguments", f"this gives {_values(len(results))}, and one is needed", expr.span, note)
            return None
        return None if results is None else results[0]

    def _named(self, ref: syntax.Ref) -> Flow | None:
        name = ref.text
        if name in self.flows or name in self.assigned:
            return self.flow(name)
        if name in self.broken or name in self.scope.environment.broken:
            return None
        if name in self.scope.names:
            is_output = isinstance(self.scope.names[name], TensorEntity)
            if not is_output:
                self.scope.error("not-a-value", f"`{name}` is not a tensor", ref.span)
            return None
        known = [*self.flows, *self.assigned]
        suggestion = closest(name, known)
        notes = (f"did you mean `{suggestion}`?",) if suggestion else ()
        fixes = (Fix(f"change to `{suggestion}`", ref.span, suggestion),) if suggestion else ()
        self.scope.error("unknown-name", f"unknown value `{name}`", ref.span, *notes, fixes=fixes)
        return None


def flow_of(tensor: TensorEntity) -> Flow:
    """What a graph declares of an input or output."""
    return Flow(settle(tensor.type), tensor.shape)


def _values(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"


def _are(statement: syntax.Assign) -> str:
    return "is" if len(statement.targets) == 1 else "are"
