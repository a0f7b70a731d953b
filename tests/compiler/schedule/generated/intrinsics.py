"""Intrinsics that random lines tensorize with, told by their names alone: `axpy_4_i32` is of 4 elements of i32.

copy   y[l] = x[l]                      add    c[l] = c0[l] + a[l]
mul    c[l] = c0[l] + a[l] * b[l]       axpy   c[l] = c0[l] + a * b[l]
total  c = c0 + sum(a[k] for k)         dot    c = c0 + sum(a[k] * b[k] for k)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from random import Random

from tdl.compiler.schedule.bounds import greatest_extent
from tdl.compiler.schedule.calls import is_reduced
from tdl.compiler.schedule.tree import Copy, Leaf, Loop, Nest, Store, Update, Work
from tdl.compiler.schedule.walk import leaves_of, loops_of
from tdl.language.tree import Access, walk

_KINDS = {"f32": "float", "f64": "double"}
_HEADS = {
    "copy": ("x: V", "y: V", "y[l] = x[l]"),
    "add": ("a: V, c0: V", "c: V", "c[l] = c0[l] + a[l]"),
    "mul": ("a: V, b: V, c0: V", "c: V", "c[l] = c0[l] + a[l] * b[l]"),
    "axpy": ("a: S, b: V, c0: V", "c: V", "c[l] = c0[l] + a * b[l]"),
    "total": ("a: V, c0: S", "c: S", "c = c0 + sum(a[k] for k)"),
    "dot": ("a: V, b: V, c0: S", "c: S", "c = c0 + sum(a[k] * b[k] for k)"),
}


def tensorize(nest: Nest, rng: Random) -> str | None:
    """A line for an innermost loop, preferably of a known extent; copies' loops too."""
    inner = [loop for loop in loops_of(nest.body) if loop.kind == "serial"]
    pairs = [(loop, _intrinsic_for(nest, loop, rng)) for loop in inner]
    found = [(loop, f"tensorize {loop.label} with {name}") for loop, name in pairs if name is not None]
    full = [line for loop, line in found if (loop.hi - loop.lo).is_constant]
    lines = full or [line for _, line in found]
    return rng.choice(lines) if lines else None


def _intrinsic_for(nest: Nest, loop: Loop, rng: Random) -> str | None:
    """The name of an intrinsic that may be what an innermost loop computes; None where there is none like it."""
    count = greatest_extent(loop)
    if count is None or not 2 <= count <= 16 or not (len(loop.body) == 1 and isinstance(loop.body[0], Leaf)):
        return None
    ((_, leaf),) = leaves_of((loop,))
    work = nest.stages[leaf.stage].work
    dtype = nest.tensors[nest.stages[leaf.stage].writes[0].tensor].dtype
    if str(dtype) not in ("i8", "u8", "i16", "i32", "i64", "f32", "f64"):
        return None
    kind = rng.choice(list(_HEADS))
    if any(access.boundary is not None for access in _accesses(work)) and rng.random() < 0.9:
        return None
    match work:
        case Copy():
            kind = "copy"
        case Update(_, _, (Access(),)):
            kind = "total" if is_reduced(nest, leaf, loop) else "add"
        case Update():
            kind = "dot" if is_reduced(nest, leaf, loop) else rng.choice(("mul", "axpy"))
    return f"{kind}_{count}_{dtype}"


def _accesses(work: Work) -> list[Access]:
    exprs = work.values if isinstance(work, Store) else work.args if isinstance(work, Update) else ()
    return [each for expr in exprs for each in walk(expr) if isinstance(each, Access)]


def declared(lines: Iterable[str]) -> str:
    """The declarations of all intrinsics that lines name."""
    names = dict.fromkeys(name for line in lines for name in re.findall(r"^tensorize \S+ with (\w+)", line))
    return "".join(map(_declaration, names))


def _declaration(name: str) -> str:
    kind, count, dtype = name.split("_")
    inputs, output, meaning = (each.replace("V", f"{dtype}[{count}]").replace("S", dtype) for each in _HEADS[kind])
    text = "\n".join(f"        {line}" for line in _text(kind, int(count), dtype))
    return f'intrinsic {name}({inputs}) -> {output} for cpu {{\n    {meaning}\n    emit llvm """\n{text}\n    """\n}}\n'


def _text(kind: str, count: int, dtype: str) -> list[str]:
    one = _KINDS.get(dtype, f"i{dtype[1:]}")
    vector = f"<{count} x {one}>"
    add, mul = (f"f{each}" if dtype in _KINDS else each for each in ("add", "mul"))
    suffix = f"v{count}{dtype}" if dtype in _KINDS else f"v{count}{one}"
    gathered = f"%s = call {one} @llvm.vector.reduce.add.{suffix}({vector} %p)", f"%c = add {one} %c0, %s"
    if dtype in _KINDS:
        gathered = (f"%c = call {one} @llvm.vector.reduce.fadd.{suffix}({one} %c0, {vector} %p)",)
    match kind:
        case "copy":
            return [f"%y = freeze {vector} %x"]
        case "add":
            return [f"%c = {add} {vector} %c0, %a"]
        case "mul":
            return [f"%p = {mul} {vector} %a, %b", f"%c = {add} {vector} %c0, %p"]
        case "axpy":
            return [
                f"%first = insertelement {vector} poison, {one} %a, i64 0",
                f"%all = shufflevector {vector} %first, {vector} poison, <{count} x i32> zeroinitializer",
                f"%p = {mul} {vector} %all, %b",
                f"%c = {add} {vector} %c0, %p",
            ]
        case "total":
            return [f"%p = freeze {vector} %a", *gathered]
    return [f"%p = {mul} {vector} %a, %b", *gathered]
