"""The C interface of a library, whoever makes its code: names, types, codes, and the header that says so.

int32_t dense_relu(int64_t M, int64_t K, const float *X, float *Y); sizes, inputs, outputs
int32_t dense_relu_run(dense_run *run, int64_t M, ...);             the same with the caller's memory and threads
int64_t dense_relu_workspace(int64_t M, int64_t K, int32_t threads); the bytes that this needs
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from tdl.compiler.backends.c.block import Block, plain_name
from tdl.compiler.backends.c.values import memory_type
from tdl.compiler.backends.llvm.context import Code as Failure
from tdl.compiler.backends.llvm.sizes import open_dims
from tdl.compiler.library.plan import Function, Library
from tdl.language import syntax
from tdl.language.tree import Tensor


class Code(IntEnum):
    """What functions of a library return."""

    OK = 0
    OUT_OF_BOUNDS = int(Failure.OUT_OF_BOUNDS)
    DIVISION_BY_ZERO = int(Failure.DIVISION_BY_ZERO)
    BAD_SIZES = 3
    BAD_BUFFER = 4
    NO_MEMORY = 5


MEANINGS = {
    Code.OK: "all is well",
    Code.OUT_OF_BOUNDS: "an index that was read from data is out of bounds",
    Code.DIVISION_BY_ZERO: "an integer is divided by zero",
    Code.BAD_SIZES: "the sizes are not what the op takes",
    Code.BAD_BUFFER: "a buffer is NULL, or not aligned to its elements",
    Code.NO_MEMORY: "there is not enough memory",
}


class Names:
    """The names of a library in C."""

    def __init__(self, library: Library) -> None:
        self.prefix = plain_name(library.name)
        self.macro = self.prefix.upper()

    def function(self, function: Function) -> str:
        return f"{self.prefix}_{plain_name(function.name)}"

    def code(self, code: Code) -> str:
        return f"{self.macro}_{code.name}"

    def public(self, library: Library, *, has_threads: bool) -> list[str]:
        """Everything that can be called."""
        found = [f"{self.prefix}_{name}" for name in ("message", "place", "use_threads")]
        found += [f"{self.prefix}_set_threads"] if has_threads else []
        for function in library.functions:
            name = self.function(function)
            found += [name, f"{name}_run", f"{name}_workspace"]
        return found


def arguments(function: Function) -> tuple[list[str], list[str]]:
    """The names of a function's sizes and of its buffers, inputs before outputs."""
    block, program = Block(), function.program
    sizes = [block.fresh(dim.name) for dim in open_dims(program)]
    return sizes, [block.fresh(tensor) for tensor in (*program.inputs, *program.outputs)]


def parameters(function: Function) -> list[str]:
    """A function's parameters as C declares them."""
    sizes, buffers = arguments(function)
    program = function.program
    declared = [f"int64_t {name}" for name in sizes]
    for tensor, name in zip((*program.inputs, *program.outputs), buffers):
        const = "const " if tensor in program.inputs else ""
        declared.append(f"{const}{memory_type(program.tensors[tensor].dtype)} *{name}")
    return declared


PARALLEL_FOR = (
    "void (*parallel_for)(\n        void *state, void (*task)(void *closure, int64_t index, int32_t thread), "
    "void *closure, int64_t count)"
)


