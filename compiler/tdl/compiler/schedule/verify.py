"""What every nest is, after every line: a broken one is an error of ours, said where it was made.

Each loop's symbol is its own; forms speak of sizes and of loops around; a leaf gives every index of its stage; what is
touched has a buffer, kept for the op or for an iteration of a loop around.
"""

from __future__ import annotations

from collections.abc import Iterable

from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Leaf, Loop, Nest, Node
from tdl.compiler.schedule.walk import loops_of
from tdl.language.diagnostic import InternalError
from tdl.language.forms import Form, Symbol


def verify(nest: Nest) -> Nest:
    """The nest as it is. Raises InternalError where it is broken."""
    seen: set[Symbol] = set()
    for loop in loops_of(nest.body):
        _require(loop.symbol not in seen, f"two loops are `{loop.symbol}`")
        seen.add(loop.symbol)
    for buffer in nest.buffers.values():
        _require(buffer.at is None or buffer.at in seen, f"`{buffer.tensor}` is kept in `{buffer.at}`, which is gone")
    _nodes(nest, nest.body, frozenset())
    return nest


def _nodes(nest: Nest, nodes: tuple[Node, ...], around: frozenset[Symbol]) -> None:
    for node in nodes:
        match node:
            case Loop():
                _known((node.lo, node.hi), around, f"the range of `{node.label}`")
                inside = around | {node.symbol}
                for buffer in nest.buffers.values():
                    if buffer.at == node.symbol:
                        _known((*buffer.origin, *buffer.extents), inside, f"the storage of `{buffer.tensor}`")
                _nodes(nest, node.body, inside)
            case Leaf():
                _leaf(nest, node, around)


def _leaf(nest: Nest, leaf: Leaf, around: frozenset[Symbol]) -> None:
    stage = nest.stages.get(leaf.stage)
    _require(stage is not None, f"there is no stage `{leaf.stage}`")
    assert stage is not None
    _known((*(form for _, form in leaf.at), *leaf.guards), around, f"a statement of `{leaf.stage}`")
    given = {own for own, _ in leaf.at}
    for binder in (*stage.indices, *stage.reduction):
        _require(binder.index in given, f"`{leaf.stage}` runs without its index `{binder.index}`")
    for touch in touches(nest, leaf):
        buffer = nest.buffers.get(touch.tensor)
        _require(buffer is not None, f"`{leaf.stage}` touches `{touch.tensor}`, which is not kept anywhere")
        assert buffer is not None
        _require(buffer.at is None or buffer.at in around, f"`{touch.tensor}` is touched outside of where it is kept")


def _known(given: Iterable[Form], around: frozenset[Symbol], what: str) -> None:
    for form in given:
        for symbol in form.symbols():
            _require(symbol.kind != "index" or symbol in around, f"{what} speaks of `{symbol}`, which is not around")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise InternalError(message)
