"""A nest to the LLVM text of a kernel.

The kernel's interface is C:

    struct error  { int32_t code; int64_t site; int64_t details[3]; };      code is claimed by an atomic exchange
    struct ctx    { void *workspace; void *parallel_for; void *parallel_state; struct error *error; void *stream; };
    struct tensor { void *data; const int64_t *shape; };                    dense, row-major, aligned to the element

    int32_t OP.kernel(struct ctx *, const struct tensor *inputs, struct tensor *outputs);  0, or the code of the failure
    int64_t OP.kernel.workspace(const int64_t *sizes);  bytes for intermediates, aligned to 64; -1 if too many

`sizes` are the op's dimensions in order; inputs and outputs are in the order of their declaration. Inputs may overlap
each other; an output overlaps nothing. A kernel keeps no state, allocates nothing, and stays inside its tensors.
Inside, the work is in one function whose pointers are `noalias`, which is how LLVM comes to know all that.
"""

from __future__ import annotations

from dataclasses import dataclass

from tdl.compiler.backends.llvm.block import SCALAR, Block, plain_name
from tdl.compiler.backends.llvm.context import Buffer, Context, Site
from tdl.compiler.backends.llvm.expression import lower_expr
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.sizes import solve_sizes
from tdl.compiler.backends.llvm.statement import Statements
from tdl.compiler.backends.llvm.support import support_for
from tdl.compiler.kernel.tree import Nest
from tdl.language.forms import Symbol
from tdl.language.source import NOWHERE
from tdl.language.tree import Program, Tensor

ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class KernelText:
    """LLVM text with two functions to export, and the places that failures' numbers stand for."""

    ir: str
    name: str
    workspace: str
    sites: tuple[Site, ...]


def kernel_text(nest: Nest, *, machine_f16: bool) -> KernelText:
    """The kernel of a nest. `machine_f16` says that the target converts f16 by instructions."""
    program = nest.program
    name = f"{plain_name(program.name)}.kernel"  # with a dot, so that it is no function of C
    body, sites = _body(nest, f"{name}.body")
    text = "\n".join((body, _entry(program, name), _workspace(program, f"{name}.workspace")))
    return KernelText(support_for(text, machine_f16) + text, name, f"{name}.workspace", sites)


def _body(nest: Nest, name: str) -> tuple[str, tuple[Site, ...]]:
    """The function that does the work."""
    program = nest.program
    block = Block()
    symbols = {dim: _size_name(dim) for dim in program.dims}
    context = Context(block, {}, symbols, program.parameters)
    context.buffers = {name: _buffer(context, tensor) for name, tensor in program.tensors.items()}
    Statements(context).body(nest.body)
    block.do("ret i32 0")
    head = f"define internal i32 @{name}({_parameters(program)}) noinline nounwind {{"
    metadata = [SCALAR, *block.metadata] if block.metadata else []
    return "\n".join((head, "entry:", *block.slots, *block.lines, "}\n", *metadata)), tuple(context.sites)


def _parameters(program: Program) -> str:
    pointers = [
        f"ptr noalias {'readonly ' if tensor.role == 'input' else ''}align {_alignment(tensor)} {_data_name(tensor)}"
        for tensor in program.tensors.values()
    ]
    return ", ".join(["ptr noalias %error", *pointers, *(f"i64 {_size_name(dim)}" for dim in program.dims)])


def _buffer(context: Context, tensor: Tensor) -> Buffer:
    extents = [_extent(context, tensor, axis) for axis in range(len(tensor.shape))]
    strides = ["1"] if extents else []
    for extent in reversed(extents[1:]):
        strides.insert(0, extent if strides[0] == "1" else context.block.value(f"mul nsw i64 {extent}, {strides[0]}"))
    return Buffer(_data_name(tensor), concrete(tensor.dtype), tuple(extents), tuple(strides))


def _extent(context: Context, tensor: Tensor, axis: int) -> str:
    """A size; never negative, whatever an inferred shape says of an empty range."""
    value = form_value(context, tensor.shape[axis], lower_expr, Site(NOWHERE))
    if tensor.role == "input" or not value.startswith("%") or tensor.shape[axis].symbol in context.symbols:
        return value
    return context.block.value(f"call i64 @llvm.smax.i64(i64 {value}, i64 0)")


