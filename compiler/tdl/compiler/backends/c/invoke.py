"""Calls of intrinsics: operands copied into arrays, and the intrinsic's definition as a function of its own.

    c[n] = c0[n] + sum(a[k] * b[n, k] for k)        static void vpdpbusd(const uint8_t *a, const int8_t *b, ...)

The definition is what a schedule was proved with; the text of `emit llvm` is for LLVM alone.
"""

from __future__ import annotations

from tdl.compiler.backends.c.context import Array, Code
from tdl.compiler.backends.c.integers import form_value
from tdl.compiler.backends.c.lowering import Lower
from tdl.compiler.backends.c.values import PRODUCT, SUM, Value, memory_type, operation, size
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.kernel.tree import Invoke, Operand
from tdl.language.diagnostic import InternalError
from tdl.language.intrinsics import Intrinsic
from tdl.language.tree import Tensor


def invoke(code: Code, node: Invoke, lower: Lower) -> None:
    """Read the inputs, call, and write the result."""
    program, block, site = node.intrinsic.program, code.block, Site(node.origin.span)
    (output,) = program.outputs
    with block.braces():
        names = {name: _declare(code, program.tensors[name]) for name in (*program.inputs, output)}
        for name, operand in zip(program.inputs, node.inputs):
            _copy(code, operand, names[name], lower, site, is_read=True)
        function = _function(code, node.intrinsic)
        block.put(f"{function}({', '.join(names[name] for name in (*program.inputs, output))});")
        _copy(code, node.output, names[output], lower, site, is_read=False)


def _declare(code: Code, tensor: Tensor) -> str:
    name = code.block.fresh(tensor.name)
    count = 1
    for each in tensor.shape:
        count *= each.constant
    code.block.put(f"{memory_type(tensor.dtype)} {name}[{count}];")
    return name


def _copy(code: Code, operand: Operand, name: str, lower: Lower, site: Site, *, is_read: bool) -> None:
    """The elements of an operand from memory into an array, or back."""
    array, at = code.array(operand.buffer), 0
    for run in operand.runs:
        offset = form_value(code, run.offset, lower, site)
        if run.count == 1:
            _assign(code, f"{name}[{at}]", f"{array.name}[{offset.text}]", is_read=is_read)
        else:
            with code.block.braces(f"for (int64_t each = 0; each < {run.count}; ++each)"):
                moved = operation(size(run.step), "*", Value("each"), PRODUCT) if run.step != 1 else Value("each")
                mine = f"{name}[{f'{at} + ' if at else ''}each]"
                _assign(code, mine, f"{array.name}[{operation(offset, '+', moved, SUM).text}]", is_read=is_read)
        at += run.count


def _assign(code: Code, mine: str, theirs: str, *, is_read: bool) -> None:
    code.block.put(f"{mine} = {theirs};" if is_read else f"{theirs} = {mine};")


def _function(code: Code, intrinsic: Intrinsic) -> str:
    """The name of the function that an intrinsic is; written where it is called first."""
    from tdl.compiler.backends.c.statement import Statements, allocate
    from tdl.compiler.lower.pipeline import lower
    from tdl.compiler.schedule.automatic import automatic_nest

    unit = code.unit
    if intrinsic in unit.intrinsics:
        return unit.intrinsics[intrinsic]
    kernel, program = lower(automatic_nest(intrinsic.program)), intrinsic.program
    name = unit.intrinsics[intrinsic] = unit.unique(f"tdl_intrinsic_{intrinsic.name}")
    own = Code(unit, kernel, name, "")
    declared = []
    for tensor in (*program.inputs, *program.outputs):
        const = "const " if tensor in program.inputs else ""
        type_ = f"{const}{memory_type(program.tensors[tensor].dtype)} *"
        own.arrays[tensor] = Array(own.block.fresh(tensor), concrete(program.tensors[tensor].dtype), type_)
        declared.append(f"{type_}{own.arrays[tensor].name}")
    before = len(unit.sites)
    for buffer in kernel.buffers.values():
        if buffer.memory == "workspace":
            allocate(own, buffer)
    Statements(None).body(own, kernel.body)
    if len(unit.sites) != before:
        raise InternalError(f"intrinsic {intrinsic.name} may fail, which no instruction does")
    unit.function(f"static void {name}({', '.join(declared)})", own.block.lines, intrinsic.meaning)
    return name
