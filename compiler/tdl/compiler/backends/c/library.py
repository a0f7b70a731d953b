"""A library in C: the kernels of its functions, and the interface of `library/interface.py` around them.

int32_t dense_relu(...)             memory from malloc, then
int32_t dense_relu_run(run, ...)    what can be wrong with the arguments, then the first kernel that serves them
"""

from __future__ import annotations

from collections.abc import Iterator

from tdl.compiler.backends.c.block import Line
from tdl.compiler.backends.c.context import Code, Unit
from tdl.compiler.backends.c.expression import lower_expr
from tdl.compiler.backends.c.file import file_lines
from tdl.compiler.backends.c.integers import form_value
from tdl.compiler.backends.c.kernel import KernelNames, write_kernel
from tdl.compiler.backends.c.values import AND as BOTH
from tdl.compiler.backends.c.values import Value, call, negated, operation, size
from tdl.compiler.backends.llvm.context import Site
from tdl.compiler.backends.llvm.scalars import concrete
from tdl.compiler.backends.llvm.sizes import open_dims
from tdl.compiler.kernel.tree import Origin
from tdl.compiler.library import interface
from tdl.compiler.library.interface import MEANINGS, Names, arguments, parameters
from tdl.compiler.library.plan import Function, Library, Variant, site_text
from tdl.language.scope import Declaration
from tdl.language.source import NOWHERE
from tdl.language.tree import Tensor


def library_text(library: Library, *, has_threads: bool = False) -> str:
    """The one file of C that a library is, to be compiled with its header beside it.

    `has_threads`: the header speaks of threads, of which C has those only that it is given.
    """
    names, unit = Names(library), Unit()
    for function in library.functions:
        unit.owner, name = function.op, names.function(function)
        kernels = [write_kernel(unit, each.kernel, f"{name}_kernel") for each in function.variants]
        _Writer(unit, names, function, kernels).write()
    lines = file_lines(unit, _head(library, names))
    settings = (_USE_THREADS + (_SET_THREADS if has_threads else "")).replace("$prefix", names.prefix)
    return "".join(f"{line.text}\n" for line in lines) + settings + _common(unit, names)


_USE_THREADS = """int32_t $prefix_use_threads($prefix_run *run) {
    run->parallel_for = NULL;
    return 1;
}

"""
_SET_THREADS = """/* This file has no threads of its own; calls of _run may bring some. */
void $prefix_set_threads(int32_t threads) {
    (void)threads;
}

"""


def _head(library: Library, names: Names) -> str:
    return f"""/* {library.name}: made by tdlc; {names.prefix}.h says how it is called.
 *
 * C11. It needs math.h and, for functions that are given no workspace, malloc: with TDL_NO_MALLOC defined these give up
 * where they would need memory. Compile it with floating point as the standard has it: no -ffast-math. */
#include "{names.prefix}.h"

#if !defined(TDL_NO_MALLOC)
#include <stdlib.h>
#endif
"""


