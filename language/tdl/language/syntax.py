"""The syntax tree: what the text says, before any name is looked up.

Every node has a `span`, counted from the start of its top-level item and left out of comparison, so that two texts that
differ only in layout give equal trees (the formatter is tested by that). Trees are immutable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tdl.language.diagnostic import Diagnostic
from tdl.language.source import NOWHERE, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    text: str


# ---- expressions


@dataclass(frozen=True, slots=True)
class Number(Node):
    """`16`, `1_000`, `0xff`, `1e-5`, `48KiB`, as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Constant(Node):
    name: Literal["true", "false", "inf", "nan"]


@dataclass(frozen=True, slots=True)
class String(Node):
    """`value` is the text between the quotes."""

    value: str


@dataclass(frozen=True, slots=True)
class Ref(Node):
    """A name with dots: `X`, `std.nn.conv2d`, in schedules also `Y.i` and `S.0.j` (a part may be digits)."""

    parts: tuple[Name, ...]

    @property
    def text(self) -> str:
        return ".".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Pack(Node):
    """`..S` in a shape, `..i` among subscripts."""

    name: Name


@dataclass(frozen=True, slots=True)
class Boundary(Node):
    """What an access reads outside: a constant expression, or one of the three modes."""

    mode: Literal["constant", "edge", "wrap", "mirror"]
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`X[i, j | 0]`."""

    base: Ref
    subscripts: tuple[Expr | Pack, ...]
    boundary: Boundary | None = None


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """`x` or `name=x`."""

    name: Name | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`callee[params](args)`: a function, a dtype as conversion, an op, a reducer."""

    callee: Ref
    params: tuple[Argument, ...]
    args: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`lo..hi`, hi excluded."""

    lo: Expr
    hi: Expr


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """`k`, `k in 0..K`, or a pack `..k` (which takes no range)."""

    name: Name
    is_pack: bool = False
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class ForClause(Node):
    """`for i in 0..N, j if cond`. A bare `if cond` after a definition has no binders."""

    binders: tuple[Binder, ...]
    filter: Expr | None = None


@dataclass(frozen=True, slots=True)
class Reduction(Node):
    """`sum(body for k, r in 0..3 if cond)`; the body is a Tuple for a reducer of several values."""

    callee: Ref
    params: tuple[Argument, ...]
    body: Expr
    clause: ForClause


UnaryOperator = Literal["-", "+", "not"]
BinaryOperator = Literal["+", "-", "*", "/", "//", "%", "**", "and", "or"]
CompareOperator = Literal["==", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    operator: UnaryOperator
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    operator: BinaryOperator
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """`first < a <= b`: every neighbouring pair must hold, as in Python."""

    first: Expr
    rest: tuple[tuple[CompareOperator, Expr], ...]


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    """`then if condition else other`; `other` is None where the text has no `else`."""

    then: Expr
    condition: Expr
    other: Expr | None


@dataclass(frozen=True, slots=True)
class Tuple(Node):
    """`(a, b)`, at least two items."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Array(Node):
    """`[[1, 2], [3, 4]]`; in schedules also a list of factors; `Range` items for `in [..]` choices are not allowed."""

    items: tuple[Expr, ...]


Expr = (
    Number | Constant | String | Ref | Index | Call | Reduction | Unary | Binary | Compare | Conditional | Tuple | Array
)


# ---- declarations


