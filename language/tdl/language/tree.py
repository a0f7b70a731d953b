"""The checked program: what an op means, with every name, type and range resolved.

`Program` is what the evaluator runs, the compiler lowers and the editor shows. It is made by `check.py` for one
instantiation of an op: compile-time parameters bound (or symbolic where they have no value), packs expanded to their
rank, dimensions symbolic or, if asked, bound to numbers.

Integers that are arithmetic on indices and sizes are `Integer(form)`; everything else is an ordinary expression tree.
Sharing is explicit (`Let`), so an inlined function evaluates each argument once, before its body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Literal, TypeVar

from tdl.language import forms
from tdl.language.dtypes import BOOL, I64, DType, Type
from tdl.language.forms import Form, Symbol
from tdl.language.source import NOWHERE, Span

# ---- expressions


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A number in its final type: an int for integers, a float for floats (nearest f64), a bool for bool."""

    value: int | float | bool
    dtype: Type


@dataclass(frozen=True, slots=True)
class Integer(Node):
    """An i64 that is arithmetic on indices, sizes and integer parameters."""

    form: Form

    @property
    def dtype(self) -> Type:
        return I64


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A float or bool compile-time parameter that has no value while its op is checked symbolically."""

    name: str
    dtype: Type


@dataclass(frozen=True, slots=True)
class Boundary:
    """What an access reads where any subscript is outside. `value` (of the tensor's dtype) only for `constant`."""

    mode: Literal["constant", "edge", "wrap", "mirror"]
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Access(Node):
    """`tensor[subscripts | boundary]`. `checked[a]` says that subscript `a` is tested when it runs, and raises.

    `checked` is empty where none is.
    """

    tensor: str
    subscripts: tuple[Form, ...]
    dtype: Type
    boundary: Boundary | None = None
    checked: tuple[bool, ...] = ()


UnaryOperator = Literal["neg", "not", "bit_not"]
BinaryOperator = Literal[
    "add", "sub", "mul", "div", "floordiv", "mod", "pow", "min", "max", "and", "or", "bit_and", "bit_or", "bit_xor",
    "shl", "shr",
]  # fmt: skip
CompareOperator = Literal["eq", "ne", "lt", "le", "gt", "ge"]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`neg` on numbers (integers wrap), `not` on bool, `bit_not` on integers."""

    operator: UnaryOperator
    operand: Expr
    dtype: Type


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Both operands have the node's dtype. `div` is on floats, `floordiv` and `mod` on integers and floats (floor).

    `and` and `or` are on bool and stop early: the right side does not run, and cannot raise, where the left decides.
    Float `min` and `max` propagate NaN. Shifts take the count modulo the width. `pow` is on floats; `x**n` with a
    literal non-negative integer was made into multiplications.
    """

    operator: BinaryOperator
    left: Expr
    right: Expr
    dtype: Type


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """Operands of one dtype. NaN compares false, except with `ne`."""

    operator: CompareOperator
    left: Expr
    right: Expr

    @property
    def dtype(self) -> Type:
        return BOOL


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`then if condition else other`: only the chosen branch runs."""

    condition: Expr
    then: Expr
    other: Expr
    dtype: Type


FUNCTIONS: dict[str, int] = {
    # name: number of arguments; all take and give one float dtype unless said otherwise
    "exp": 1, "log": 1, "tanh": 1, "erf": 1, "sigmoid": 1, "sqrt": 1, "rsqrt": 1, "sin": 1, "cos": 1,
    "floor": 1, "ceil": 1, "trunc": 1, "round": 1,  # round: to nearest, ties to even
    "abs": 1,  # also integers, wrapping
    "isnan": 1,  # gives bool
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A built-in function of `FUNCTIONS`."""

    function: str
    args: tuple[Expr, ...]
    dtype: Type


@dataclass(frozen=True, slots=True)
class Convert(Node):
    """Explicit conversion to `dtype`.

    Float to integer truncates, saturates, NaN to 0; integer to integer wraps; to bool is `!= 0`; bool gives 0 or 1.
    """

    operand: Expr
    dtype: Type


@dataclass(frozen=True, slots=True)
class Local(Node):
    """The value bound by an enclosing `Let`, or an argument of a reducer's combine."""

    name: str
    dtype: Type


@dataclass(frozen=True, slots=True)
class Let(Node):
    """`value` is evaluated once, before `body`. Names are unique within a definition."""

    name: str
    value: Expr
    body: Expr

    @property
    def dtype(self) -> Type:
        return self.body.dtype


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """An index and its range `lo..hi` (hi excluded, empty where hi <= lo).

    Ends may mention enclosing indices, earlier binders of the same clause, and (in reductions) opaque data.
    """

    index: Symbol
    lo: Form
    hi: Form


BUILTIN_REDUCERS = ("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")


@dataclass(frozen=True, slots=True)
class Reducer:
    """`combine` gives new values from `Local`s named by `left` (the accumulator) and `right`; built-ins have none.

    sum, prod, max, min, any, all have one value and identities 0, 1, least, greatest (floats: -inf, inf), false, true.
    argmax and argmin have a key and payloads: the first best key in binder order wins, NaN wins over numbers, empty
    gives the identity of max or min and payloads 0.
    """

    name: str
    dtypes: tuple[Type, ...]
    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    identity: tuple[Expr, ...] = ()
    combine: tuple[Expr, ...] = ()

    @property
    def is_builtin(self) -> bool:
        return not self.combine


@dataclass(frozen=True, slots=True)
class Reduce(Node):
    """`reducer(args for binders if filter)`. It has one value unless it is the whole of a multi-target definition.

    Sums and products over f16 and bf16 were already widened: `args` is f32, and a Convert stands around the Reduce.
    """

    reducer: Reducer
    binders: tuple[Binder, ...]
    filter: Expr | None
    args: tuple[Expr, ...]

    @property
    def dtype(self) -> Type:
        """Of the first value."""
        return self.reducer.dtypes[0]


Expr = Number | Integer | Parameter | Access | Unary | Binary | Compare | Select | Call | Convert | Local | Let | Reduce


# ---- the program


@dataclass(frozen=True, slots=True)
class Tensor(Node):
    """`shape` is of forms over dimensions and parameters; rank 0 is a scalar. `span` is where it is declared."""

    name: str
    role: Literal["input", "output", "intermediate"]
    dtype: Type
    shape: tuple[Form, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Target(Node):
    """Where a definition writes: each coordinate is one of its indices, or a form over dimensions and parameters."""

    tensor: str
    coordinates: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Definition(Node):
    """`targets = value for indices if filter`.

    `indices` are the left-hand side's, each used in exactly one coordinate of each target. With several targets the
    value is a `Reduce` that has as many values. `number` counts the op's definitions in text order.
    """

    number: int
    targets: tuple[Target, ...]
    indices: tuple[Binder, ...]
    filter: Expr | None
    value: Expr
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Run a definition over all indices that no enclosing `Sweep` has fixed; their order does not matter."""

    definition: int


@dataclass(frozen=True, slots=True)
class Sweep:
    """Run `body` for each value of one shared coordinate, in ascending or descending order: a recurrence's loop.

    `axes[d]` is the axis of definition d's (first) target that the sweep fixes. A definition whose coordinate on that
    axis is free of indices runs at that value only; one whose coordinate is an index runs where the value is in its
    range. The sweep goes over `lo..hi`, the hull of these.
    """

    axes: Mapping[int, int]
    ascending: bool
    lo: Form
    hi: Form
    body: tuple[Step, ...]


Step = Run | Sweep


@dataclass(frozen=True, slots=True)
class Obligation:
    """Something to be proved once sizes are known, before a call runs: run the checks again with the sizes bound."""

    kind: Literal["bounds", "coverage", "order", "range", "fact"]
    span: Span


@dataclass(frozen=True)
class Program:
    """A checked op. `facts` are bool expressions over sizes and parameters; `steps` run every definition once.

    `parameters` holds every compile-time parameter by name: an int, bool or float, a DType, or None while symbolic.
    `dims` are the dimension symbols in order of first appearance (a pack `S` of rank 2 gives `S.0`, `S.1`).
    """

    name: str
    parameters: Mapping[str, int | float | bool | DType | None]
    dims: tuple[Symbol, ...]
    packs: Mapping[str, int]
    tensors: Mapping[str, Tensor]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    facts: tuple[Expr, ...]
    definitions: tuple[Definition, ...]
    steps: tuple[Step, ...]
    obligations: tuple[Obligation, ...] = ()
    doc: str | None = None


# ---- walking


def children(expr: Expr) -> Iterator[Expr]:
    """The direct sub-expressions, those inside opaque subscripts and range ends included."""
    match expr:
        case Number() | Parameter() | Local():
            return
        case Integer(form):
            yield from _data(form)
        case Access(_, subscripts, _, boundary):
            for form in subscripts:
                yield from _data(form)
            if boundary is not None and boundary.value is not None:
                yield boundary.value
        case Unary(_, operand) | Convert(operand):
            yield operand
        case Binary(_, left, right) | Compare(_, left, right):
            yield left
            yield right
        case Select(condition, then, other):
            yield condition
            yield then
            yield other
        case Call(_, args):
            yield from args
        case Let(_, value, body):
            yield value
            yield body
        case Reduce(_, binders, condition, args):
            for binder in binders:
                yield from _data(binder.lo)
                yield from _data(binder.hi)
            if condition is not None:
                yield condition
            yield from args


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything below it."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def symbols_of(expr: Expr) -> Iterator[Symbol]:
    """Every symbol an expression mentions, with repetitions."""
    for node in walk(expr):
        match node:
            case Integer(form):
                yield from _plain_symbols(form)
            case Access(_, subscripts):
                for form in subscripts:
                    yield from _plain_symbols(form)
            case Reduce(_, binders):
                for binder in binders:
                    yield from _plain_symbols(binder.lo)
                    yield from _plain_symbols(binder.hi)


def map_children(expr: Expr, change: Callable[[Expr], Expr], change_form: Callable[[Form], Form]) -> Expr:
    """The expression with each direct sub-expression and form changed; the same object where nothing changed."""
    match expr:
        case Number() | Parameter() | Local():
            return expr
        case Integer(form):
            return _with(expr, form=_kept_form(form, change_form))
        case Access(_, subscripts, _, boundary):
            if boundary is not None and boundary.value is not None:
                boundary = _with(boundary, value=change(boundary.value))
            changed = tuple([_kept_form(form, change_form) for form in subscripts])
            return _with(expr, subscripts=_kept(subscripts, changed), boundary=boundary)
        case Unary(_, operand) | Convert(operand):
            return _with(expr, operand=change(operand))
        case Binary(_, left, right) | Compare(_, left, right):
            return _with(expr, left=change(left), right=change(right))
        case Select(condition, then, other):
            return _with(expr, condition=change(condition), then=change(then), other=change(other))
        case Call(_, args):
            return _with(expr, args=_kept(args, tuple(map(change, args))))
        case Let(_, value, body):
            return _with(expr, value=change(value), body=change(body))
        case Reduce(_, binders, condition, args):
            ranges = tuple(
                [_with(b, lo=_kept_form(b.lo, change_form), hi=_kept_form(b.hi, change_form)) for b in binders]
            )
            return _with(
                expr,
                binders=_kept(binders, ranges),
                filter=None if condition is None else change(condition),
                args=_kept(args, tuple(map(change, args))),
            )


NodeT = TypeVar("NodeT", bound="Expr | Boundary | Binder")
PartT = TypeVar("PartT")


def _with(node: NodeT, **parts: object) -> NodeT:
    """The node with other parts; the same object where each part is the object it was."""
    if all(getattr(node, name) is part for name, part in parts.items()):
        return node
    return replace(node, **parts)  # type: ignore[arg-type]


def _kept(before: tuple[PartT, ...], after: tuple[PartT, ...]) -> tuple[PartT, ...]:
    return before if all(map(is_, before, after)) else after


def _kept_form(form: Form, change: Callable[[Form], Form]) -> Form:
    """The changed form; the same object where it is equal, as arithmetic on forms makes new ones."""
    changed = change(form)
    return form if changed == form else changed


def form_of(expr: Expr) -> Form:
    """An i64 expression as a form; what is not arithmetic on indices and sizes becomes an opaque atom."""
    match expr:
        case Integer(form):
            return form
        case Number(value, dtype) if dtype == I64:
            return forms.constant(int(value))
        case Unary("neg", operand):
            return -form_of(operand)
        case Binary("add", left, right):
            return form_of(left) + form_of(right)
        case Binary("sub", left, right):
            return form_of(left) - form_of(right)
        case Binary("mul", left, right):
            factors = form_of(left), form_of(right)
            if forms.is_small(*factors):
                return forms.product(*factors)
    return forms.opaque(expr)


def _data(form: Form) -> Iterator[Expr]:
    for atom, _ in form.terms:
        match atom:
            case forms.Opaque(expr):
                yield expr
            case forms.FloorDiv(left, right) | forms.Extreme(_, left, right) | forms.Product(left, right):
                yield from _data(left)
                yield from _data(right)


def _plain_symbols(form: Form) -> Iterator[Symbol]:
    for atom, _ in form.terms:
        match atom:
            case Symbol():
                yield atom
            case forms.FloorDiv(left, right) | forms.Extreme(_, left, right) | forms.Product(left, right):
                yield from _plain_symbols(left)
                yield from _plain_symbols(right)
