"""A kernel to C: a function of its sizes and its tensors, and one that says how much memory it needs besides.

    static void OP(tdl_run *run, int64_t M, ..., const float *X, ..., float *Y)
    static int64_t OP_workspace(int64_t M, ..., int64_t threads)        bytes; more than any machine has if too many

Sizes are the op's open dimensions in order; inputs and outputs are in the order of their declaration, dense, row-major,
aligned to their elements; packed ones in their layout. Inputs may overlap each other; an output overlaps nothing. What
fails is in the run's record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tdl.compiler.backends.c.block import Block, plain_name
from tdl.compiler.backends.c.context import Array, Code, Unit
from tdl.compiler.backends.c.expression import lower_expr
from tdl.compiler.backends.c.integers import form_value
from tdl.compiler.backends.c.statement import Statements
from tdl.compiler.backends.c.tasks import parallel
from tdl.compiler.backends.c.values import Value, call, memory_type, size
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.sizes import open_dims
from tdl.compiler.kernel.tree import Buffer, Kernel
from tdl.language.forms import Form
from tdl.language.source import NOWHERE


@dataclass(frozen=True, slots=True)
class KernelNames:
    """The functions of a kernel."""

    run: str
    workspace: str


def write_kernel(unit: Unit, kernel: Kernel, name: str, *, linkage: str = "static ") -> KernelNames:
    """Add a kernel's functions to a file."""
    name = unit.unique(plain_name(name))
    workspace = _workspace(unit, kernel, unit.unique(f"{name}_workspace"), linkage)
    program, code = kernel.program, Code(unit, kernel, name, "")
    declared = ["tdl_run *run"]
    for dim in open_dims(program):
        code.symbols[dim] = Value(code.block.fresh(dim.name))
        declared.append(f"int64_t {code.symbols[dim].text}")
    for tensor in (*program.inputs, *program.outputs):
        const = "const " if tensor in program.inputs else ""
        dtype = concrete(program.tensors[tensor].dtype)
        type_ = f"{const}{memory_type(dtype)} *"
        code.arrays[tensor] = Array(code.block.fresh(tensor), dtype, type_)
        declared.append(f"{type_}restrict {code.arrays[tensor].name}")
    for buffer in _shared(kernel):
        dtype = concrete(buffer.dtype)
        code.arrays[buffer.name] = Array(code.block.fresh(buffer.name), dtype, f"{memory_type(dtype)} *")
    Statements(parallel).body(code, kernel.body)
    body, code.block.lines = code.block.lines, []
    _places(code, kernel)
    head = Block(taken=code.block.names())
    for symbol in open_dims(program):
        _unused(head, code, code.symbols[symbol].text)
    for tensor in (*program.inputs, *program.outputs):
        _unused(head, code, code.arrays[tensor].name)
    _unused(head, code, "run")
    unit.function(f"{linkage}void {name}({', '.join(declared)})", [*head.lines, *code.block.lines, *body])
    return KernelNames(name, workspace)


def _unused(block: Block, code: Code, name: str) -> None:
    if name not in code.used:
        block.put(f"(void){name};")


def _shared(kernel: Kernel) -> Iterator[Buffer]:
    """The buffers of the workspace that all threads see."""
    return (buffer for buffer in kernel.buffers.values() if buffer.memory == "workspace")


def _places(code: Code, kernel: Kernel) -> None:
    """Declare what is used of the workspace: buffers that all threads see, then each thread's own memory."""
    at, waiting = size(0), {code.arrays[buffer.name].name for buffer in _shared(kernel)} & code.used
    needs_own = bool(code.used & {"arena", "arenas"})
    for buffer in _shared(kernel):
        if not waiting and not needs_own:
            return
        name, type_ = code.arrays[buffer.name].name, code.arrays[buffer.name].type_
        if name in waiting:
            code.used.add("run")
            place = _sum("run->workspace", at)
            code.block.put(f"{type_}const {name} = ({type_})(void *)({place});  /* {buffer.name} */")
            waiting.remove(name)
        if waiting or needs_own:
            at = _moved(code, at, _bytes(code, buffer))
    if needs_own:
        code.used.add("run")
        code.block.put(f"unsigned char *const arenas = {_sum('run->workspace', at)};")
    if "arena" in code.used:
        code.block.put("unsigned char *const arena = arenas;")
    if "arena_bytes" in code.used:
        own = form_value(code, kernel.arena, lower_expr, Site(NOWHERE))
        code.block.put(f"const int64_t arena_bytes = {own.text};")


def _sum(base: str, at: Value) -> str:
    return base if at.text == "0" else f"{base} + {at.text}"


def _moved(code: Code, at: Value, by: Value) -> Value:
    return by if at.text == "0" else call(code.unit.helper("tdl_size_add"), at, by)


def _bytes(code: Code, buffer: Buffer) -> Value:
    """The bytes of a buffer rounded up to the alignment."""
    total = size(concrete(buffer.dtype).bytes)
    for factor in buffer.factors:
        total = call(code.unit.helper("tdl_size_mul"), total, _form(code, factor))
    return call(code.unit.helper("tdl_size_align"), total)


def _form(code: Code, form: Form) -> Value:
    return form_value(code, form, lower_expr, Site(NOWHERE))


def _workspace(unit: Unit, kernel: Kernel, name: str, linkage: str) -> str:
    """The function that says how much memory a call needs: what all threads share, then a part for each thread."""
    code = Code(unit, kernel, name, " INT64_MAX")
    declared = []
    for dim in open_dims(kernel.program):
        code.symbols[dim] = Value(code.block.fresh(dim.name))
        declared.append(f"int64_t {code.symbols[dim].text}")
    total = size(0)
    for buffer in _shared(kernel):
        total = _moved(code, total, _bytes(code, buffer))
    if kernel.arena.terms or kernel.arena.constant:
        own = call(unit.helper("tdl_size_mul"), _form(code, kernel.arena), Value("threads"))
        code.used.add("threads")
        total = _moved(code, total, own)
    block = Block()
    for each in (*(code.symbols[dim].text for dim in open_dims(kernel.program)), "threads"):
        _unused(block, code, each)
    lines = [*block.lines, *code.block.lines]
    code.block.lines = []
    code.block.put(f"return {total.text};")
    unit.function(f"{linkage}int64_t {name}({', '.join([*declared, 'int64_t threads'])})", [*lines, *code.block.lines])
    return name
