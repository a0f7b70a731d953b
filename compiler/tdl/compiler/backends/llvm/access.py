"""Reads and writes of tensors: addresses, boundaries, checks.

An access without a boundary was proved in bounds, or is checked here and fails. With one, only the read that is inside
happens (`constant`), or the subscripts are brought inside first (`edge`, `wrap`, `mirror`).
"""

from __future__ import annotations

from tdl.compiler.backends.llvm.block import Block
from tdl.compiler.backends.llvm.context import Buffer, Code, Context, Site
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.lowering import Lower
from tdl.compiler.backends.llvm.scalars import load, memory_type, register_type
from tdl.language.tree import Access, Target


def lower_access(context: Context, access: Access, lower: Lower) -> str:
    """The element that an access reads, as a register value."""
    buffer = context.buffers[access.tensor]
    site = Site(access.span, access.tensor)
    subscripts = [form_value(context, form, lower, site) for form in access.subscripts]
    boundary = access.boundary
    if boundary is None:
        _check(context, access, subscripts, buffer, site)
        return load(context.block, address(context.block, buffer, subscripts), buffer.dtype)
    if boundary.value is None:
        moved = [_brought_inside(context.block, boundary.mode, *pair) for pair in zip(subscripts, buffer.extents)]
        return load(context.block, address(context.block, buffer, moved), buffer.dtype)
    outside = boundary.value
    if not subscripts:
        return load(context.block, buffer.pointer, buffer.dtype)
    return context.block.choose(
        _inside(context.block, subscripts, buffer.extents),
        register_type(buffer.dtype),
        lambda: load(context.block, address(context.block, buffer, subscripts), buffer.dtype),
        lambda: lower(context, outside),
    )


def place(context: Context, target: Target, lower: Lower) -> tuple[str, Buffer]:
    """The address of the element that a target names."""
    buffer = context.buffers[target.tensor]
    site = Site(target.span, target.tensor)
    subscripts = [form_value(context, form, lower, site) for form in target.coordinates]
    return address(context.block, buffer, subscripts), buffer


def address(block: Block, buffer: Buffer, subscripts: list[str]) -> str:
    """The address of an element whose subscripts are in bounds, which is why no step of it can overflow."""
    offset: str | None = None
    for subscript, stride in zip(subscripts, buffer.strides):
        term = subscript if stride == "1" else block.value(f"mul nsw i64 {subscript}, {stride}")
        offset = term if offset is None else block.value(f"add nsw i64 {offset}, {term}")
    if offset is None:
        return buffer.pointer
    return block.value(f"getelementptr inbounds {memory_type(buffer.dtype)}, ptr {buffer.pointer}, i64 {offset}")


def _check(context: Context, access: Access, subscripts: list[str], buffer: Buffer, site: Site) -> None:
    for axis, (subscript, extent) in enumerate(zip(subscripts, buffer.extents)):
        if axis < len(access.checked) and access.checked[axis]:
            outside = context.block.value(f"icmp uge i64 {subscript}, {extent}")
            context.fail_when(outside, Code.OUT_OF_BOUNDS, site, str(axis), subscript, extent)


def _inside(block: Block, subscripts: list[str], extents: tuple[str, ...]) -> str:
    """Whether every subscript is in `0..extent`; extents are never negative, so one unsigned comparison tells."""
    tests = [block.value(f"icmp ult i64 {subscript}, {extent}") for subscript, extent in zip(subscripts, extents)]
    result = tests[0]
    for test in tests[1:]:
        result = block.value(f"and i1 {result}, {test}")
    return result


def _brought_inside(block: Block, mode: str, subscript: str, extent: str) -> str:
    last = block.value(f"sub i64 {extent}, 1")
    if mode == "edge":
        low = block.value(f"call i64 @llvm.smax.i64(i64 {subscript}, i64 0)")
        return block.value(f"call i64 @llvm.smin.i64(i64 {low}, i64 {last})")
    if mode == "wrap":
        return _modulo(block, subscript, extent)
    period = block.value(f"mul i64 {last}, 2")
    turned = _modulo(block, subscript, period)
    back = block.value(f"sub i64 {period}, {turned}")
    ahead = block.value(f"icmp ult i64 {turned}, {extent}")
    folded = block.value(f"select i1 {ahead}, i64 {turned}, i64 {back}")
    single = block.value(f"icmp sle i64 {last}, 0")
    return block.value(f"select i1 {single}, i64 0, i64 {folded}")


def _modulo(block: Block, value: str, period: str) -> str:
    """`value % period`, never negative; a period below 1, which no element can have, counts as 1."""
    safe = block.value(f"call i64 @llvm.smax.i64(i64 {period}, i64 1)")
    remainder = block.divide(f"srem i64 {value}, {safe}")
    negative = block.value(f"icmp slt i64 {remainder}, 0")
    moved = block.value(f"add i64 {remainder}, {safe}")
    return block.value(f"select i1 {negative}, i64 {moved}, i64 {remainder}")
