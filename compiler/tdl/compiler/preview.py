"""An op at each stage on its way to code, as text: what `tdlc show` prints and an editor shows beside the source.

nest    the named loops, each line linked to its definition (`nest_view`)
llvm    the LLVM text as LLVM's own passes leave it; `llvm-made` as it is made
asm     the machine code for this CPU
"""

from __future__ import annotations

from typing import Literal, get_args

from tdl.compiler.kernel.default import default_nest
from tdl.compiler.kernel.printer import NestLine, nest_lines, print_nest
from tdl.compiler.kernel.tree import Nest
from tdl.compiler.kernel.verify import verify_nest
from tdl.language.tree import Program

Stage = Literal["nest", "llvm", "llvm-made", "asm"]
STAGES: tuple[Stage, ...] = get_args(Stage)


def render_stage(program: Program, at: Stage) -> str:
    """The program at a stage. Beyond the nest, its compile-time parameters must have values."""
    nest = verify_nest(default_nest(program))
    if at == "nest":
        return print_nest(nest)
    made = _llvm(nest)
    if at == "llvm-made":
        return made
    from tdl.compiler.backends.llvm.target import host, machine, optimise, parse

    target_machine = machine(host())
    module = optimise(parse(made, target_machine), target_machine)
    if at == "llvm":
        return str(module)
    target_machine.set_asm_verbosity(True)
    text: str = target_machine.emit_assembly(module)
    return text


def nest_view(program: Program) -> tuple[NestLine, ...]:
    """The nest line by line, each with the definition and the text it came from."""
    return nest_lines(verify_nest(default_nest(program)))


def _llvm(nest: Nest) -> str:
    from tdl.compiler.backends.llvm.kernel import kernel_text
    from tdl.compiler.backends.llvm.target import host

    return kernel_text(nest, machine_f16=host().machine_f16).ir