@dataclass(frozen=True, slots=True)
class TypeExpr(Node):
    """`f32`, `T[M, 2*N, ..S]`; `shape` is empty for a scalar."""

    dtype: Ref
    shape: tuple[Expr | Pack, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A compile-time parameter, `stride: int = 1`, `T: float = f32`. A tactic's may have no kind."""

    name: Name
    kind: Ref | None
    default: Expr | None = None


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    """An input, an output, or an argument of a function: `X: f32[M, K]`."""

    name: Name
    type: TypeExpr


@dataclass(frozen=True, slots=True)
class Target(Node):
    """One left-hand side: `T[i, j]: f32`. `subscripts` is empty for a scalar."""

    name: Name
    subscripts: tuple[Expr | Pack, ...]
    dtype: Ref | None = None


@dataclass(frozen=True, slots=True)
class Definition(Node):
    """`T[i, j] = value for i in 1..N if cond`; several targets for `(V[i], I[i]) = ...`."""

    targets: tuple[Target, ...]
    value: Expr
    clause: ForClause | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Let(Node):
    """`let acc: f32[M, N]` in an op."""

    name: Name
    type: TypeExpr


@dataclass(frozen=True, slots=True)
class Emit(Node):
    """`emit llvm \"\"\"...\"\"\"` in an intrinsic."""

    kind: Name
    text: String


@dataclass(frozen=True, slots=True)
class Broken(Node):
    """A statement or line that did not parse; it still counts as defining `defines`."""

    defines: tuple[Name, ...] = ()


Statement = Definition | Let | Emit | Broken


# ---- schedule lines


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """A keyword of a schedule line with its operands: `by 8, 32`, `balanced`, `at jr`, `in register`, `over ty, tx`."""

    keyword: Name
    values: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Line(Node):
    """Any schedule line but the three below.

    `split Y.i by 8 balanced -> io, ii` has verb `split`, operands `(Y.i,)`, clauses `by (8,)` and `balanced ()`,
    results `(io, ii)`. `layout W(k, j) [k//16, j, k%16] pad 0 pack` has operands `(Call W(k, j),)` and clauses
    `layout (...)`, `pad (0,)`, `pack ()`. `apply t(Y, i, mr=8)` has the call as its operand.
    """

    verb: Name
    operands: tuple[Expr, ...] = ()
    clauses: tuple[Clause, ...] = ()
    results: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class Knob(Node):
    """`knob mr = 8 in [4, 6, 8]`."""

    name: Name
    value: Expr
    choices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class LetValue(Node):
    """`let n = 4 * mr` in a schedule."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Require(Node):
    """`require M % 8 == 0`."""

    fact: Expr


ScheduleLine = Line | Knob | LetValue | Require | Broken


# ---- items


@dataclass(frozen=True, slots=True)
class Import(Node):
    """`import std.nn`, or `from std.nn import conv2d, relu` when `names` is not None."""

    path: Ref
    names: tuple[Name, ...] | None = None


@dataclass(frozen=True, slots=True)
class Const(Node):
    name: Name
    type: Ref | None
    value: Expr
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Fn(Node):
    """`fn f[T: float](x: T) -> T = body`."""

    name: Name
    params: tuple[Parameter, ...]
    args: tuple[Declaration, ...]
    result: TypeExpr
    body: Expr | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Reducer(Node):
    """`reducer r[T: float](a: T, b: T) -> T { identity x  combine y }`; a side of several values is a tuple."""

    name: Name
    params: tuple[Parameter, ...]
    left: tuple[Declaration, ...]
    right: tuple[Declaration, ...]
    results: tuple[TypeExpr, ...]
    identity: Expr | None
    combine: Expr | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Op(Node):
    name: Name
    params: tuple[Parameter, ...]
    inputs: tuple[Declaration, ...]
    outputs: tuple[Declaration, ...]
    facts: tuple[Expr, ...]
    body: tuple[Statement, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Assign(Node):
    """`h = dense_relu(x, w1, b1)` in a graph; several targets for several results."""

    targets: tuple[Name, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Graph(Node):
    name: Name
    params: tuple[Parameter, ...]
    inputs: tuple[Declaration, ...]
    outputs: tuple[Declaration, ...]
    facts: tuple[Expr, ...]
    body: tuple[Assign | Broken, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Schedule(Node):
    """`schedule op for target when condition { lines }`."""

    op: Ref
    target: Ref | None
    condition: Expr | None
    body: tuple[ScheduleLine, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Tactic(Node):
    name: Name
    params: tuple[Parameter, ...]
    body: tuple[ScheduleLine, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Intrinsic(Node):
    """`intrinsic n(inputs) -> outputs for target with feature { definitions, emit }`."""

    name: Name
    params: tuple[Parameter, ...]
    inputs: tuple[Declaration, ...]
    outputs: tuple[Declaration, ...]
    target: Ref | None
    features: tuple[Name, ...]
    body: tuple[Statement, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Property(Node):
    """`capacity 48KiB` in a memory or target."""

    name: Name
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Memory(Node):
    name: Name
    body: tuple[Property | Broken, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class TargetItem(Node):
    """`target npu for cpu { ... }`; the parent in the tree of targets may be left out."""

    name: Name
    parent: Ref | None
    body: tuple[Property | Broken, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Test(Node):
    """`test odd: op[params](args) expect Y = [...]`."""

    name: Name
    call: Call | None
    expect: tuple[Argument, ...] = ()
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Bench(Node):
    name: Name
    call: Call | None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class BrokenItem(Node):
    """An item whose head did not parse. `keyword` and `name` are what could be read of it: uses still resolve."""

    keyword: str
    name: Name | None
    doc: str | None = None


Item = (
    Import
    | Const
    | Fn
    | Reducer
    | Op
    | Graph
    | Schedule
    | Tactic
    | Intrinsic
    | Memory
    | TargetItem
    | Test
    | Bench
    | BrokenItem
)


@dataclass(frozen=True, slots=True)
class ParsedItem:
    """One item with the diagnostics of parsing it. Spans count from the start of `text`. Memoised on `text`."""

    text: str
    item: Item
    diagnostics: tuple[Diagnostic, ...]

    def __hash__(self) -> int:
        """Of the text, which the rest follows from: hashing a tree costs as much as walking it."""
        return hash(self.text)


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """A parsed item and where its text starts in the file."""

    offset: int
    parsed: ParsedItem

    @property
    def item(self) -> Item:
        return self.parsed.item


@dataclass(frozen=True, slots=True)
class File:
    """All items in order; `diagnostics` (absolute spans) are those of text outside any item."""

    items: tuple[PlacedItem, ...]
    diagnostics: tuple[Diagnostic, ...]
