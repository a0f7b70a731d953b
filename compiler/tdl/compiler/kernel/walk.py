"""Walking and rebuilding kernels: nodes, expressions in them, forms in these. Unchanged parts stay the same objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from tdl.compiler.kernel.tree import (
    Allocate,
    Guard,
    Init,
    Invoke,
    Lanes,
    Loop,
    Node,
    Operand,
    Place,
    Prefetch,
    Store,
    Update,
)
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Expr, map_children, symbols_of
from tdl.language.tree import walk as walk_expr

Nodes = tuple[Node, ...]


def walk(nodes: Nodes) -> Iterator[Node]:
    """Every node, outer before inner, in running order."""
    for node in nodes:
        yield node
        yield from walk(body_of(node))


def body_of(node: Node) -> Nodes:
    return node.body if isinstance(node, (Loop, Lanes, Guard, Allocate)) else ()


def with_body(node: Node, body: Nodes) -> Nodes:
    """The node around another body; nothing where that is empty."""
    assert isinstance(node, (Loop, Lanes, Guard, Allocate))
    if not body:
        return ()
    return (node,) if body == node.body else (replace(node, body=body),)


def map_bodies(nodes: Nodes, change: Callable[[Node], Nodes]) -> Nodes:
    """The nodes with each replaced by what `change` makes of it; the same object where nothing changes."""
    result: list[Node] = []
    for node in nodes:
        result.extend(change(node))
    return nodes if len(result) == len(nodes) and all(a is b for a, b in zip(result, nodes)) else tuple(result)


def exprs_of(node: Node) -> Iterator[Expr]:
    """The expressions of a node itself."""
    match node:
        case Guard(condition):
            yield condition
        case Store(_, value):
            yield value
        case Update(_, _, args):
            yield from args


def places_of(node: Node) -> tuple[Place, ...]:
    """What a statement writes."""
    match node:
        case Store(place):
            return (place,)
        case Init(places) | Update(places):
            return places
        case Invoke(_, _, output):
            return tuple(Place(output.buffer, run.offset) for run in output.runs)
    return ()


def reads_of(node: Node) -> Iterator[Access]:
    """Every access in a node's own expressions and in the data of its forms; of an operand, where each run begins."""
    if isinstance(node, Invoke):
        for operand, tensor in zip(node.inputs, node.intrinsic.program.inputs):
            dtype = node.intrinsic.program.tensors[tensor].dtype
            yield from (Access(operand.buffer, (run.offset,), dtype) for run in operand.runs)
    for expr in exprs_of(node):
        yield from (each for each in walk_expr(expr) if isinstance(each, Access))
    for form in forms_of(node):
        yield from accesses_in(form)


def offsets_into(nodes: Nodes, buffers: Collection[str]) -> Iterator[Form]:
    """The offsets at which some buffers are read and written."""
    for node in walk(nodes):
        yield from (place.offset for place in places_of(node) if place.buffer in buffers)
        yield from (access.subscripts[0] for access in reads_of(node) if access.tensor in buffers)


def forms_of(node: Node) -> Iterator[Form]:
    """The forms of a node itself, outside of its expressions."""
    match node:
        case Loop(_, lo, hi):
            yield lo
            yield hi
        case Lanes(_, _, active):
            if active is not None:
                yield active
        case Store() | Init() | Update():
            yield from (place.offset for place in places_of(node))
        case Prefetch(place):
            yield place.offset
        case Invoke(_, inputs, output):
            yield from (run.offset for operand in (*inputs, output) for run in operand.runs)


def accesses_in(form: Form) -> Iterator[Access]:
    """The accesses in the data of a form."""
    for atom, _ in form.terms:
        match atom:
            case forms.Opaque(expr):
                yield from (each for each in walk_expr(expr) if isinstance(each, Access))
            case forms.FloorDiv(left, right) | forms.Extreme(_, left, right) | forms.Product(left, right):
                yield from accesses_in(left)
                yield from accesses_in(right)


def mentions(node: Node, symbol: Symbol) -> bool:
    """Whether the node or anything in it speaks of a symbol."""
    for each in walk((node,)):
        if any(form.mentions(symbol) for form in forms_of(each)):
            return True
        if any(symbol in symbols_of(expr) for expr in exprs_of(each)):
            return True
    return False


