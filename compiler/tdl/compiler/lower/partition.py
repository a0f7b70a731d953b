"""Loops are cut where something inside changes its answer, so that full tiles have no conditions in them.

    for j in 0..(N + 63)//64                     for j in 0..N//64
        for l in 0..min(64, N - 64*j)                for l in 0..64
            ...                          ->              ...
                                                 for j in N//64..(N + 63)//64
                                                     for l in 0..N - 64*j
                                                         ...

What is asked: which side of a `min` or `max` counts, whether a condition holds. Where the answer is the same from some
value of the loop's counter on, the loop is cut there; parts are cut again by what is then still asked in them. A
parallel loop stays one, with a condition in it, since its parts would wait for each other. Vector and unrolled loops
are not cut: they have masks and copies. A condition beside loops is asked so seldom that it stays. Code may grow by a
bounded factor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tdl.compiler.kernel.tree import Allocate, Guard, Kernel, Lanes, Loop, Node, Prefetch, Statement
from tdl.compiler.kernel.walk import Nodes, body_of, exprs_of, forms_of, map_bodies, substitute, walk, with_body
from tdl.compiler.lower.known import Known
from tdl.compiler.lower.simplify import condition, conditions_of, simplified, simplified_nodes
from tdl.language import forms
from tdl.language.forms import Extreme, FloorDiv, Form, Opaque, Product, Symbol
from tdl.language.tree import Access, Compare, Integer
from tdl.language.tree import walk as walk_expr
from tdl.language.witness import size_facts

_GROWTH = 24
"""How many times as many statements there may be."""


def partition_loops(kernel: Kernel) -> Kernel:
    """The kernel with its loops in parts."""
    most = _GROWTH * max(_size(kernel.body), 4)
    loops = (node for node in walk(kernel.body) if isinstance(node, Loop))
    serial = frozenset(loop.symbol for loop in loops if loop.kind == "serial")
    partitioner = _Partitioner(_Budget(most - _size(kernel.body)), serial)
    body = partitioner.nodes(kernel.body, Known(size_facts(kernel.program)))
    return kernel if body == kernel.body else replace(kernel, body=body)


def _size(nodes: Nodes) -> int:
    return sum(isinstance(node, Statement) for node in walk(nodes))


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a loop is cut; the part in which the answer is known; whether it was about an open size."""

    at: Form
    decided: Literal["first", "second"]
    is_open: bool


@dataclass
class _Budget:
    """How many statements may still be added."""

    left: int


@dataclass(frozen=True)
class _Partitioner:
    """`serial` are the counters of loops that may be cut.

    `is_rest` is said of what a cut at an open size left undecided. No more is asked there of open sizes: one body, with
    masks and conditions, serves whatever is left on any side of a tile.
    """

    budget: _Budget
    serial: frozenset[Symbol]
    is_rest: bool = False

    def nodes(self, nodes: Nodes, known: Known) -> Nodes:
        return map_bodies(nodes, lambda node: self.node(node, known))

    def node(self, node: Node, known: Known) -> Nodes:
        match node:
            case Loop() if node.kind in ("serial", "parallel"):
                return self.loop(node, known)
            case Loop(symbol, lo, hi):
                return with_body(node, self.nodes(node.body, known.inside(symbol, lo, hi)))
            case Lanes(symbol, count):
                return with_body(node, self.nodes(node.body, known.inside(symbol, forms.ZERO, forms.constant(count))))
            case Guard(test):
                return with_body(node, self.nodes(node.body, known.where(conditions_of(test))))
        return with_body(node, self.nodes(body_of(node), known)) if body_of(node) else (node,)

    def loop(self, loop: Loop, known: Known) -> Nodes:
        """The loop in parts, whose bodies are in parts as well."""
        parts = self.parts(loop, known, ())
        if loop.kind == "parallel" and not _is_single(loop):
            body = tuple(each for part in parts for each in _guarded(part, loop))
            return with_body(loop, body) if len(parts) > 1 else tuple(parts)
        if loop.descending:
            parts.reverse()
        return tuple(each for part in parts for each in (part.body if _is_single(part) else (part,)))

    def parts(self, loop: Loop, known: Known, done: tuple[Form, ...]) -> list[Loop]:
        """Loops over parts of the range, in order; it was cut at `done` already."""
        if known.holds(loop.lo - loop.hi):
            return []
        inside = known.inside(loop.symbol, loop.lo, loop.hi)
        if _is_single(loop):
            body = simplified_nodes(substitute(loop.body, {loop.symbol: loop.lo}), known)
            return [replace(loop, body=self.nodes(body, known))] if body else []
        loop = replace(loop, body=simplified_nodes(loop.body, inside))
        cut = next(self.cuts(loop, known, done), None)
        if cut is None:
            return [replace(loop, body=self.nodes(loop.body, inside))] if loop.body else []
        self.budget.left -= _size(loop.body)
        done = (*done, cut.at)
        first = replace(loop, hi=simplified(forms.extreme("min", cut.at, loop.hi), known))
        second = replace(loop, lo=simplified(forms.extreme("max", cut.at, loop.lo), known))
        rest = replace(self, is_rest=True) if cut.is_open else self
        parts = [(first, rest if cut.decided == "second" else self), (second, rest if cut.decided == "first" else self)]
        return [each for part, partitioner in parts for each in partitioner.parts(part, known, done)]

    # ---- where to cut

    def cuts(self, loop: Loop, known: Known, done: tuple[Form, ...]) -> Iterator[_Cut]:
        """Where a question inside changes its answer, strictly inside of the loop's range as far as is known."""
        if self.budget.left < _size(loop.body):
            return
        inside = known.inside(loop.symbol, loop.lo, loop.hi)
        for question, inner in _questions(loop.body, inside):
            if not question.mentions(loop.symbol) or self.is_inner(question, loop, inner):
                continue
            if self.is_rest and _is_open(question):
                continue
            cut = _change(question, loop.symbol, inner)
            if cut is None or cut.at in done:
                continue
            at = simplified(cut.at, known)
            if at not in done and not known.holds(loop.lo - at) and not known.holds(at - loop.hi):
                yield replace(cut, at=at)

    def is_inner(self, question: Form, loop: Loop, known: Known) -> bool:
        """Whether a cut of a loop further inside answers the question as well.

        With numbers for sizes, what is left behind the outer loop's cut is known to the last element, which is worth a
        part of its own; with open sizes that would be the same code once more.
        """
        if not _is_open(question):
            return False
        position = next(at for at, binder in enumerate(known.binders) if binder.index == loop.symbol)
        for binder in known.binders[position + 1 :]:
            if binder.index in self.serial and question.mentions(binder.index):
                return _change(question, binder.index, known) is not None
        return False


