"""Compute a stage again wherever it is used.

    T[i] = f(X[i])                           inline T        Y[i] = f(X[i - 1]) + f(X[i])
    Y[i] = T[i - 1] + T[i]                   ->

The value stands in place of the access, under the access's own branch; a boundary of the access becomes a choice. A
stage with a reduction is computed at its consumer's innermost loop, in a register. Outputs and recurrences stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tdl.compiler.schedule.compute import compute_at
from tdl.compiler.schedule.owners import is_accumulator, own_paths
from tdl.compiler.schedule.refusal import Refusal
from tdl.compiler.schedule.replay import replayed, taken_out
from tdl.compiler.schedule.touches import own_touches, touches
from tdl.compiler.schedule.tree import Copy, Leaf, Nest, Stage, Store, Update
from tdl.compiler.schedule.walk import leaves_of
from tdl.language import forms
from tdl.language.dtypes import BOOL
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Access, Binary, Compare, Expr, Integer, Number, Select, Target, map_children


def inline(nest: Nest, tensor: str, line: int = -1) -> Nest:
    """The nest without the stage; its value stands in its readers."""
    if nest.tensors[tensor].role == "output":
        raise Refusal("placement", f"`{tensor}` is an output: it must be stored")
    if is_accumulator(nest, tensor):
        return nest  # it is in a register at its use already
    group = nest.groups[tensor]
    own = [leaf for _, leaf in own_paths(nest, group) if _writes(nest, leaf, tensor)]
    stages = {leaf.stage for leaf in own}
    if any(touch.tensor == tensor and not touch.is_write for leaf in own for touch in own_touches(nest, leaf)):
        raise Refusal("placement", f"`{tensor}` is a recurrence: its elements need each other")
    readers = {
        leaf.stage
        for _, leaf in leaves_of(nest.body)
        if leaf.stage not in stages and any(t.tensor == tensor for t in touches(nest, leaf))
    }
    definitions = [nest.stages[name] for name in sorted(stages)]
    is_alone = [each for each in nest.groups if nest.groups[each] == group] == [tensor]
    if not is_alone or not all(isinstance(each.work, Store) for each in definitions):
        return _in_register(nest, tensor, readers, line)
    bare, affected = taken_out(nest, group)
    changed = {
        name: _with_value(nest, bare.stages[name], tensor, definitions) for name in readers if name in bare.stages
    }
    origin = {
        name: _with_value(nest, each, tensor, definitions) if name in readers else each
        for name, each in bare.origin.items()
        if name not in stages
    }
    base = {name: nodes for name, nodes in bare.base.items() if name != group}
    left = {name: each for name, each in {**bare.stages, **changed}.items() if name not in stages}
    groups = {name: each for name, each in bare.groups.items() if each != group}
    buffers = {name: buffer for name, buffer in bare.buffers.items() if name != tensor}
    result = replace(bare, base=base, origin=origin, stages=left, groups=groups, buffers=buffers)
    result = replace(result, tensors={name: each for name, each in bare.tensors.items() if name != tensor})
    return replayed(result, tuple(each for each in nest.log if group not in each.groups), affected, group)


def _writes(nest: Nest, leaf: Leaf, tensor: str) -> bool:
    return any(target.tensor == tensor for target in nest.stages[leaf.stage].writes)


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


def _with_value(nest: Nest, reader: Stage, tensor: str, definitions: Sequence[Stage]) -> Stage:
    """The reading stage with the value in place of each access."""

    def visit(each: Expr) -> Expr:
        made = map_children(each, visit, lambda form: forms.substitute(form, {}, visit))
        if isinstance(made, Access) and made.tensor == tensor:
            return _value(nest, made, definitions)
        return made

    work = reader.work
    match work:
        case Store():
            work = replace(work, values=tuple(map(visit, work.values)))
        case Update():
            work = replace(work, args=tuple(map(visit, work.args)))
        case Copy():
            message = f"`{tensor}` is copied as `{reader.name}`, and a copy needs it stored"
            raise Refusal("placement", message, "inline it before it is cached")
    return replace(
        reader,
        work=work,
        domain=None if reader.domain is None else visit(reader.domain),
        filter=None if reader.filter is None else visit(reader.filter),
    )


def _value(nest: Nest, access: Access, definitions: Sequence[Stage]) -> Expr:
    """The value at an access: of the definition that the element is in, where there are several."""
    shape = nest.tensors[access.tensor].shape
    subscripts, boundary = access.subscripts, access.boundary
    if boundary is not None and boundary.mode != "constant":
        subscripts = tuple(_landing(boundary.mode, form, size) for form, size in zip(subscripts, shape))
    *others, last = definitions
    inside = _value_of(last, access.tensor, subscripts)
    for stage in reversed(others):
        test = _is_in(stage, access.tensor, subscripts, shape)
        inside = Select(test, _value_of(stage, access.tensor, subscripts), inside, access.dtype, span=access.span)
    if boundary is None or boundary.value is None:
        return inside
    return _chosen(inside, boundary.value, access, shape)


def _landing(mode: str, form: Form, size: Form) -> Form:
    """Where a subscript outside of an axis lands."""
    if mode == "edge":
        return forms.extreme("max", forms.ZERO, forms.extreme("min", form, size - 1))
    if mode == "wrap":
        return forms.modulo(form, size)
    period = forms.extreme("max", forms.constant(1), size * 2 - 2)
    there = forms.modulo(form, period)
    return forms.extreme("min", there, period - there)


def _target_of(stage: Stage, tensor: str) -> tuple[Target, Expr]:
    assert isinstance(stage.work, Store)
    position = [target.tensor for target in stage.work.targets].index(tensor)
    return stage.work.targets[position], stage.work.values[position]


def _indices(stage: Stage, tensor: str, subscripts: Sequence[Form]) -> dict[Symbol, Form]:
    """What the stage's own indices are at an element."""
    own = {binder.index for binder in stage.indices}
    coordinates = _target_of(stage, tensor)[0].coordinates
    return {each.symbol: form for each, form in zip(coordinates, subscripts) if each.symbol in own and each.symbol}