class _Writer:
    """Writes the interface of one function."""

    def __init__(self, unit: Unit, names: Names, function: Function, kernels: list[KernelNames]) -> None:
        self.unit, self.names, self.function, self.kernels = unit, names, function, kernels
        self.name = names.function(function)
        self.program = function.program
        self.sizes, self.buffers = arguments(function)
        self.declared = [f"int64_t {each}" for each in self.sizes]

    def write(self) -> None:
        self.check()
        if len(self.kernels) > 1 or not self.function.is_complete:
            self.choose()
        self.workspace()
        self.run()
        self.call()

    def code(self, returns: str) -> Code:
        """A function that knows the sizes."""
        code = Code(self.unit, self.function.variants[0].kernel, self.name, returns)
        for dim, name in zip(open_dims(self.program), self.sizes):
            code.symbols[dim] = Value(code.block.fresh(name))
        return code

    def unused(self, code: Code) -> list[Line]:
        """Lines that say of the sizes that are not used that they are not."""
        return [Line(f"    (void){name};", Origin()) for name in self.sizes if name not in code.used]

    def signature(self, declared: list[str]) -> str:
        return ", ".join(declared) or "void"

    def check(self) -> None:
        """Whether the op takes sizes: its facts, and tensors that memory could hold."""
        code = self.code(" false")
        for fact in self.program.facts:
            condition = negated(lower_expr(code, fact))
            code.block.put(f"if ({condition.text}) {{")
            code.block.put("    return false;")
            code.block.put("}")
        for tensor in (*self.program.inputs, *self.program.outputs):
            bytes_ = self._bytes(code, self.program.tensors[tensor])
            code.block.put(f"if ({bytes_.text} == INT64_MAX) {{  /* {tensor} */")
            code.block.put("    return false;")
            code.block.put("}")
        code.block.put("return true;")
        self.unit.function(
            f"static bool {self.name}_takes({self.signature(self.declared)})", [*self.unused(code), *code.block.lines]
        )

    def _bytes(self, code: Code, tensor: Tensor) -> Value:
        """The bytes of a tensor; INT64_MAX where there are too many."""
        total = size(concrete(tensor.dtype).bytes)
        for form in tensor.shape:
            factor = form_value(code, form, lower_expr, Site(NOWHERE))
            total = call(self.unit.helper("tdl_size_mul"), total, factor)
        return total

    def choose(self) -> None:
        """The number of the kernel that serves; -1 for none."""
        code = self.code(" -1")
        for number, variant in enumerate(self.function.variants):
            condition = self._condition(code, variant)
            if condition is None:
                code.block.put(f"return {number};  /* {variant.origin} */")
                break
            code.block.put(f"if ({condition.text}) {{  /* {variant.origin} */")
            code.block.put(f"    return {number};")
            code.block.put("}")
        else:
            code.block.put("return -1;")
        self.unit.function(
            f"static int {self.name}_choice({self.signature(self.declared)})", [*self.unused(code), *code.block.lines]
        )

    def _condition(self, code: Code, variant: Variant) -> Value | None:
        if variant.sizes is not None:
            tests = [Value(f"{code.symbol(dim).text} == {variant.sizes[dim]}", BOTH) for dim in open_dims(self.program)]
            whole = tests[0] if tests else None
            for test in tests[1:]:
                assert whole is not None
                whole = operation(whole, "&&", test, BOTH)
            return whole
        return None if variant.condition is None else lower_expr(code, variant.condition)

    def _own(self, variant: Variant) -> list[str]:
        """The sizes that a kernel takes."""
        names = dict(zip(open_dims(self.program), self.sizes))
        return [names[dim] for dim in open_dims(variant.kernel.program)]

    def workspace(self) -> None:
        code = self.code(" -1")
        block, all_ = code.block, ", ".join(self.sizes)
        block.put(f"if (threads < 1 || !{self.name}_takes({all_})) {{")
        block.put("    return -1;")
        block.put("}")
        block.put("int64_t bytes = INT64_MAX;")
        self._switch(
            code,
            [
                f"bytes = {kernel.workspace}({', '.join([*self._own(variant), 'threads'])});"
                for variant, kernel in zip(self.function.variants, self.kernels)
            ],
            "break;",
        )
        block.put("return bytes == INT64_MAX ? -1 : bytes;")
        head = f"int64_t {self.name}_workspace({', '.join([*self.declared, 'int32_t threads'])})"
        self.unit.function(head, block.lines)

    def _switch(self, code: Code, statements: list[str], default: str) -> None:
        block = code.block
        if len(statements) == 1 and self.function.is_complete:
            block.put(statements[0])
            return
        block.put(f"switch ({self.name}_choice({', '.join(self.sizes)})) {{")
        for number, statement in enumerate(statements):
            block.put(f"case {number}:")
            block.put(f"    {statement}")
            block.put("    break;")
        block.put("default:")
        block.put(f"    {default}")
        block.put("}")

    def run(self) -> None:
        code = self.code("")
        block, bad = code.block, self.names.code(interface.Code.BAD_SIZES)
        sizes = ", ".join(self.sizes)
        tests = [f"!{self.name}_takes({sizes})"]
        if not self.function.is_complete:
            tests.append(f"{self.name}_choice({sizes}) < 0")
        block.put(f"if ({' || '.join(tests)}) {{")
        block.put(f"    return run->error.code = {bad};")
        block.put("}")
        for tensor, name in zip((*self.program.inputs, *self.program.outputs), self.buffers):
            self._buffer(code, self.program.tensors[tensor], name)
        block.put(
            "tdl_run inner = {.workspace = run->workspace, .parallel_for = run->parallel_for, .state = run->state};"
        )
        statements = []
        for variant, kernel in zip(self.function.variants, self.kernels):
            given = ", ".join(["&inner", *self._own(variant), *self.buffers])
            statements.append(f"{kernel.run}({given});")
        self._switch(code, statements, "break;")
        block.put(
            f"return {self.unit.helper('tdl_end')}(&inner, &run->error.code, &run->error.site, run->error.details);"
        )
        head = f"int32_t {self.name}_run({', '.join([f'{self.names.prefix}_run *run', *parameters(self.function)])})"
        self.unit.function(head, block.lines)

    def _buffer(self, code: Code, tensor: Tensor, name: str) -> None:
        align = concrete(tensor.dtype).bytes
        test = call(self.unit.helper("tdl_is_bad_buffer"), Value(name), self._bytes(code, tensor), Value(f"{align}u"))
        code.block.put(f"if ({test.text}) {{")
        code.block.put(f"    return run->error.code = {self.names.code(interface.Code.BAD_BUFFER)};")
        code.block.put("}")

    def call(self) -> None:
        code, prefix = self.code(""), self.names.prefix
        block, sizes = code.block, ", ".join([*self.sizes, "1"])
        block.put(f"{prefix}_run run = {{.workspace = NULL}};")
        block.put(f"const int64_t bytes = {self.name}_workspace({sizes});")
        block.put("if (bytes < 0) {")
        taken = f"{self.name}_takes({', '.join(self.sizes)})"
        if not self.function.is_complete:
            taken += f" && {self.name}_choice({', '.join(self.sizes)}) >= 0"
        none, bad = (self.names.code(each) for each in (interface.Code.NO_MEMORY, interface.Code.BAD_SIZES))
        block.put(f"    return {taken} ? {none} : {bad};")
        block.put("}")
        block.put(f"void *const memory = bytes == 0 ? NULL : {self.unit.helper('tdl_allocate')}(bytes);")
        block.put("if (bytes != 0 && memory == NULL) {")
        block.put(f"    return {none};")
        block.put("}")
        block.put("run.workspace = tdl_aligned(memory);")
        given = ", ".join(["&run", *self.sizes, *self.buffers])
        block.put(f"const int32_t code = {self.name}_run({given});")
        block.put("tdl_free(memory);")
        block.put("return code;")
        self.unit.function(f"int32_t {self.name}({', '.join(parameters(self.function))})", block.lines)