def header_text(library: Library, *, has_threads: bool) -> str:
    """The header of a library; `has_threads`: it has threads of its own."""
    names = Names(library)
    guard = f"{names.macro}_H"
    parts = [f"/* {library.name}: tensor operations compiled by tdlc.", " *", _about(has_threads), " */"]
    parts += [f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", ""]
    parts += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    parts += ["enum {", *_codes(names), "};", ""]
    parts += [_types(names), _settings(names, has_threads=has_threads)]
    for function in library.functions:
        parts += ["", *_declarations(function, names)]
    parts += ["", "#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""]
    return "\n".join(parts)


def _about(has_threads: bool) -> str:
    threads = (
        "The compiled library runs parallel loops on threads of its own, which start when they are first needed;\n"
        " * built from C it runs them on the calling thread"
        if has_threads
        else "Parallel loops run on the calling thread"
    )
    return f"""\
 * Arguments are sizes, then inputs, then outputs. A tensor is a pointer to its first element: elements follow
 * each other without gaps, the last index moving fastest (row-major), aligned to the size of one. f16 and bf16
 * are their bits in a uint16_t; bool is a uint8_t, 0 for false. A tensor without dimensions is one element.
 * Inputs may overlap each other; an output overlaps nothing. A tensor with no elements may be NULL.
 *
 * Functions return 0, or a code below; outputs are then unspecified. They may be called from several threads at once.
 * {threads}. A call of ..._run brings its own."""


def _codes(names: Names) -> Iterator[str]:
    for code in Code:
        yield f"    {names.code(code)} = {int(code)}, /* {MEANINGS[code]} */"


def _types(names: Names) -> str:
    return f"""/* What failed. `details` of an index out of bounds are the dimension, the index and the size. */
typedef struct {names.prefix}_error {{
    int32_t code;
    int64_t site; /* for {names.prefix}_place */
    int64_t details[3];
}} {names.prefix}_error;

/* A call with memory and threads of the caller's. */
typedef struct {names.prefix}_run {{
    void *workspace; /* as many bytes as the function's _workspace says, aligned to 64; NULL for none */
    /* Calls the task once for each index in 0..count, with numbers of threads below those that the workspace is for, no
       two at once with the same; returns when all are done. NULL: one after the other. */
    {PARALLEL_FOR};
    void *state;
    int64_t threads; /* for {names.prefix}_use_threads */
    {names.prefix}_error error;
}} {names.prefix}_run;
"""


def _settings(names: Names, *, has_threads: bool) -> str:
    prefix = names.prefix
    own = (
        f"""
/* On how many threads calls run that give none of their own: at first the number of processors, or TDL_NUM_THREADS. */
void {prefix}_set_threads(int32_t threads);

"""
        if has_threads
        else ""
    )
    return f"""/* What a code means, in words. */
const char *{prefix}_message(int32_t code);

/* The place in the program that failed, as "file.tdl:12: X[I[i]]"; "" if it is not known. */
const char *{prefix}_place(const {prefix}_error *error);
{own}
/* Gives a run the library's own threads, and tells how many: a workspace is needed for so many. */
int32_t {prefix}_use_threads({prefix}_run *run);
"""


def _declarations(function: Function, names: Names) -> Iterator[str]:
    name, declared = names.function(function), ", ".join(parameters(function))
    sizes = "".join(f"int64_t {size}, " for size in arguments(function)[0])
    yield from _comment(function)
    yield f"int32_t {name}({declared});"
    yield f"int32_t {name}_run(\n    {', '.join([f'{names.prefix}_run *run', *parameters(function)])});"
    yield f"int64_t {name}_workspace({sizes}int32_t threads); /* -1: bad sizes, or too large */"


def documentation(function: Function) -> list[str]:
    """What a function does, and what it takes and gives, in lines."""
    program = function.program
    op, item = function.op, function.op.item
    assert isinstance(item, syntax.Op)
    lines = [*(item.doc or "").splitlines(), f"op {op.name}"]
    values = [f"{name} = {value}" for name, value in program.parameters.items()]
    if values:
        lines[-1] += f", {', '.join(values)}"
    lines += [f"  {tensor}: {_declared(program.tensors[tensor])}" for tensor in program.inputs]
    lines += [f"  {tensor}: {_declared(program.tensors[tensor])}, written" for tensor in program.outputs]
    lines += [f"  requires {' '.join(op.text[fact.span.start : fact.span.end].split())}" for fact in item.facts]
    if not function.is_complete:
        every = (variant.sizes for variant in function.variants if variant.sizes is not None)
        lines += [f"  only for {', '.join(f'{dim} = {size}' for dim, size in sizes.items())}" for sizes in every]
    return lines


def _comment(function: Function) -> Iterator[str]:
    safe = [line.replace("*/", "* /") for line in documentation(function)]
    yield f"/* {safe[0]}"
    yield from (f" * {line}".rstrip() for line in safe[1:])
    yield " */"


def _declared(tensor: Tensor) -> str:
    return f"{tensor.dtype}[{', '.join(map(str, tensor.shape))}]" if tensor.shape else str(tensor.dtype)
