"""Calls of intrinsics: operands from memory into registers, the text of `emit llvm` as a function that LLVM inlines.

    c[n] = c0[n] + ...      emit llvm "... %c = call <16 x i32> @llvm.x86...(<16 x i32> %c0, ...)"

    define internal <16 x i32> @tdl.intrinsic.0.vpdpbusd(<4 x i8> %a, <64 x i8> %b, <16 x i32> %c0) { ...  ret ... %c }

An operand is a vector of its elements row by row, or one value where it has no dimensions. Elements side by side in
memory are read at once, and nothing beside them; others one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from math import prod

from tdl.compiler.backends.llvm.context import Context
from tdl.compiler.backends.llvm.lowering import Lower
from tdl.compiler.backends.llvm.memory import locate
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.values import Value, element, part, spread, vector_type
from tdl.compiler.kernel.tree import Invoke, Kernel, Operand, Run
from tdl.compiler.kernel.walk import walk
from tdl.language.dtypes import Type
from tdl.language.intrinsics import Intrinsic
from tdl.language.source import Span
from tdl.language.tree import Tensor

_KINDS = {"f64": "double", "f32": "float", "f16": "half", "bf16": "bfloat", "bool": "i8"}
_DECLARED = re.compile(r"^\s*declare\b.*$", re.MULTILINE)
_DEFINED = re.compile(r"@([\w.]+)\(")


def invoke(context: Context, node: Invoke, lower: Lower) -> None:
    """Read the inputs, call, and write the result."""
    program, span = node.intrinsic.program, node.origin.span
    values = [
        _read(context, operand, program.tensors[name], lower, span)
        for name, operand in zip(program.inputs, node.inputs)
    ]
    result = program.tensors[program.outputs[0]]
    type_ = _type(result)
    text = f"call {type_} @{_name(node.intrinsic)}({', '.join(value.typed for value in values)})"
    made = Value(context.block.value(text), _kind(result.dtype), _count(result) if result.shape else 0)
    _write(context, node.output, made, lower, span)


def intrinsics_of(kernel: Kernel) -> list[Intrinsic]:
    """The intrinsics that a kernel calls, each once."""
    return list(dict.fromkeys(node.intrinsic for node in walk(kernel.body) if isinstance(node, Invoke)))


def functions_of(intrinsics: Sequence[Intrinsic]) -> list[str]:
    """The functions that intrinsics are, after what their texts declare."""
    declared = [line.strip() for each in intrinsics for line in _DECLARED.findall(each.emits["llvm"].text)]
    return [*_once(declared), *map(_function, intrinsics)]


@lru_cache(maxsize=256)
def complaint(intrinsic: Intrinsic) -> str | None:
    """What LLVM says of an intrinsic's text, where it does not take it. The line is that of the text, from 1 on."""
    from tdl.compiler.backends.llvm.support import support_for
    from tdl.compiler.backends.llvm.target import binding

    text = "\n".join(functions_of((intrinsic,)))
    try:
        binding().parse_assembly(support_for(text, machine_f16=False) + text).verify()
    except RuntimeError as error:
        return _first_line(str(error))
    return None


def _first_line(message: str) -> str:
    lines = [line for line in message.splitlines() if line.strip() and line.strip() != "LLVM IR parsing error"]
    shown = re.sub(r"^<string>:\d+:\d+: (error: )?", "", lines[0]) if lines else message
    at = f": `{lines[1].strip()}`" if len(lines) > 1 else ""
    return shown + at


def _once(declared: Sequence[str]) -> list[str]:
    found: dict[str, str] = {}
    for line in declared:
        name = _DEFINED.search(line)
        found.setdefault(name.group(1) if name is not None else line, line)
    return list(found.values())