def _common(unit: Unit, names: Names) -> str:
    """What a library has once: the meaning of codes, and the places of failures."""
    prefix = names.prefix
    meanings = "\n".join(
        f"    case {names.code(code)}:\n        return {_quoted(text)};" for code, text in MEANINGS.items()
    )
    return f"""const char *{prefix}_message(int32_t code) {{
    switch (code) {{
{meanings}
    default:
        return "there is no such code";
    }}
}}

const char *{prefix}_place(const {prefix}_error *error) {{
    static const char *const places[] = {{
{"".join(f"        {_quoted(place)}," + chr(10) for place in _places(unit))}        NULL,
    }};
    const int64_t last = (int64_t)(sizeof places / sizeof places[0]) - 1;
    const bool has_place = error->code == {names.code(interface.Code.OUT_OF_BOUNDS)}
        || error->code == {names.code(interface.Code.DIVISION_BY_ZERO)};
    return has_place && error->site >= 0 && error->site < last ? places[error->site] : "";
}}
"""


def _places(unit: Unit) -> Iterator[str]:
    for owner, site in unit.sites:
        assert isinstance(owner, Declaration)
        yield site_text(owner, site)


def _quoted(text: str) -> str:
    """A string of C: other than plain characters by their numbers, three digits each, so that none runs on."""
    kept = (chr(each) if 32 <= each < 127 and chr(each) not in '"\\?' else f"\\{each:03o}" for each in text.encode())
    return f'"{"".join(kept)}"'
