"""Compute a stage again wherever it is used.

    T[i] = f(X[i])                           inline T        Y[i] = f(X[i - 1]) + f(X[i])
    Y[i] = T[i - 1] + T[i]                   ->

The value stands in place of the access, under the access's own branch; a boundary of the access becomes a choice. A
stage with a reduction is computed at its consumer's innermost loop, in a register. Outputs and recurrences stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tdl.compiler.schedule.compute import compute_at
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.touches import touches
from tdl.compiler.schedule.tree import Nest, Stage, Store, Update
from tdl.compiler.schedule.walk import leaves_of, map_leaves
from tdl.language import forms
from tdl.language.dtypes import BOOL
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Binary, Compare, Expr, Integer, Select, map_children


def inline(nest: Nest, tensor: str, line: int = -1) -> Nest:
    """The nest without the stage; its value stands in its readers."""
    if nest.tensors[tensor].role == "output":
        raise Refusal("placement", f"`{tensor}` is an output: it must be stored")
    own = [leaf for _, leaf in leaves_of(nest.body) if nest.stages[leaf.stage].writes[0].tensor == tensor]
    stages = {leaf.stage for leaf in own}
    if any(touch.tensor == tensor and not touch.is_write for leaf in own for touch in touches(nest, leaf)):
        raise Refusal("placement", f"`{tensor}` is a recurrence: its elements need each other")
    readers = {
        leaf.stage
        for _, leaf in leaves_of(nest.body)
        if leaf.stage not in stages and any(t.tensor == tensor for t in touches(nest, leaf))
    }
    if len(stages) > 1:
        raise Refusal("placement", f"`{tensor}` has {len(stages)} definitions, which no single value stands for")
    (stage,) = (nest.stages[name] for name in stages)
    if isinstance(stage.work, Update) or len([t for t in nest.groups if nest.groups[t] == nest.groups[tensor]]) > 1:
        return _in_register(nest, tensor, readers, line)
    if not isinstance(stage.work, Store) or stage.domain is not None:
        raise Refusal("placement", f"`{tensor}` is defined under a filter, which no single value stands for")
    changed = {name: _with_value(nest, nest.stages[name], tensor, stage) for name in readers}
    body = map_leaves(nest.body, lambda leaf: () if leaf.stage == stage.name else (leaf,))
    base = {
        group: map_leaves(nodes, lambda leaf: () if leaf.stage == stage.name else (leaf,))
        for group, nodes in nest.base.items()
        if group != nest.groups[tensor]
    }
    left = {name: each for name, each in {**nest.stages, **changed}.items() if name != stage.name}
    groups = {name: group for name, group in nest.groups.items() if name != tensor}
    buffers = {name: buffer for name, buffer in nest.buffers.items() if name != tensor}
    return replace(nest, body=body, base=base, stages=left, groups=groups, buffers=buffers)


def _in_register(nest: Nest, tensor: str, readers: set[str], line: int) -> Nest:
    """A stage with a reduction, computed at the innermost loop of its one consumer."""
    paths = [path for path, leaf in leaves_of(nest.body) if leaf.stage in readers]
    common = (
        [loop for loop in paths[0] if all(any(loop.symbol == each.symbol for each in path) for path in paths)]
        if paths
        else []
    )
    if not common:
        note = "`compute ... at` places it at one loop"
        raise Refusal("placement", f"`{tensor}` is a reduction with readers that share no loop", note)
    return compute_at(nest, tensor, common[-1], line)


def _with_value(nest: Nest, reader: Stage, tensor: str, stage: Stage) -> Stage:
    """The reading stage with the value in place of each access."""

    def visit(each: Expr) -> Expr:
        made = map_children(each, visit, lambda form: forms.substitute(form, {}, visit))
        if isinstance(made, Access) and made.tensor == tensor:
            return _value(nest, made, stage)
        return made

    work = reader.work
    if isinstance(work, Store):
        work = replace(work, values=tuple(map(visit, work.values)))
    elif isinstance(work, Update):
        work = replace(work, args=tuple(map(visit, work.args)))
    return replace(
        reader,
        work=work,
        domain=None if reader.domain is None else visit(reader.domain),
        filter=None if reader.filter is None else visit(reader.filter),
    )


def _value(nest: Nest, access: Access, stage: Stage) -> Expr:
    """The stage's value at an access."""
    assert isinstance(stage.work, Store)
    position = [target.tensor for target in stage.work.targets].index(access.tensor)
    target, value = stage.work.targets[position], stage.work.values[position]
    shape = nest.tensors[access.tensor].shape
    subscripts = access.subscripts
    boundary = access.boundary
    if boundary is not None and boundary.mode == "edge":
        subscripts = tuple(
            forms.extreme("max", forms.ZERO, forms.extreme("min", form, size - 1))
            for form, size in zip(subscripts, shape)
        )
    elif boundary is not None and boundary.mode == "wrap":
        subscripts = tuple(forms.modulo(form, size) for form, size in zip(subscripts, shape))
    elif boundary is not None and boundary.mode == "mirror":
        raise Refusal("placement", f"`{access.tensor}` is read with `mirror`, which needs it stored")
    at = {
        coordinate.symbol: form
        for coordinate, form in zip(target.coordinates, subscripts)
        if coordinate.symbol is not None
    }
    inside = _moved(value, at)
    if boundary is None or boundary.value is None:
        return inside
    return _chosen(inside, boundary.value, access, shape)


def _moved(value: Expr, at: Mapping[Symbol, Form]) -> Expr:
    def visit(each: Expr) -> Expr:
        return map_children(each, visit, lambda form: forms.substitute(form, at, visit))

    return visit(value)


def _chosen(inside: Expr, outside: Expr, access: Access, shape: tuple[Form, ...]) -> Expr:
    """The value where all subscripts are inside, else the boundary's."""
    test: Expr | None = None
    for form, size in zip(access.subscripts, shape):
        for each in (
            Compare("ge", Integer(form), Integer(forms.ZERO)),
            Compare("lt", Integer(form), Integer(size)),
        ):
            test = each if test is None else Binary("and", test, each, BOOL)
    return inside if test is None else Select(test, inside, outside, access.dtype, span=access.span)