def _value_of(stage: Stage, tensor: str, subscripts: Sequence[Form]) -> Expr:
    return _moved(_target_of(stage, tensor)[1], _indices(stage, tensor, subscripts))


def _is_in(stage: Stage, tensor: str, subscripts: Sequence[Form], shape: Sequence[Form]) -> Expr:
    """That an element is one that the definition gives."""
    at = _indices(stage, tensor, subscripts)
    ranges = {binder.index: binder for binder in stage.indices}
    tests: list[Expr] = []
    for coordinate, form, size in zip(_target_of(stage, tensor)[0].coordinates, subscripts, shape):
        binder = ranges.get(coordinate.symbol) if coordinate.symbol is not None else None
        if binder is None:
            tests.append(Compare("eq", Integer(form), Integer(coordinate)))
            continue
        if binder.lo != forms.ZERO:
            tests.append(Compare("ge", Integer(form), Integer(forms.substitute(binder.lo, at))))
        if binder.hi != size:
            tests.append(Compare("lt", Integer(form), Integer(forms.substitute(binder.hi, at))))
    if stage.domain is not None:
        tests.append(_moved(stage.domain, at))
    return _all(tests)


def _all(tests: Sequence[Expr]) -> Expr:
    if not tests:
        return Number(True, BOOL)
    result = tests[0]
    for each in tests[1:]:
        result = Binary("and", result, each, BOOL)
    return result


def _moved(value: Expr, at: Mapping[Symbol, Form]) -> Expr:
    def visit(each: Expr) -> Expr:
        return map_children(each, visit, lambda form: forms.substitute(form, at, visit))

    return visit(value)


def _chosen(inside: Expr, outside: Expr, access: Access, shape: tuple[Form, ...]) -> Expr:
    """The value where all subscripts are inside, else the boundary's."""
    tests: list[Expr] = []
    for form, size in zip(access.subscripts, shape):
        tests.append(Compare("ge", Integer(form), Integer(forms.ZERO)))
        tests.append(Compare("lt", Integer(form), Integer(size)))
    return Select(_all(tests), inside, outside, access.dtype, span=access.span) if tests else inside
