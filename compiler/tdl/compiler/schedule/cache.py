"""Copy what the body of a loop touches of a tensor into nearer memory.

    cache W at L as Wp        for L                                 for L
                                  ... W[k, j] ...          ->           for Wp.k, Wp.j:  Wp[k, j] = W[k, j]
                                                                        ... Wp[k, j] ...

In, where the body reads what it has not written itself; out, where it writes. What is copied in is the box of what is
read, a superset at worst; what is copied out must be exactly what was written, so the box must be filled. The copy
belongs to one iteration of `L`, so threads and iterations never share it.

A layout lists loops inside `L`, or the tensor's axes, from the slowest to the contiguous one: the digits of the
subscripts that these loops make, `k = 1024*ko + ki` giving `ki`, `j = 64*jr + ji` giving `jr` and `ji`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tdl.compiler.schedule.digits import Digit, digits_of
from tdl.compiler.schedule.extremes import simplified
from tdl.compiler.schedule.filled import fills_box
from tdl.compiler.schedule.liveness import comes_in, goes_out
from tdl.compiler.schedule.names import index_name
from tdl.compiler.schedule.refusal import NeedsSize, Refusal
from tdl.compiler.schedule.regions import Region, Touching, region, show_box, touching
from tdl.compiler.schedule.sizes import constant_bytes
from tdl.compiler.schedule.tree import Buffer, Copy, Leaf, Loop, Memory, Nest, Node, Stage
from tdl.compiler.schedule.walk import Path, binders_of, leaves_of, loops_of, map_leaves, path_to, replace_loop
from tdl.language import forms
from tdl.language.forms import Form, Symbol
from tdl.language.tree import Binder, Target
from tdl.language.witness import size_facts

STACK_LIMIT = 32 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """A `cache` line: which tensor, in which loop, and how the copy is kept. `items` is the layout, if one is given."""

    tensor: str
    loop: Loop
    name: str
    memory: Memory | None = None
    items: tuple[str, ...] | None = None
    line: int = -1


def cache(nest: Nest, request: Request) -> Nest:
    """The nest with the tensor's accesses in the loop's body going through a copy."""
    loop, tensor = request.loop, request.tensor
    if request.name in nest.tensors:
        raise Refusal("cache", f"there is a tensor `{request.name}` already", "a copy needs a name of its own")
    accesses = touching(nest, loop, [tensor])
    if not accesses:
        elsewhere = sorted({each.label for each in _loops_touching(nest, tensor)})
        note = f"it is touched in {', '.join(f'`{name}`' for name in elsewhere)}" if elsewhere else ""
        raise Refusal("cache", f"the body of `{loop.name}` does not touch `{tensor}`", *((note,) if note else ()))
    outer = path_to(nest.body, loop.symbol)
    _check_storage(nest, request)
    box = region(nest, tensor, accesses, outer)
    digits = _layout_digits(nest, request, accesses, box)
    copied = _copied_boxes(nest, request, accesses, outer)
    nest = replace(nest, stages=dict(nest.stages))
    made = _with_copy(nest, request, box, digits)
    body = map_leaves(loop.body, lambda leaf: (_through(leaf, tensor, request.name, accesses),))
    body = _around(nest, request, body, copied, digits, accesses, outer)
    return replace(made, body=replace_loop(made.body, loop.symbol, lambda old: (replace(old, body=body),)))


def _loops_touching(nest: Nest, tensor: str) -> list[Loop]:
    return [node for node in nest.body if isinstance(node, Loop) and touching(nest, node, [tensor])]


# ---- the copy's storage


def _layout_digits(nest: Nest, request: Request, accesses: Sequence[Touching], box: Region) -> list[Digit]:
    """The stored coordinates, slowest first."""
    rank = len(box.lo)
    if request.items is None:
        return [Digit(_axis_name(accesses, axis), axis, 1, None) for axis in range(rank)]
    available = digits_of(nest, accesses, box)
    chosen: list[Digit] = []
    for item in request.items:
        found = [digit for digit in available if digit.name == item or digit.label == item]
        if not found and _runs_once(item, accesses):
            continue  # at these sizes it counts nothing
        if not found:
            names = ", ".join(f"`{digit.name}`" for digit in available)
            raise Refusal(
                "cache", f"`{item}` is no part of a subscript of `{request.tensor}` here", f"its parts are {names}"
            )
        if len(found) > 1:
            labels = ", ".join(f"`{digit.label}`" for digit in found)
            raise Refusal("cache", f"`{item}` may be any of {labels}")
        chosen.append(found[0])
    if len(set(chosen)) < len(chosen):
        raise Refusal("cache", "a part of a subscript is listed twice in the layout")
    for axis, extent in enumerate(box.extents):
        least = min((digit.step for digit in available if digit.axis == axis), default=None)
        if least != 1 and extent != forms.constant(1):
            message = (
                f"no part of a subscript counts axis {axis} one by one, so two elements would be stored in one place"
            )
            raise Refusal("cache", message, f"the box is {show_box(request.tensor, box)}")
    missing = [digit for digit in available if digit not in chosen]
    if missing:
        raise Refusal(
            "cache", f"the layout leaves out `{missing[0].name}`, so two elements would be stored in one place"
        )
    return chosen


def _runs_once(item: str, accesses: Sequence[Touching]) -> bool:
    """Whether a layout's item is a loop of one iteration."""
    one = forms.constant(1)
    return any(item in (loop.name, loop.label) and loop.hi - loop.lo == one for e in accesses for loop in e.inside)


