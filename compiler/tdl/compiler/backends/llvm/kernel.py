"""A kernel to LLVM text.

The interface is C:

    struct error  { int32_t code; int64_t site; int64_t details[3]; };      code is claimed by an atomic exchange
    struct ctx    { void *workspace; void *parallel_for; void *parallel_state; struct error *error; void *stream; };
    struct tensor { void *data; const int64_t *shape; };                    dense, row-major, aligned to the element;
                                                  a packed one in its layout, aligned to 64, with the shape from before

    int32_t OP.kernel(struct ctx *, const struct tensor *inputs, struct tensor *outputs);  0, or the code of the failure
    int64_t OP.kernel.workspace(const int64_t *sizes, int64_t threads);  bytes, aligned to 64; -1 if too many

`sizes` are the op's dimensions in order; inputs and outputs are in the order of their declaration. Inputs may overlap
each other; an output overlaps nothing. A kernel keeps no state, allocates nothing, and stays inside its tensors.
`parallel_for` may be null: loops then run serially. It calls a task with numbers of threads below `threads`, each of
which has a part of the workspace of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tdl.compiler.backends.llvm.block import SCALAR, Block, plain_name
from tdl.compiler.backends.llvm.context import Buffer, Context, Site
from tdl.compiler.backends.llvm.debug import DebugLines
from tdl.compiler.backends.llvm.expression import lower_expr
from tdl.compiler.backends.llvm.integers import form_value
from tdl.compiler.backends.llvm.invoke import functions_of, intrinsics_of
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.sizes import open_dims, solve_sizes
from tdl.compiler.backends.llvm.streaming import Streaming, is_aligned, stored_plainly, streaming_of
from tdl.compiler.backends.llvm.support import support_for
from tdl.compiler.backends.llvm.target import FINAL, Target
from tdl.compiler.backends.llvm.tasks import ALWAYS, ERROR, Functions, Parameter, at
from tdl.compiler.backends.llvm.values import Value, integer, intrinsic, operate, select
from tdl.compiler.kernel import tree as nodes
from tdl.compiler.kernel.tree import Kernel
from tdl.compiler.kernel.workspace import ALIGNMENT
from tdl.compiler.lines import Lines
from tdl.language.forms import Form
from tdl.language.source import NOWHERE
from tdl.language.tree import Program


@dataclass(frozen=True, slots=True)
class KernelText:
    """LLVM text with two functions to export, and the places that failures' numbers stand for."""

    ir: str
    name: str
    workspace: str
    sites: tuple[Site, ...]


def kernel_text(kernel: Kernel, target: Target, lines: Lines | None = None, name: str | None = None) -> KernelText:
    """The text for a machine; with `lines`, instructions say which line they are for. `name` is by default the op's.

    Whether streamed results are aligned is seen at each call, for which there is code for both.
    """
    program = kernel.program
    name = f"{plain_name(name or program.name)}.kernel"  # with a dot, so that it is no function of C
    workspace = f"{name}.workspace"
    functions = Functions(stored_plainly(kernel), name)
    if lines is not None:
        functions.debug = DebugLines(lines, functions.metadata)
    _work(functions, f"{name}.body")
    streaming = streaming_of(kernel)
    if streaming is not None:
        fence = "call void @llvm.x86.sse.sfence()" if target.is_x86 else ""
        past = replace(functions, kernel=kernel, name=f"{name}.stream", multiples=streaming.multiples, fence=fence)
        _work(past, f"{name}.stream")
    parts = [*functions_of(intrinsics_of(kernel)), *functions.texts]
    parts += [_entry(kernel, name, streaming), _workspace(kernel, workspace)]
    if functions.debug is not None:
        parts += functions.debug.module()
    if functions.metadata:
        parts += [SCALAR, *functions.metadata]
    text = "\n".join(parts)
    head = FINAL if kernel.is_final else ""
    return KernelText(f"{head}{support_for(text, target.machine_f16)}{text}", name, workspace, tuple(functions.sites))


def _work(functions: Functions, name: str) -> None:
    """The function that does the work."""
    program = functions.kernel.program
    buffers = {buffer.name: _buffer(buffer, position) for position, buffer in enumerate(_shared(functions.kernel))}
    symbols = {dim: Value(f"%size.{plain_name(dim.name)}", "i64") for dim in open_dims(program)}
    declared = [Parameter("ctx", "ptr"), *ALWAYS]
    for buffer, made in zip(_shared(functions.kernel), buffers.values()):
        access = " readonly" if buffer.name in program.inputs else ""
        declared.append(Parameter(made.pointer[1:], "ptr", f" noalias{access} align {made.alignment}"))
    declared += [Parameter(value.text[1:], "i64") for value in symbols.values()]
    functions.body(name, declared, functions.context(buffers, symbols), functions.kernel.body)


def _shared(kernel: Kernel) -> list[nodes.Buffer]:
    """The buffers that all threads see."""
    return [buffer for buffer in kernel.buffers.values() if buffer.memory in ("global", "workspace")]


def _buffer(buffer: nodes.Buffer, position: int) -> Buffer:
    dtype = concrete(buffer.dtype)
    is_aligned = buffer.memory == "workspace" or buffer.is_streamed or buffer.is_packed
    alignment = ALIGNMENT if is_aligned else dtype.bytes
    pointer = f"%data.{position}.{plain_name(buffer.name)}"
    return Buffer(pointer, dtype, buffer.memory, alignment, buffer.is_streamed)