def map_forms(node: Node, change: Callable[[Form], Form], change_expr: Callable[[Expr], Expr]) -> Node:
    """The node with its own forms and expressions changed, its body left."""
    match node:
        case Loop(_, lo, hi):
            return _with(node, lo=change(lo), hi=change(hi))
        case Lanes(_, _, active):
            return node if active is None else _with(node, active=change(active))
        case Guard(condition):
            return _with(node, condition=change_expr(condition))
        case Store(place, value):
            return _with(node, place=_place(place, change), value=change_expr(value))
        case Init(places):
            return _with(node, places=tuple(_place(place, change) for place in places))
        case Prefetch(place):
            return _with(node, place=_place(place, change))
        case Update(places, _, args):
            changed = tuple(_place(place, change) for place in places)
            return _with(node, places=changed, args=tuple(map(change_expr, args)))
        case Invoke(_, inputs, output):
            moved = tuple(_operand(each, change) for each in inputs)
            return _with(node, inputs=moved, output=_operand(output, change))
    return node


def map_places(node: Node, change: Callable[[Place], Place]) -> Node:
    """The node with what it writes, asks for, or gives to an intrinsic, changed."""
    match node:
        case Store(place) | Prefetch(place):
            return _with(node, place=change(place))
        case Init(places) | Update(places):
            return _with(node, places=tuple(map(change, places)))
        case Invoke(_, inputs, output):
            return _with(node, inputs=tuple(_moved(each, change) for each in inputs), output=_moved(output, change))
    return node


def _moved(operand: Operand, change: Callable[[Place], Place]) -> Operand:
    """An operand whose elements are where `change` puts the first of each run."""
    places = [change(Place(operand.buffer, run.offset)) for run in operand.runs]
    runs = tuple(replace(run, offset=place.offset) for run, place in zip(operand.runs, places))
    return replace(operand, buffer=places[0].buffer, runs=runs)


def _place(place: Place, change: Callable[[Form], Form]) -> Place:
    offset = change(place.offset)
    return place if offset == place.offset else replace(place, offset=offset)


def _operand(operand: Operand, change: Callable[[Form], Form]) -> Operand:
    runs = tuple(replace(run, offset=change(run.offset)) for run in operand.runs)
    return operand if runs == operand.runs else replace(operand, runs=runs)


def _with(node: Node, **parts: object) -> Node:
    if all(getattr(node, name) == part for name, part in parts.items()):
        return node
    return replace(node, **parts)  # type: ignore[arg-type]


def map_offsets(nodes: Nodes, buffers: Collection[str], change: Callable[[Form], Form]) -> Nodes:
    """The nodes with every offset into some buffers changed."""

    def expr(each: Expr) -> Expr:
        made = map_children(each, expr, lambda form: forms.substitute(form, {}, expr))
        if isinstance(made, Access) and made.tensor in buffers:
            return replace(made, subscripts=(change(made.subscripts[0]),))
        return made

    def place(each: Place) -> Place:
        return replace(each, offset=change(each.offset)) if each.buffer in buffers else each

    def visit(node: Node) -> Nodes:
        made = map_places(map_forms(node, lambda form: forms.substitute(form, {}, expr), expr), place)
        return with_body(made, map_bodies(body_of(made), visit)) if body_of(made) else (made,)

    return map_bodies(nodes, visit)


def substitute_expr(expr: Expr, values: Mapping[Symbol, Form]) -> Expr:
    """The expression with symbols replaced by forms."""

    def visit(each: Expr) -> Expr:
        return map_children(each, visit, lambda form: forms.substitute(form, values, visit))

    return visit(expr)


def substitute_form(form: Form, values: Mapping[Symbol, Form]) -> Form:
    return forms.substitute(form, values, lambda expr: substitute_expr(expr, values))


def substitute(nodes: Nodes, values: Mapping[Symbol, Form]) -> Nodes:
    """The nodes with symbols replaced by forms."""

    def visit(node: Node) -> Nodes:
        made = map_forms(node, lambda form: substitute_form(form, values), lambda expr: substitute_expr(expr, values))
        body = body_of(made)
        return with_body(made, map_bodies(body, visit)) if body else (made,)

    return map_bodies(nodes, visit)