def _function(intrinsic: Intrinsic) -> str:
    program = intrinsic.program
    parameters = ", ".join(f"{_type(program.tensors[name])} %{name}" for name in program.inputs)
    (output,) = program.outputs
    type_ = _type(program.tensors[output])
    body = _DECLARED.sub("", intrinsic.emits["llvm"].text)
    head = f"define internal {type_} @{_name(intrinsic)}({parameters}) alwaysinline nounwind {{"
    return f"{head}\n{body}\n  ret {type_} %{output}\n}}"


def _name(intrinsic: Intrinsic) -> str:
    return f"tdl.intrinsic.{intrinsic.declaration.key[:16]}.{intrinsic.name}"


# ---- operands


def _kind(dtype: Type) -> str:
    return _KINDS.get(concrete(dtype).name, f"i{concrete(dtype).bits}")


def _count(tensor: Tensor) -> int:
    return prod(size.constant for size in tensor.shape)


def _type(tensor: Tensor) -> str:
    return vector_type(_kind(tensor.dtype), _count(tensor) if tensor.shape else 0)


def _read(context: Context, operand: Operand, tensor: Tensor, lower: Lower, span: Span) -> Value:
    kind = _kind(tensor.dtype)
    if not tensor.shape:
        return _load(context, operand, operand.runs[0], kind, 0, lower, span)
    pieces = [_run(context, operand, run, kind, lower, span) for run in operand.runs]
    return pieces[0] if len(pieces) == 1 else _joined(context, pieces, _count(tensor))


def _run(context: Context, operand: Operand, run: Run, kind: str, lower: Lower, span: Span) -> Value:
    """A run as a vector."""
    if run.step == 1 or run.count == 1:
        return _load(context, operand, run, kind, run.count, lower, span)
    if run.step == 0:
        return spread(context.block, _load(context, operand, run, kind, 0, lower, span), run.count)
    ones = [Run(run.offset + run.step * position, 1) for position in range(run.count)]
    return _joined(context, [_load(context, operand, one, kind, 1, lower, span) for one in ones], run.count)


def _load(context: Context, operand: Operand, run: Run, kind: str, lanes: int, lower: Lower, span: Span) -> Value:
    place = locate(context, operand.buffer, run.offset, lower, span)
    type_ = vector_type(kind, lanes)
    return Value(context.block.value(f"load {type_}, {place.pointer.typed}, align {place.alignment}"), kind, lanes)


def _joined(context: Context, pieces: Sequence[Value], lanes: int) -> Value:
    """The pieces one after the other in a vector."""
    block, kind = context.block, pieces[0].kind
    type_, at, result = vector_type(kind, lanes), 0, "poison"
    for piece in pieces:
        if piece.lanes == 1:
            one = element(block, piece, 0)
            result = block.value(f"insertelement {type_} {result}, {one.typed}, i64 {at}")
        else:
            order = [lane if lane < piece.lanes else None for lane in range(lanes)]
            wide = block.value(f"shufflevector {piece.typed}, {piece.type} poison, {_order(order)}")
            inside = [lanes + lane - at if at <= lane < at + piece.lanes else lane for lane in range(lanes)]
            result = block.value(f"shufflevector {type_} {result}, {type_} {wide}, {_order(inside)}")
        at += piece.lanes
    return Value(result, kind, lanes)


def _order(lanes: Sequence[int | None]) -> str:
    return f"<{len(lanes)} x i32> <{', '.join('i32 poison' if lane is None else f'i32 {lane}' for lane in lanes)}>"


def _write(context: Context, operand: Operand, value: Value, lower: Lower, span: Span) -> None:
    block, at = context.block, 0
    for run in operand.runs:
        if not value.lanes:
            pieces = [(run.offset, value)]
        elif run.step == 1:
            whole = value if run.count == value.lanes else part(block, value, at, run.count)
            pieces = [(run.offset, whole)]
        else:
            pieces = [(run.offset + run.step * each, element(block, value, at + each)) for each in range(run.count)]
        for offset, piece in pieces:
            place = locate(context, operand.buffer, offset, lower, span)
            block.do(f"store {piece.typed}, {place.pointer.typed}, align {place.alignment}")
        at += run.count