def _entry(kernel: Kernel, name: str, streaming: Streaming | None) -> str:
    """The exported function: unpacks tensors and sizes."""
    program, block = kernel.program, Block()
    context = Context(block, {}, {}, program.parameters, on_failure="ret i32 2")
    data: dict[str, str] = {}
    shapes: dict[str, str] = {}
    for table, names in (("%inputs", program.inputs), ("%outputs", program.outputs)):
        for position, tensor in enumerate(names):
            data[tensor] = block.value(f"load ptr, ptr {at(block, table, 16 * position)}")
            if table == "%inputs":
                shapes[tensor] = block.value(f"load ptr, ptr {at(block, table, 16 * position + 8)}")
    _solve(context, program, shapes)
    workspace = block.value("load ptr, ptr %ctx")
    offsets, (shared, _) = _offsets(context, kernel)
    for buffer, offset in offsets.items():
        data[buffer] = block.value(f"getelementptr i8, ptr {workspace}, {offset.typed}")
    arenas = block.value(f"getelementptr i8, ptr {workspace}, {shared.typed}")
    error = block.value(f"load ptr, ptr {at(block, '%ctx', ERROR)}")
    own = _form(context, kernel.arena)
    args = ["ptr %ctx", f"ptr {error}", f"ptr {arenas}", f"ptr {arenas}", own.typed]
    args += [f"ptr {data[buffer.name]}" for buffer in _shared(kernel)]
    args += [context.symbols[dim].typed for dim in open_dims(program)]
    if streaming is not None:
        past, plain = block.fresh("stream"), block.fresh("plain")
        block.branch(is_aligned(context, streaming, data).text, past, plain)
        block.label(past)
        code = block.value(f"call i32 @{name}.stream({', '.join(args)})")
        block.do(f"ret i32 {code}")
        block.label(plain)
    code = block.value(f"call i32 @{name}.body({', '.join(args)})")
    block.do(f"ret i32 {code}")
    return "\n".join(
        (f"define i32 @{name}(ptr %ctx, ptr %inputs, ptr %outputs) nounwind {{", "entry:", *block.lines, "}\n")
    )


def _solve(context: Context, program: Program, shapes: dict[str, str]) -> None:
    """The sizes from the inputs' shapes."""
    block = context.block
    for solution in solve_sizes(program):
        size = Value(block.value(f"load i64, ptr {at(block, shapes[solution.tensor], 8 * solution.axis)}"), "i64")
        rest = _form(context, solution.rest)
        size = size if rest.text == "0" else operate(block, "sub", size, rest)
        factor = integer(solution.factor)
        context.symbols[solution.dim] = size if solution.factor == 1 else operate(block, "sdiv", size, factor)


def _form(context: Context, form: Form) -> Value:
    return form_value(context, form, lower_expr, Site(NOWHERE))


# ---- the workspace


def _workspace(kernel: Kernel, name: str) -> str:
    """The exported function: what all threads share, then a part for each thread."""
    program, block = kernel.program, Block()
    context = Context(block, {}, {}, program.parameters, on_failure="ret i64 -1")
    known = open_dims(program)
    for position, dim in enumerate(program.dims):
        if dim in known:
            context.symbols[dim] = Value(block.value(f"load i64, ptr {at(block, '%sizes', 8 * position)}"), "i64")
    _, (total, overflow) = _offsets(context, kernel)
    own, overflow = _checked(block, "mul", _form(context, kernel.arena), Value("%threads", "i64"), overflow)
    total, overflow = _checked(block, "add", total, own, overflow)
    block.do(f"ret i64 {select(block, overflow, integer(-1), total).text}")
    return "\n".join((f"define i64 @{name}(ptr %sizes, i64 %threads) nounwind {{", "entry:", *block.lines, "}\n"))


def _offsets(context: Context, kernel: Kernel) -> tuple[dict[str, Value], tuple[Value, Value]]:
    """Where each shared buffer starts in the workspace; their whole size, and whether its computation overflowed."""
    offsets: dict[str, Value] = {}
    total, overflow = integer(0), Value("false", "i1")
    for buffer in _shared(kernel):
        if buffer.memory == "workspace":
            offsets[buffer.name] = total
            size, overflow = _bytes(context, buffer, overflow)
            total, overflow = _checked(context.block, "add", total, size, overflow)
    return offsets, (total, overflow)


def _bytes(context: Context, buffer: nodes.Buffer, overflow: Value) -> tuple[Value, Value]:
    """The bytes of a buffer rounded up to the alignment."""
    size = integer(concrete(buffer.dtype).bytes)
    for factor in buffer.factors:
        value = intrinsic(context.block, "smax", _form(context, factor), integer(0))
        size, overflow = _checked(context.block, "mul", size, value, overflow)
    size, overflow = _checked(context.block, "add", size, integer(ALIGNMENT - 1), overflow)
    return operate(context.block, "and", size, integer(-ALIGNMENT)), overflow


def _checked(block: Block, operation: str, left: Value, right: Value, overflow: Value) -> tuple[Value, Value]:
    name = f"llvm.s{operation}.with.overflow.i64"
    pair = block.value(f"call {{ i64, i1 }} @{name}({left.typed}, {right.typed})")
    value = Value(block.value(f"extractvalue {{ i64, i1 }} {pair}, 0"), "i64")
    bit = Value(block.value(f"extractvalue {{ i64, i1 }} {pair}, 1"), "i1")
    return value, operate(block, "or", overflow, bit)
