"""Intrinsics as patterns of statements, and expressions compared with expressions.

    c[n] = c0[n] + sum(i32(a[k]) * i32(b[n, k]) for k)      is  c[n] += i32(a[k]) * i32(b[n, k])  over n and k
    c[l] = c0[l] + a[l] * b[l]                              is  c[l] += a[l] * b[l],  or a store of the whole
    y[l] = max(x[l], 0)                                     is a store

What is compared is exact: the same operations on the same dtypes in the same order, but for the sides of a commutative
operation. An operand of the pattern stands for an access of a tensor; which elements they are is asked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.text import expr_text
from tdl.language.intrinsics import Intrinsic
from tdl.language.tree import (
    Access,
    Binary,
    Binder,
    Call,
    Compare,
    Convert,
    Expr,
    Integer,
    Let,
    Local,
    Number,
    Parameter,
    Reduce,
    Select,
    Target,
    Unary,
    children,
    map_children,
    walk,
)

_COMBINES = {"add": "sum", "mul": "prod", "max": "max", "min": "min", "or": "any", "and": "all"}
_COMMUTATIVE = frozenset({"add", "mul", "min", "max", "bit_and", "bit_or", "bit_xor"})


@dataclass(frozen=True, slots=True)
class Pattern:
    """`target = value` for all `indices`; with a reducer, combined into what `accumulator` reads, over `reduction`."""

    target: Target
    indices: tuple[Binder, ...]
    value: Expr
    reducer: str | None = None
    reduction: tuple[Binder, ...] = ()
    accumulator: Access | None = None


def patterns_of(intrinsic: Intrinsic) -> list[Pattern]:
    """The statements that an intrinsic of one definition may stand for."""
    if len(intrinsic.program.definitions) != 1 or len(intrinsic.program.definitions[0].targets) != 1:
        return []
    (definition,) = intrinsic.program.definitions
    target, value = definition.targets[0], definition.value
    if definition.filter is not None:
        return []
    found = [] if _reduces(value) else [Pattern(target, definition.indices, value)]
    if isinstance(value, Binary) and value.operator in _COMBINES:
        for old, new in ((value.left, value.right), (value.right, value.left)):
            pattern = _combining(Pattern(target, definition.indices, new), _COMBINES[value.operator], old)
            if pattern is not None:
                found.append(pattern)
    return found


def _combining(pattern: Pattern, reducer: str, old: Expr) -> Pattern | None:
    """The pattern combined into the old value of its target, where `old` is that."""
    if not isinstance(old, Access) or old.boundary is not None or old.subscripts != pattern.target.coordinates:
        return None
    combined = replace(pattern, reducer=reducer, accumulator=old)
    match pattern.value:
        case Reduce(of, binders, None, (value,)) if of.is_builtin and of.name == reducer:
            combined = replace(combined, value=value, reduction=binders)
    return None if _reduces(combined.value) else combined


def _reduces(expr: Expr) -> bool:
    return any(isinstance(each, Reduce) for each in walk(expr))


# ---- comparing

Pair = tuple[Access | Integer, Access | Integer]
"""What stands in one place of the pattern and of the nest: an operand and an access, or two integers."""


@dataclass
class Difference:
    """The first difference on the way that got furthest."""

    depth: int = -1
    text: str = ""

    def note(self, depth: int, text: str) -> None:
        if depth > self.depth:
            self.depth, self.text = depth, text


@dataclass
class Comparison:
    """Pairs of two expressions that are the same but for what the pairs are; `difference` says why others are not."""

    difference: Difference = field(default_factory=Difference)

    def pairs(self, pattern: Expr, nest: Expr, depth: int = 0) -> Iterator[tuple[Pair, ...]]:
        """Every way to see the one in the other."""
        match pattern, nest:
            case Access(), Access():
                if nest.boundary is not None or any(nest.checked):
                    self.differ(depth, pattern, nest, "may be outside of its tensor")
                elif pattern.dtype != nest.dtype:
                    self.differ(depth, pattern, nest, f"is {nest.dtype}, not {pattern.dtype}")
                else:
                    yield ((pattern, nest),)
            case Integer(), Integer():
                yield ((pattern, nest),)
            case Binary(operator), Binary() if operator in _COMMUTATIVE and _is_alike(pattern, nest):
                yield from self.all_of((pattern.left, pattern.right), (nest.left, nest.right), depth + 1)
                yield from self.all_of((pattern.left, pattern.right), (nest.right, nest.left), depth + 1)
            case _ if _is_alike(pattern, nest):
                yield from self.all_of(tuple(children(pattern)), tuple(children(nest)), depth + 1)
            case _:
                self.differ(depth, pattern, nest)

    def all_of(self, patterns: tuple[Expr, ...], nests: tuple[Expr, ...], depth: int) -> Iterator[tuple[Pair, ...]]:
        if not patterns:
            yield ()
            return
        for first in self.pairs(patterns[0], nests[0], depth):
            for rest in self.all_of(patterns[1:], nests[1:], depth):
                yield (*first, *rest)

    def differ(self, depth: int, pattern: Expr, nest: Expr, why: str | None = None) -> None:
        ours, theirs = expr_text(pattern), expr_text(nest)
        if why is not None:
            self.difference.note(depth, f"where it has `{ours}`, the nest has `{theirs}`, which {why}")
        elif ours == theirs or (isinstance(pattern, Convert) and isinstance(nest, Convert)):
            detail = f"`{theirs}` of {_source(nest)}, not of {_source(pattern)}"
            self.difference.note(depth, f"where it has `{ours}`, the nest has {detail}")
        else:
            self.difference.note(depth, f"where it has `{ours}`, the nest has `{theirs}`")


def _source(expr: Expr) -> str:
    return str(expr.operand.dtype if isinstance(expr, Convert) else expr.dtype)


def _is_alike(pattern: Expr, nest: Expr) -> bool:
    """Whether the two are the same operation on the same dtypes, whatever their operands are."""
    if type(pattern) is not type(nest) or _dtypes(pattern) != _dtypes(nest):
        return False
    match pattern:
        case Number():
            return repr(pattern) == repr(nest)  # which tells zeros apart, and takes NaN for itself
        case Convert() | Select():
            return True
        case Unary() | Binary() | Compare() | Call() | Parameter() | Let() | Local():
            named = ("operator", "function", "name")
            return all(getattr(pattern, name, None) == getattr(nest, name, None) for name in named)
    return False


def _dtypes(expr: Expr) -> list[object]:
    return [expr.dtype, *(child.dtype for child in children(expr))]


def with_plain_names(expr: Expr) -> Expr:
    """The expression with the names that it binds counted from its beginning, so that two can be compared."""
    names: dict[str, str] = {}

    def visit(each: Expr) -> Expr:
        if isinstance(each, Let):
            names[each.name] = str(len(names))
        made = map_children(each, visit, lambda form: form)
        return replace(made, name=names.get(made.name, made.name)) if isinstance(made, Let | Local) else made

    return visit(expr)
