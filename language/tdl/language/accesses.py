"""Reading a tensor: `X[i, j | 0]`, and a scalar tensor by its name alone."""

from __future__ import annotations

from collections.abc import Callable

from tdl.language import expressions, forms, syntax, tree
from tdl.language.forms import Form
from tdl.language.scope import IndexPackEntity, Scope, SizePackEntity, TensorEntity, Typed
from tdl.language.source import Span
from tdl.language.types import settle

BuildForms = Callable[[], tuple[Form, ...]]


def access(expr: syntax.Index, scope: Scope) -> Typed:
    """`tensor[subscripts | boundary]`. Each subscript may have any integer dtype."""
    entity = _tensor(expr.base, scope)
    builders = [_subscript(subscript, scope) for subscript in expr.subscripts]
    if entity is None or None in builders:
        return expressions.unknown(expr.span)
    if entity.shape is None:
        scope.context.failed = True
        return expressions.unknown(expr.span)
    rank = len(entity.shape)
    given = sum(builder.count for builder in builders if builder is not None)
    if given != rank:
        wrong_rank(entity.name, rank, given, "read", expr.span, scope)
        return expressions.unknown(expr.span)
    return _read(expr, entity, [builder for builder in builders if builder is not None], scope)


def scalar(expr: syntax.Ref, entity: TensorEntity, scope: Scope) -> Typed:
    """A tensor of rank 0, named without brackets."""
    if entity.shape is None:
        scope.context.failed = True
        return expressions.unknown(expr.span)
    if entity.shape:
        wrong_rank(entity.name, len(entity.shape), 0, "read", expr.span, scope)
        return expressions.unknown(expr.span)
    span = scope.at(expr.span)
    return Typed(entity.type, span, lambda: tree.Access(entity.name, (), settle(entity.type), span=span))


def wrong_rank(name: str, rank: int, given: int, verb: str, span: Span, scope: Scope) -> None:
    subscripts = {0: "none", 1: "1 subscript"}.get(given, f"{given} subscripts")
    notes = () if given else (f"write its subscripts: `{name}[{', '.join('ijklmnop'[:rank])}]`",)
    scope.error("rank", f"`{name}` has {_dimensions(rank)} and is {verb} with {subscripts}", span, *notes)


def _dimensions(rank: int) -> str:
    return "1 dimension" if rank == 1 else f"{rank} dimensions"


class _Subscript:
    """One or, for a pack, several subscripts."""

    def __init__(self, count: int, build: BuildForms) -> None:
        self.count = count
        self.build = build


def _subscript(subscript: syntax.Expr | syntax.Pack, scope: Scope) -> _Subscript | None:
    if isinstance(subscript, syntax.Pack):
        symbols = pack_forms(subscript, scope)
        return None if symbols is None else _Subscript(len(symbols), lambda: symbols)
    build = expressions.integer_form(subscript, scope, "a subscript")[1]
    return _Subscript(1, lambda: (build(),))


def pack_forms(pack: syntax.Pack, scope: Scope) -> tuple[Form, ...] | None:
    """The indices of `..i`, or None after an error."""
    entity = scope.names.get(pack.name.text)
    if isinstance(entity, IndexPackEntity):
        return tuple(map(forms.symbol, entity.symbols))
    if entity is None:
        candidates = [name for name, each in scope.names.items() if isinstance(each, IndexPackEntity)]
        scope.unknown(pack.name, candidates, "pack of indices")
    else:
        what = "a pack of dimensions" if isinstance(entity, SizePackEntity) else "not a pack"
        scope.error("not-a-value", f"`{pack.name.text}` is {what}; `..` here takes a pack of indices", pack.span)
    return None


def _tensor(base: syntax.Ref, scope: Scope) -> TensorEntity | None:
    entity = scope.names.get(base.text)
    if isinstance(entity, TensorEntity):
        return entity
    if entity is not None:
        scope.error("not-a-value", f"`{base.text}` is not a tensor, and takes no subscripts", base.span)
    elif scope.environment.find("value", base.text):
        scope.error("not-a-value", f"`{base.text}` is a constant, and takes no subscripts", base.span)
    else:
        candidates = [name for name, each in scope.names.items() if isinstance(each, TensorEntity)]
        scope.unknown(syntax.Name(base.text, span=base.span), candidates, "tensor")
    return None


def _read(expr: syntax.Index, entity: TensorEntity, subscripts: list[_Subscript], scope: Scope) -> Typed:
    span = scope.at(expr.span)
    boundary = expr.boundary
    value = None
    if boundary is not None and boundary.value is not None:
        value = _boundary_value(boundary.value, entity, scope)

    def build() -> tree.Expr:
        flat = tuple(form for subscript in subscripts for form in subscript.build())
        made = None if boundary is None else _boundary(boundary, None if value is None else value.build(), scope)
        return tree.Access(entity.name, flat, settle(entity.type), made, span=span)

    return Typed(entity.type, span, build)


def _boundary_value(value: syntax.Expr, entity: TensorEntity, scope: Scope) -> Typed:
    typed = expressions.elaborate(value, scope)
    target = Typed(entity.type, typed.span, typed.build)
    expressions.agree(target, typed, value.span, scope, f"`{entity.name}` and its boundary value")
    return typed


def _boundary(boundary: syntax.Boundary, value: tree.Expr | None, scope: Scope) -> tree.Boundary:
    if value is not None:
        is_data = any(isinstance(node, tree.Access | tree.Reduce) for node in tree.walk(value))
        if is_data or any(symbol.kind == "index" for symbol in tree.symbols_of(value)):
            note = "for another value outside, write the condition: `X[i] if i >= 0 else ...`"
            scope.error("boundary", "what is read outside is a constant", boundary.span, note)
    return tree.Boundary(boundary.mode, value)