def _entry(program: Program, name: str) -> str:
    """The exported function: unpacks tensors and sizes."""
    block = Block()
    context = Context(block, {}, {}, program.parameters, on_failure="ret i32 2")
    error = block.value(f"load ptr, ptr {_at(block, '%ctx', 24)}")
    data: dict[str, str] = {}
    shapes: dict[str, str] = {}
    for table, names in (("%inputs", program.inputs), ("%outputs", program.outputs)):
        for position, tensor in enumerate(names):
            data[tensor] = block.value(f"load ptr, ptr {_at(block, table, 16 * position)}")
            if table == "%inputs":
                shapes[tensor] = block.value(f"load ptr, ptr {_at(block, table, 16 * position + 8)}")
    for solution in solve_sizes(program):
        size = block.value(f"load i64, ptr {_at(block, shapes[solution.tensor], 8 * solution.axis)}")
        rest = form_value(context, solution.rest, lower_expr, Site(NOWHERE))
        size = size if rest == "0" else block.value(f"sub i64 {size}, {rest}")
        context.symbols[solution.dim] = (
            size if solution.factor == 1 else block.value(f"sdiv i64 {size}, {solution.factor}")
        )
    workspace = block.value("load ptr, ptr %ctx")
    offsets, _ = _offsets(context, program)
    for tensor, offset in offsets.items():
        data[tensor] = block.value(f"getelementptr i8, ptr {workspace}, i64 {offset}")
    args = ["ptr " + error, *(f"ptr {data[tensor]}" for tensor in program.tensors)]
    args += [f"i64 {context.symbols[dim]}" for dim in program.dims]
    code = block.value(f"call i32 @{name}.body({', '.join(args)})")
    block.do(f"ret i32 {code}")
    return "\n".join(
        (f"define i32 @{name}(ptr %ctx, ptr %inputs, ptr %outputs) nounwind {{", "entry:", *block.lines, "}\n")
    )


def _workspace(program: Program, name: str) -> str:
    block = Block()
    context = Context(block, {}, {}, program.parameters, on_failure="ret i64 -1")
    for position, dim in enumerate(program.dims):
        context.symbols[dim] = block.value(f"load i64, ptr {_at(block, '%sizes', 8 * position)}")
    _, (total, overflow) = _offsets(context, program)
    block.do(f"ret i64 {block.value(f'select i1 {overflow}, i64 -1, i64 {total}')}")
    return "\n".join((f"define i64 @{name}(ptr %sizes) nounwind {{", "entry:", *block.lines, "}\n"))


def _offsets(context: Context, program: Program) -> tuple[dict[str, str], tuple[str, str]]:
    """Where each intermediate starts in the workspace; the whole size, and whether its computation overflowed."""
    offsets: dict[str, str] = {}
    total, overflow = "0", "false"
    for tensor in program.tensors.values():
        if tensor.role == "intermediate":
            offsets[tensor.name] = total
            size, overflow = _bytes(context, tensor, overflow)
            total, overflow = _checked(context.block, "add", total, size, overflow)
    return offsets, (total, overflow)


def _bytes(context: Context, tensor: Tensor, overflow: str) -> tuple[str, str]:
    """The bytes of a tensor rounded up to the alignment."""
    size = str(concrete(tensor.dtype).bytes)
    for axis in range(len(tensor.shape)):
        size, overflow = _checked(context.block, "mul", size, _extent(context, tensor, axis), overflow)
    size, overflow = _checked(context.block, "add", size, str(ALIGNMENT - 1), overflow)
    return context.block.value(f"and i64 {size}, {-ALIGNMENT}"), overflow


def _checked(block: Block, operation: str, left: str, right: str, overflow: str) -> tuple[str, str]:
    pair = block.value(f"call {{ i64, i1 }} @llvm.s{operation}.with.overflow.i64(i64 {left}, i64 {right})")
    value = block.value(f"extractvalue {{ i64, i1 }} {pair}, 0")
    bit = block.value(f"extractvalue {{ i64, i1 }} {pair}, 1")
    return value, block.value(f"or i1 {overflow}, {bit}")


def _at(block: Block, pointer: str, offset: int) -> str:
    return block.value(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}") if offset else pointer


def _alignment(tensor: Tensor) -> int:
    return ALIGNMENT if tensor.role == "intermediate" else concrete(tensor.dtype).bytes


def _data_name(tensor: Tensor) -> str:
    return f"%data.{plain_name(tensor.name)}"


def _size_name(dim: Symbol) -> str:
    return f"%size.{plain_name(dim.name)}"
