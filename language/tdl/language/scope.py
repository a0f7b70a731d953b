"""What names mean: the declarations of a module, and the scope inside one of them.

A declaration carries a `key`, a digest of its own text and of the declarations it refers to. Two declarations with one
key mean the same, so results are memoised on it: an edit re-checks what it touches, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from tdl.language import syntax
from tdl.language.diagnostic import Fix
from tdl.language.dtypes import Type
from tdl.language.forms import Form, Symbol
from tdl.language.report import Report, Verdict
from tdl.language.source import NOWHERE, Span
from tdl.language.tree import Expr
from tdl.language.types import AnyType, settle


@dataclass(frozen=True, eq=False)
class Declaration:
    """A named item with what its free names mean. `offset` is where the item's text starts in the file `path`."""

    item: syntax.Item
    text: str
    path: str
    offset: int
    key: str
    environment: Environment
    depth: int = 1
    """How many functions, reducers and constants can be nested by putting in what it refers to, itself included."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Declaration) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def name(self) -> str:
        name = getattr(self.item, "name", None)
        return name.text if isinstance(name, syntax.Name) else ""

    @property
    def span(self) -> Span:
        """The name's place, relative to the item."""
        name = getattr(self.item, "name", None)
        return name.span if isinstance(name, syntax.Name) else self.item.span


MAX_DEPTH = 40
"""Of functions that call functions, and constants of constants."""
MAX_EXPANSION = 10_000

Namespace = Literal["value", "callable", "tactic", "intrinsic", "memory", "target"]

NAMESPACES: dict[type[syntax.Item], Namespace] = {
    syntax.Const: "value",
    syntax.Fn: "callable",
    syntax.Reducer: "callable",
    syntax.Op: "callable",
    syntax.Graph: "callable",
    syntax.Tactic: "tactic",
    syntax.Intrinsic: "intrinsic",
    syntax.Memory: "memory",
    syntax.TargetItem: "target",
}


@dataclass(frozen=True, eq=False)
class Environment:
    """Module-level names by namespace and dotted path. `broken` names are declared but unusable: silent when used."""

    declarations: Mapping[tuple[Namespace, str], Declaration] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()

    def find(self, namespace: Namespace, name: str) -> Declaration | None:
        return self.declarations.get((namespace, name))

    def names(self, namespace: Namespace) -> list[str]:
        return [name for space, name in self.declarations if space == namespace]


# ---- inside a declaration


@dataclass(frozen=True)
class IndexEntity:
    symbol: Symbol


@dataclass(frozen=True)
class IndexPackEntity:
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True)
class SizeEntity:
    """A dimension or an integer parameter: a form (a number where it is bound)."""

    form: Form


@dataclass(frozen=True)
class SizePackEntity:
    forms: tuple[Form, ...]


@dataclass(frozen=True)
class TypeEntity:
    """A dtype parameter."""

    type: AnyType


@dataclass(frozen=True)
class ValueEntity:
    """A float or bool parameter, or an argument of a function or reducer."""

    type: AnyType
    build: Callable[[], Expr]


@dataclass
class TensorEntity:
    """A tensor of an op. `shape` holds unknowns to be inferred; it is None where not even the rank is known."""

    name: str
    role: Literal["input", "output", "intermediate"]
    type: AnyType
    shape: tuple[Form, ...] | None
    span: Span
    doc: str | None = None


Entity = IndexEntity | IndexPackEntity | SizeEntity | SizePackEntity | TypeEntity | ValueEntity | TensorEntity


@dataclass
class Context:
    """What one check shares: its report, the text its spans count in, and counters for fresh names.

    `failed` is raised by every error, and by every use of something broken, so that nothing is built on it. `expanded`
    counts the expressions that calls of functions and constants have put into the present definition.
    """

    report: Report
    text: str
    failed: bool = False
    counter: int = 0
    expanded: int = 0

    def fresh(self, name: str) -> str:
        self.counter += 1
        return f"{name}.{self.counter}"

    def verdict(self) -> Verdict:
        return Verdict(tuple(self.report.diagnostics), not self.failed)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Inside, `failed` speaks of what is inside alone; afterwards of that and of what came before."""
        before, self.failed = self.failed, False
        yield
        self.failed = self.failed or before

    def error(self, code: str, message: str, span: Span, *notes: str, fixes: tuple[Fix, ...] = ()) -> None:
        self.failed = True
        self.report.error(code, message, span, *notes, fixes=fixes)


@dataclass(frozen=True)
class Scope:
    """Names in an op or function, over the module's. `place` overrides spans inside an inlined function."""

    context: Context
    environment: Environment
    names: Mapping[str, Entity]
    place: Span | None = None

    def with_names(self, more: Mapping[str, Entity]) -> Scope:
        return Scope(self.context, self.environment, {**self.names, **more}, self.place)

    def at(self, span: Span) -> Span:
        return self.place or span

    def may_expand(self) -> bool:
        """Whether one more expression may be put in the place of a call; the first that may not is reported."""
        context = self.context
        context.expanded += 1
        if context.expanded <= MAX_EXPANSION:
            return True
        if context.expanded == MAX_EXPANSION + 1:
            message = f"with what it calls put in, this is an expression of more than {MAX_EXPANSION:,} parts"
            self.error("definition", message, NOWHERE, "define a tensor for what is used several times")
        context.failed = True
        return False

    def error(self, code: str, message: str, span: Span, *notes: str, fixes: tuple[Fix, ...] = ()) -> None:
        self.context.error(code, message, self.at(span), *notes, fixes=fixes)

    def unknown(self, name: syntax.Name, candidates: Iterable[str], what: str = "name") -> None:
        """Report a name that nothing declares, with the closest one that is."""
        suggestion = closest(name.text, candidates)
        fixes = () if suggestion is None else (Fix(f"change to `{suggestion}`", name.span, suggestion),)
        notes = () if suggestion is None else (f"did you mean `{suggestion}`?",)
        self.error("unknown-name", f"unknown {what} `{name.text}`", name.span, *notes, fixes=fixes)


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The declared name that a misspelt one most likely means."""
    from difflib import get_close_matches

    near = [each for each in candidates if abs(len(each) - len(name)) <= 8]
    other_case = [each for each in near if each.casefold() == name.casefold()]
    if other_case:
        return other_case[0]
    found = get_close_matches(name, near, n=1, cutoff=0.65) if len(name) <= 60 else []
    return found[0] if found else None


@dataclass
class Typed:
    """An expression whose type is being inferred; `build` gives the tree once all types are settled."""

    type: AnyType
    span: Span
    build: Callable[[], Expr]

    @property
    def settled(self) -> Type:
        return settle(self.type)
