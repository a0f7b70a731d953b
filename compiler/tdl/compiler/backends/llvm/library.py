"""A library as one LLVM module: kernels for each level of the target, and the interface of `library/interface.py`.

    dense_relu          memory from malloc, the library's threads, then
    dense_relu_run      what can be wrong with the arguments, then the first kernel that serves them, at the level that
                        the processor has

Kernels are optimised one by one, each for its machine; only the interface's functions can be seen from outside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tdl.compiler.backends.llvm.bare import functions_text, is_bare, without_wide_products
from tdl.compiler.backends.llvm.interface import interface_text
from tdl.compiler.backends.llvm.kernel import KernelText, kernel_text
from tdl.compiler.backends.llvm.levels import LEVELS_TEXT
from tdl.compiler.backends.llvm.pool import has_threads, pool_text
from tdl.compiler.backends.llvm.target import FINAL, Target, binding, optimise, parse
from tdl.compiler.library.interface import Names
from tdl.compiler.library.plan import Library
from tdl.compiler.library.target import BuildTarget

_DEFINED = re.compile(r"^(define [^\n]*?)( \{)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kernels:
    """A variant of a function: its kernel at each level, in the levels' order."""

    levels: tuple[KernelText, ...]


@dataclass(frozen=True)
class Code:
    """A library's module, and the machine that code is made for."""

    module: Any
    machine: Any

    def llvm(self) -> str:
        return str(self.module)

    def assembly(self) -> str:
        self.machine.set_asm_verbosity(True)
        text: str = self.machine.emit_assembly(self.module)
        return text

    def object(self) -> bytes:
        code: bytes = self.machine.emit_object(self.module)
        return code


def library_code(library: Library, target: BuildTarget) -> Code:
    """The optimised module of a library."""
    names, base = Names(library), target.levels[0]
    kernels = {
        function.name: list(_kernels(library, number, target)) for number, function in enumerate(library.functions)
    }
    parts = [LEVELS_TEXT] if len(target.levels) > 1 else []
    text = interface_text(library, names, kernels, base.triple, is_leveled=len(target.levels) > 1)
    whole = _optimised("\n".join([*parts, text]), base)
    if has_threads(base.triple):
        whole.link_in(_optimised(pool_text(base.triple), base))
    for variants in kernels.values():
        for variant in variants:
            for level, kernel in zip(target.levels, variant.levels):
                whole.link_in(_optimised(kernel.ir, level))
    if base.triple.startswith(("arm", "thumb")):
        whole.link_in(_optimised(functions_text(), base))
    public = set(names.public(library, has_threads=has_threads(base.triple)))
    for each in whole.functions:
        if str(each.linkage) == "Linkage.external" and not each.is_declaration and each.name not in public:
            each.linkage = "internal"
    return Code(whole, _machine(base))


def _kernels(library: Library, number: int, target: BuildTarget) -> Iterator[Kernels]:
    function = library.functions[number]
    for variant, each in enumerate(function.variants):
        yield Kernels(
            tuple(
                kernel_text(each.kernel, level, name=f"{library.name}.{function.name}.{variant}.{place}")
                for place, level in enumerate(target.levels)
            )
        )


def _optimised(ir: str, target: Target) -> Any:
    """A module whose functions are marked with what they may use of the processor."""
    if is_bare(target.triple):
        ir = without_wide_products(ir)
    marks = [f'"target-cpu"="{target.cpu}"'] if target.cpu else []
    marks += [f'"target-features"="{target.features}"'] if target.features else []
    marked = _DEFINED.sub(rf"\1 {' '.join(marks)}\2", ir) if marks else ir
    machine = _machine(target)
    return optimise(parse(marked, machine), machine, is_final=ir.startswith(FINAL))


def _machine(target: Target) -> Any:
    """A machine that code for files is made for: at any address, linked by a linker."""
    llvm = binding()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=3,
        reloc="static" if is_bare(target.triple) else "pic",
        codemodel="default",
        jit=False,
        abiname="lp64d" if target.triple.startswith("riscv64") else "",
    )
