"""A call of an op in a graph: what its arguments fix, and the dtypes and shapes of its results.

    dense(x: f32[B, 784], w: f32[784, 256], b: f32[256])        gives    f32[B, 256]

Arguments fix dtypes, packs and dimensions as they do in a call with arrays, but here a size may be a form over the
graph's own dimensions. What nothing fixes is left open; two different numbers for one dimension are an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tdl.language import calls, forms, syntax
from tdl.language.dtypes import I64, DType, Type, TypeVariable
from tdl.language.flow import Flow, Trouble
from tdl.language.forms import Form, Symbol
from tdl.language.parameters import demand_of, explicit, kind_of, match_arguments
from tdl.language.report import Report
from tdl.language.schedules.settings import check_integer, check_value
from tdl.language.scope import Context, Declaration, Scope, TensorEntity
from tdl.language.signature import Instance, Signature, head_of
from tdl.language.types import follow, satisfies, settle

WorkOut = Callable[[syntax.Expr], "Flow | None"]
"""What is known of an argument; None after an error."""

Pairs = Sequence[tuple[TensorEntity, syntax.Argument, "Flow | None"]]


def call_value(call: syntax.Call, scope: Scope, work_out: WorkOut) -> list[Flow] | None:
    """The results of calling an op or graph; None after an error."""
    callee = _callee(call, scope)
    item = callee.item if callee is not None else None
    names = {each.name.text for each in item.params} if isinstance(item, syntax.Op | syntax.Graph) else set()
    inputs = [each for each in call.args if each.name is None or each.name.text not in names]
    flows = [work_out(each.value) for each in inputs]
    if callee is None or not isinstance(item, syntax.Op | syntax.Graph):
        return None
    formals = [each.name.text for each in item.inputs]
    ordered = match_arguments(callee.name, formals, inputs, list(zip(inputs, flows)), call.span, scope)
    named = [each for each in call.args if each.name is not None and each.name.text in names]
    chosen = explicit(callee.name, item.params, (*call.params, *named), scope)
    if ordered is None or chosen is None:
        return None
    return _Match(callee, item, scope).results(ordered, chosen)


def _callee(call: syntax.Call, scope: Scope) -> Declaration | None:
    name = call.callee.text
    found = scope.environment.find("callable", name)
    if found is None:
        if name not in scope.environment.broken:
            candidates = scope.environment.names("callable")
            scope.unknown(syntax.Name(name, span=call.callee.span), candidates, "op")
        return None
    if isinstance(found.item, syntax.Op | syntax.Graph):
        return found
    what = "a function of scalars" if isinstance(found.item, syntax.Fn) else "a reducer"
    note = "a graph calls ops: write one that uses it, as in `op f(X: f32[N]) -> Y: f32[N] { Y[i] = ... }`"
    scope.error("not-a-value", f"`{name}` is {what}", call.callee.span, note)
    return None


@dataclass
class _Match:
    """What one call fixes. The callee's sizes are renamed, so that they are never taken for the graph's."""

    callee: Declaration
    item: syntax.Op | syntax.Graph
    scope: Scope
    dtypes: dict[str, Type] = field(default_factory=dict)
    sizes: dict[Symbol, Form] = field(default_factory=dict)

    def results(
        self, arguments: Sequence[tuple[syntax.Argument, Flow | None]], chosen: Mapping[str, syntax.Expr]
    ) -> list[Flow] | None:
        if not self._parameters(chosen):
            return None
        ranks = self._ranks([flow for _, flow in arguments])
        signature = self._signature(ranks, frozenset(each.name.text for each in self.item.params))
        pairs = [(tensor, argument, flow) for tensor, (argument, flow) in zip(signature.inputs, arguments)]
        self._fix_dtypes(pairs)
        self._fix_sizes(pairs)
        self._take_defaults(ranks)
        self._fix_sizes(pairs)
        troubles = [self._trouble(*pair) for pair in pairs]
        return None if any(troubles) else [self._flow(tensor) for tensor in signature.outputs]

    def _signature(self, ranks: Mapping[str, int], open_parameters: frozenset[str]) -> Signature:
        return head_of(self.callee, Instance.of(ranks=ranks), open_parameters)

    # ---- compile-time parameters

    def _parameters(self, chosen: Mapping[str, syntax.Expr]) -> bool:
        """Take the parameters that the call gives; False after an error."""
        good = True
        inside = Scope(Context(Report(), self.callee.text), self.callee.environment, {})
        for parameter in self.item.params:
            expr, kind = chosen.get(parameter.name.text), kind_of(parameter, inside)
            if expr is None or kind is None:
                continue
            if not isinstance(kind, DType):
                good &= self._dtype(parameter.name.text, expr)
            elif kind == I64:
                form = check_integer(expr, self.scope, f"`{parameter.name.text}`", code="parameter")
                good &= form is not None
                if form is not None:
                    self.sizes[self._own(Symbol(parameter.name.text, "param"))] = form
            else:
                good &= check_value(expr, self.scope) is not None
        return good

    def _dtype(self, name: str, expr: syntax.Expr) -> bool:
        if not isinstance(expr, syntax.Ref):
            self.scope.error("parameter", f"`{name}` takes a dtype", expr.span)
            return False
        type = follow(calls.dtype_of(expr, self.scope))
        if isinstance(type, DType | TypeVariable):
            self.dtypes[name] = type
        return isinstance(type, DType | TypeVariable)

    def _take_defaults(self, ranks: Mapping[str, int]) -> None:
        for name, value in self._signature(ranks, frozenset()).parameters.items():
            if isinstance(value, DType):
                self.dtypes.setdefault(name, value)
            elif isinstance(value, int) and not isinstance(value, bool):
                self.sizes.setdefault(self._own(Symbol(name, "param")), forms.constant(value))

    # ---- what arguments fix

    def _ranks(self, flows: Sequence[Flow | None]) -> dict[str, int]:
        """The rank of each pack, by the first argument that has it."""
        ranks: dict[str, int] = {}
        for declaration, flow in zip(self.item.inputs, flows):
            shape = declaration.type.shape
            for part in shape:
                if isinstance(part, syntax.Pack) and flow is not None and flow.shape is not None:
                    ranks.setdefault(part.name.text, max(len(flow.shape) - len(shape) + 1, 0))
        return ranks

    def _fix_dtypes(self, pairs: Pairs) -> None:
        for tensor, _, flow in pairs:
            declared = settle(tensor.type)
            if isinstance(declared, TypeVariable) and flow is not None and flow.dtype is not None:
                self.dtypes.setdefault(declared.name, flow.dtype)

    def _fix_sizes(self, pairs: Pairs) -> None:
        """Solve dimensions to a fixpoint: each that is linear in one that is open."""
        known = -1
        while len(self.sizes) != known:
            known = len(self.sizes)
            for tensor, _, flow in pairs:
                if flow is not None and flow.shape is not None and tensor.shape is not None:
                    for form, actual in zip(tensor.shape, flow.shape):
                        self._solve(form, actual)

    def _solve(self, declared: Form, actual: Form | None) -> None:
        form = self._form(declared)
        unsolved = [(atom, factor) for atom, factor in form.terms if self._is_open(atom)]
        match unsolved:
            case [(Symbol() as symbol, 1 | -1 as factor)] if actual is not None:
                rest = form - forms.symbol(symbol) * factor
                self.sizes[symbol] = (actual - rest) * factor

    def _own(self, symbol: Symbol) -> Symbol:
        return Symbol(f"{self.callee.name}:{symbol.name}", symbol.kind)

    def _is_open(self, atom: forms.Atom) -> bool:
        form = Form(((atom, 1),), 0)
        return any(symbol.name.startswith(f"{self.callee.name}:") for symbol in form.symbols())

    def _form(self, declared: Form) -> Form:
        """A form of the callee in the graph's terms, as far as it is known."""
        renamed = forms.substitute(declared, {s: forms.symbol(self._own(s)) for s in declared.symbols()})
        return forms.substitute(renamed, self.sizes)

    def _flow(self, tensor: TensorEntity) -> Flow:
        declared = settle(tensor.type)
        dtype = self.dtypes.get(declared.name) if isinstance(declared, TypeVariable) else declared
        if tensor.shape is None:
            return Flow(dtype, None)
        shape = [self._form(form) for form in tensor.shape]
        return Flow(dtype, tuple(None if any(map(self._is_open, _atoms(form))) else form for form in shape))

    # ---- what does not agree

    def _trouble(self, tensor: TensorEntity, argument: syntax.Argument, flow: Flow | None) -> bool:
        if flow is None:
            return False
        what = f"`{tensor.name}` of `{self.callee.name}`"
        trouble = self._class(tensor, flow, what) or self._flow(tensor).disagreement(flow, what)
        if trouble is not None:
            self.scope.error(trouble.code, trouble.message, argument.value.span)
        return trouble is not None

    def _class(self, tensor: TensorEntity, flow: Flow, what: str) -> Trouble | None:
        """A dtype that the parameter does not admit."""
        declared = settle(tensor.type)
        if not isinstance(declared, TypeVariable) or flow.dtype is None:
            return None
        if satisfies(flow.dtype, demand_of(declared.bound)):
            return None
        return Trouble("dtype", f"{what} takes a {declared.bound} dtype, and is given {flow.dtype}")


def _atoms(form: Form) -> list[forms.Atom]:
    return [atom for atom, _ in form.terms]