def _axis_name(accesses: Sequence[Touching], axis: int) -> str:
    """What a copy loop over a whole axis is called: the index that subscripts it, where that is one."""
    names = {index_name(own) for each in accesses for own, form in each.leaf.at if form == each.touch.element[axis]}
    return names.pop() if len(names) == 1 else f"axis{axis}"


def _with_copy(nest: Nest, request: Request, box: Region, digits: Sequence[Digit]) -> Nest:
    source = nest.tensors[request.tensor]
    tensor = replace(source, name=request.name, role="intermediate")
    around = binders_of(path_to(nest.body, request.loop.symbol))
    bytes_ = constant_bytes(box.extents, source.dtype, around, size_facts(nest.program))
    fits = bytes_ is not None and bytes_ <= STACK_LIMIT
    memory: Memory = request.memory or ("stack" if fits else "arena")
    if memory in ("register", "stack") and bytes_ is None:
        message = f"`{request.name}` is kept in `{memory}`, and its size is not bounded by a number"
        raise NeedsSize(message, f"its extents are {', '.join(map(str, box.extents))}")
    layout = None
    if request.items is not None:
        layout = tuple(digit.of(forms.symbol(Symbol(str(digit.axis), "index"))) for digit in digits)
    buffer = Buffer(request.name, memory, request.loop.symbol, box.lo, box.extents, layout, (), request.line)
    return replace(
        nest,
        tensors={**nest.tensors, request.name: tensor},
        buffers={**nest.buffers, request.name: buffer},
    )


def _through(leaf: Leaf, tensor: str, name: str, accesses: Sequence[Touching]) -> Leaf:
    if not any(each.leaf == leaf for each in accesses):
        return leaf
    through = {old: name if new == tensor else new for old, new in leaf.through}
    if tensor not in through.values() and tensor not in through:
        through[tensor] = name
    return replace(leaf, through=tuple(through.items()))


# ---- what is copied


def _check_storage(nest: Nest, request: Request) -> None:
    """What lives inside the body only is not there for a copy around it."""
    at = nest.buffers[request.tensor].at
    if at is not None and at in {each.symbol for each in loops_of(request.loop.body)}:
        message = f"`{request.tensor}` is kept for one iteration of `{at}`, inside of `{request.loop.name}`"
        raise Refusal("cache", message, "a copy is made where the tensor itself is kept, or inside of that")


def _copied_boxes(
    nest: Nest, request: Request, accesses: Sequence[Touching], outer: Path
) -> tuple[Region | None, Region | None]:
    """What is copied in and out: the box of what comes from outside, and exactly what is written."""
    tensor = request.tensor
    incoming = comes_in(nest, tensor, accesses, outer)
    box_in = region(nest, tensor, incoming, outer) if incoming else None
    writes = [each for each in accesses if each.touch.is_write]
    if not writes or not goes_out(nest, tensor, request.loop, incoming):
        return box_in, None
    boxes = [region(nest, tensor, [each], outer) for each in writes]
    for each in writes:
        _check_filled(nest, request, each, outer)
    if any(box != boxes[0] for box in boxes):
        message = f"the body of `{request.loop.name}` writes `{tensor}` in several places"
        raise Refusal("cache", message, *(show_box(tensor, box) for box in boxes))
    return box_in, boxes[0]


