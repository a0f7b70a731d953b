"""Loops of one iteration vanish, so that what follows sees which loops there really are.

    for ko in 0..1                            for ki in 0..512
        for ki in 0..min(1024, 512 - 1024*ko)     ...
            ...                          ->

First of all passes: a reduction whose outer loop has one iteration begins at the inner one, and a register tile there
starts from the identity. Not where the reduction stands in several places, as peeled loops do: they begin together. Nor
where a condition, or a loop over elements, speaks of the reduction's loop: elements that it leaves out begin too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tdl.compiler.schedule.touches import reduced_symbols
from tdl.compiler.schedule.tree import Buffer, Leaf, Loop, Nest, Node, Update
from tdl.compiler.schedule.walk import Path, leaves_of, substitute
from tdl.language import forms
from tdl.language.forms import Form, Symbol


def drop_single_iterations(nest: Nest) -> Nest:
    """The nest without loops whose extent is the number 1."""
    count = Counter(leaf.stage for _, leaf in leaves_of(nest.body) if isinstance(nest.stages[leaf.stage].work, Update))
    dropper = _Dropper(nest, frozenset(stage for stage, times in count.items() if times > 1))
    body = dropper.nodes(nest.body, {}, None)
    if not dropper.gone:
        return nest
    return replace(nest, body=body, buffers={name: dropper.moved(each) for name, each in nest.buffers.items()})


@dataclass
class _Dropper:
    """`gone` gives for each loop that vanished the loop around it; `values` what it counted.

    `parted` are the reductions that stand in several places.
    """

    nest: Nest
    parted: frozenset[str]
    gone: dict[Symbol, Symbol | None] = field(default_factory=dict)
    values: dict[Symbol, Form] = field(default_factory=dict)

    def nodes(self, nodes: tuple[Node, ...], values: Mapping[Symbol, Form], around: Symbol | None) -> tuple[Node, ...]:
        result: list[Node] = []
        for node in nodes:
            if isinstance(node, Leaf):
                result.append(_substituted(node, values) if values else node)
                continue
            if node.intrinsic is not None:
                result.extend(substitute((node,), values))  # one statement, whatever its loops are
                continue
            lo, hi = (forms.substitute(end, values) for end in (node.lo, node.hi))
            if hi - lo == forms.constant(1) and not self.is_needed(node):
                self.gone[node.symbol], self.values[node.symbol] = around, lo
                result.extend(self.nodes(node.body, {**values, node.symbol: lo}, around))
                continue
            result.append(replace(node, lo=lo, hi=hi, body=self.nodes(node.body, values, node.symbol)))
        return tuple(result)

    def is_needed(self, loop: Loop) -> bool:
        """Whether where some reduction begins is seen by this loop."""
        return any(
            leaf.stage in self.parted or self._chooses(loop, path, leaf)
            for path, leaf in leaves_of((loop,))
            if isinstance(self.nest.stages[leaf.stage].work, Update)
        )

    def _chooses(self, loop: Loop, path: Path, leaf: Leaf) -> bool:
        """Whether the loop is of the leaf's reduction, and elements are left out for some of its values."""
        over = reduced_symbols(self.nest.stages[leaf.stage], leaf)
        if loop.symbol not in over:
            return False
        ends = (end for each in path if each.symbol not in over for end in (each.lo, each.hi))
        return any(form.mentions(loop.symbol) for form in (*leaf.guards, *ends))

    def moved(self, buffer: Buffer) -> Buffer:
        """The buffer in the body of a loop that is still there."""
        at = buffer.at
        while at in self.gone:
            at = self.gone[at]
        origin, extents = (
            tuple(forms.substitute(form, self.values) for form in each) for each in (buffer.origin, buffer.extents)
        )
        return replace(buffer, at=at, origin=origin, extents=extents)


def _substituted(leaf: Leaf, values: Mapping[Symbol, Form]) -> Leaf:
    at = tuple((own, forms.substitute(form, values)) for own, form in leaf.at)
    return replace(leaf, at=at, guards=tuple(forms.substitute(form, values) for form in leaf.guards))