def _is_single(loop: Loop) -> bool:
    return loop.hi - loop.lo == forms.constant(1)


def _guarded(part: Loop, whole: Loop) -> Nodes:
    """A part of a loop's range as a condition in its body."""
    here = forms.symbol(whole.symbol)
    tests = [] if part.lo == whole.lo else [here - part.lo]
    test = condition(tests if part.hi == whole.hi else [*tests, part.hi - here - 1])
    return part.body if test is None or not part.body else (Guard(test, part.body, whole.origin),)


def _questions(nodes: Nodes, known: Known) -> Iterator[tuple[Form, Known]]:
    """Forms of which it matters whether they are >= 0, and what is known where they are asked."""
    is_beside_loops = len(nodes) > 1 and any(isinstance(node, Loop) for node in nodes)
    for node in nodes:
        if isinstance(node, Prefetch):
            continue  # not worth a part of its own
        for form in () if _only_counts(node) else forms_of(node):
            yield from ((question, known) for question in _in_form(form))
        for expr in () if is_beside_loops and isinstance(node, Guard) else exprs_of(node):
            for each in walk_expr(expr):
                match each:
                    case Compare(operator, Integer(left), Integer(right)):
                        yield from ((question, known) for question in _compared(operator, left, right))
                    case Integer(form) | Access(_, (form,)):
                        yield from ((question, known) for question in _in_form(form))
        match node:
            case Loop(symbol, lo, hi):
                yield from _questions(node.body, known.inside(symbol, lo, hi))
            case Lanes(symbol, count):
                yield from _questions(node.body, known.inside(symbol, forms.ZERO, forms.constant(count)))
            case Guard(test):
                yield from _questions(node.body, known.where(conditions_of(test)))
            case Allocate(_, body):
                yield from _questions(body, known)


def _only_counts(node: Node) -> bool:
    """Whether the ends are no more than how often a loop runs, which no part of another loop makes cheaper."""
    return isinstance(node, Loop) and node.kind == "serial"


def _in_form(form: Form) -> Iterator[Form]:
    for atom, _ in form.terms:
        match atom:
            case Extreme(_, left, right):
                yield from _in_form(left)
                yield from _in_form(right)
                yield right - left
            case FloorDiv(left, right) | Product(left, right):
                yield from _in_form(left)
                yield from _in_form(right)
            case Opaque() | Symbol():
                pass


def _compared(operator: str, left: Form, right: Form) -> Iterator[Form]:
    match operator:
        case "ge":
            yield left - right
        case "gt":
            yield left - right - 1
        case "le":
            yield right - left
        case "lt":
            yield right - left - 1


def _is_open(form: Form) -> bool:
    return any(symbol.kind == "dim" for symbol in form.symbols())


def _change(question: Form, symbol: Symbol, known: Known) -> _Cut | None:
    """Where a value of the symbol is from which on, or up to which, the answer is the same for all that is inside."""
    position = next(at for at, binder in enumerate(known.binders) if binder.index == symbol)
    inner = [binder.index for binder in known.binders[position + 1 :]]
    outer = {binder.index for binder in known.binders[:position]}
    for form in (question, -question - 1):
        always = known.end(form, "least", inner)
        if always is None:
            continue
        step = dict(always.terms).get(symbol, 0)
        rest = Form(tuple(term for term in always.terms if term[0] != symbol), always.constant)
        if step and all(each.kind != "index" or each in outer for each in rest.symbols()):
            return _Cut(_threshold(step, rest), "second" if step > 0 else "first", _is_open(question))
    return None


def _threshold(step: int, rest: Form) -> Form:
    """Where `step*x + rest >= 0` begins (or, for a negative step, has just ended)."""
    if step > 0:
        return forms.floor_div(-rest + (step - 1), forms.constant(step))
    return forms.floor_div(rest, forms.constant(-step)) + 1
