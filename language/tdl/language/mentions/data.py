"""A name in the text of an item, and what it means.

    op f(X: f32[N]) -> Y: f32[N] { Y[i] = relu(X[i]) }

`relu` is a mention whose meaning is reached through `("callable", "relu")` in the environment of `f`; that of `i` is in
`f` itself, where it is introduced. Spans count from the start of the item that they are in, so that mentions are
remembered with the item, wherever it stands and whatever stands around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tdl.language import syntax
from tdl.language.scope import Declaration, Namespace
from tdl.language.source import NOWHERE, Span

Key = tuple[Namespace, str]

Kind = Literal[
    "module", "const", "fn", "reducer", "op", "graph", "tactic", "intrinsic", "memory", "target", "test", "bench",
    "parameter", "dtype parameter", "dimension", "pack", "input", "output", "intermediate", "argument", "index",
    "loop", "copy", "knob", "value",
    "dtype", "class", "function", "thread", "place", "property",
]  # fmt: skip
"""`intermediate` is also a graph's value, `argument` one of a function or reducer, `copy` any stage that a line makes,
`value` what a `let` of a schedule names, `place` the `root` of `compute T at root`."""

Access = Literal["declare", "write", "read"]
"""`write` is the left-hand side of a definition, also of the one that declares an intermediate."""

KINDS: dict[type[syntax.Item], Kind] = {
    syntax.Const: "const",
    syntax.Fn: "fn",
    syntax.Reducer: "reducer",
    syntax.Op: "op",
    syntax.Graph: "graph",
    syntax.Tactic: "tactic",
    syntax.Intrinsic: "intrinsic",
    syntax.Memory: "memory",
    syntax.TargetItem: "target",
    syntax.Test: "test",
    syntax.Bench: "bench",
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """Something that has a name. `via` leads through environments to the item whose text introduces it at `span`.

    What the language itself knows (`exp`, `f32`, `register`) is nowhere in any text, and `is_builtin`.
    """

    kind: Kind
    name: str
    span: Span = NOWHERE
    via: tuple[Key, ...] = ()
    is_builtin: bool = False

    def through(self, key: Key) -> Meaning:
        """As it is reached from an item that refers to its own item by `key`."""
        return self if self.is_builtin else replace(self, via=(key, *self.via))


@dataclass(frozen=True, slots=True)
class Mention:
    """`span` is that of the name, without what stands before a dot."""

    span: Span
    meaning: Meaning
    access: Access = "read"


Names = Mapping[str, Meaning]


def builtin(kind: Kind, name: str) -> Meaning:
    """What the language knows without a declaration."""
    return Meaning(kind, name, is_builtin=True)


def item_meaning(declaration: Declaration) -> Meaning:
    """An item, seen from itself."""
    return Meaning(KINDS[type(declaration.item)], declaration.name, declaration.span)