def _check_filled(nest: Nest, request: Request, write: Touching, outer: Path) -> None:
    """What is written must fill its box, since all of it is copied out."""
    if write.leaf.guards or nest.stages[write.leaf.stage].domain is not None:
        message = f"the body of `{request.loop.name}` writes `{request.tensor}` only under a condition"
        raise Refusal("cache", message, "what is copied back must be exactly what was written")
    if not fills_box(write, outer, size_facts(nest.program)):
        box = show_box(request.tensor, region(nest, request.tensor, [write], outer))
        message = f"the body of `{request.loop.name}` is not seen to write all of a box of `{request.tensor}`"
        element = ", ".join(map(str, write.touch.element))
        raise Refusal("cache", message, f"it writes {request.tensor}[{element}], in the box {box}")


# ---- the copies


def _around(
    nest: Nest,
    request: Request,
    body: tuple[Node, ...],
    copied: tuple[Region | None, Region | None],
    digits: Sequence[Digit],
    accesses: Sequence[Touching],
    outer: Path,
) -> tuple[Node, ...]:
    """The body with the copy in before its first access, and the copy out after its last."""
    touched = {each.leaf.stage for each in accesses}
    positions = [
        position for position, node in enumerate(body) if touched & {leaf.stage for _, leaf in leaves_of((node,))}
    ]
    first, last = positions[0], positions[-1] + 1
    names = _axis_names(accesses, len(nest.tensors[request.tensor].shape))
    copy_in, copy_out = (
        () if box is None else _copy(nest, request, box, digits, names, binders_of(outer), is_out=is_out)
        for box, is_out in zip(copied, (False, True))
    )
    return (*body[:first], *copy_in, *body[first:last], *copy_out, *body[last:])


def _copy(
    nest: Nest,
    request: Request,
    box: Region,
    digits: Sequence[Digit],
    names: Sequence[str],
    around: Sequence[Binder],
    *,
    is_out: bool,
) -> tuple[Node, ...]:
    stage = f"{request.name}.out" if is_out else request.name
    rank = len(box.lo)
    own = [Symbol(f"{stage}[{name}]", "index") for name in names]
    coordinates = tuple(map(forms.symbol, own))
    near, far = Target(request.name, coordinates), Target(request.tensor, coordinates)
    work = Copy(far, near) if is_out else Copy(near, far)
    indices = tuple(Binder(symbol, forms.ZERO, size) for symbol, size in zip(own, nest.tensors[request.tensor].shape))
    nest.stages[stage] = Stage(stage, -1, indices, (), work)  # type: ignore[index]
    symbols = {digit: Symbol(f"{stage}.{digit.name}", "index") for digit in digits}
    at = []
    for axis in range(rank):
        value = box.lo[axis]
        for digit in digits:
            if digit.axis == axis:
                value = value + forms.symbol(symbols[digit]) * digit.step
        at.append((own[axis], value))
    nodes: tuple[Node, ...] = (Leaf(stage, tuple(at)),)
    facts, ranges = size_facts(nest.program), list(around)
    for digit in digits:
        hi = simplified(_digit_end(digit, digits, symbols, box), facts, ranges)
        ranges.append(Binder(symbols[digit], forms.ZERO, hi))
    for digit, binder in zip(reversed(digits), reversed(ranges)):
        nodes = (Loop(stage, digit.name, binder.index, binder.lo, binder.hi, nodes, line=request.line),)
    return nodes


def _axis_names(accesses: Sequence[Touching], rank: int) -> list[str]:
    """A name for each axis of a copy: that of the index which subscripts it, where it has one of its own."""
    names = [_axis_name(accesses, axis) for axis in range(rank)]
    return [name if names.count(name) == 1 else f"axis{axis}" for axis, name in enumerate(names)]


def _digit_end(digit: Digit, digits: Sequence[Digit], symbols: dict[Digit, Symbol], box: Region) -> Form:
    """How far a copy loop runs: over its digit, and not past the box."""
    extent = box.extents[digit.axis]
    rest = extent
    for each in (each for each in digits[: digits.index(digit)] if each.axis == digit.axis):
        rest = rest - forms.symbol(symbols[each]) * each.step
    steps = forms.floor_div(rest + (digit.step - 1), forms.constant(digit.step))
    if digit.count is None:
        return steps
    return forms.extreme("min", forms.constant(digit.count), steps)
