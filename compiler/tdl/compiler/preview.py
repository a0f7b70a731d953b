"""An op at each stage on its way to code, as text: what `tdlc show` prints and an editor shows beside the source.

nest    the named loops, each line linked to its definition (`nest_view`)
kernel  the loops as they are lowered, on flat buffers
c       the loops in C, with a function for each kernel
llvm    the LLVM text as LLVM's own passes leave it; `llvm-made` as it is made
asm     the machine code for this CPU, and what its hot loop is made of
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from tdl.compiler.kernel.printing import print_kernel
from tdl.compiler.kernel.tree import Kernel, Origin
from tdl.compiler.lines import Lines
from tdl.compiler.lower.pipeline import lower
from tdl.compiler.schedule.automatic import automatic_nest
from tdl.compiler.schedule.initial import with_initialisations
from tdl.compiler.schedule.printer import nest_lines
from tdl.compiler.schedule.tree import Nest
from tdl.language.source import NOWHERE
from tdl.language.tree import Program, Tensor

Stage = Literal["nest", "kernel", "c", "llvm", "llvm-made", "asm"]
STAGES: tuple[Stage, ...] = get_args(Stage)


Places = Callable[[Origin], str]


@dataclass(frozen=True, slots=True)
class NestLine:
    """One line of a printed nest; `origin` is None for the head, `loop` is a loop's name."""

    text: str
    origin: Origin | None = None
    loop: str | None = None


def render_stage(program: Program, at: Stage) -> str:
    """The program, run as nobody says how, at a stage."""
    return render_nest(automatic_nest(program), at)


def render_nest(nest: Nest, at: Stage, places: Places | None = None, lines: Lines | None = None) -> str:
    """A nest at a stage. Beyond the nest, its program's compile-time parameters must have values.

    With `places`, what it says of where a line came from stands before each line of a nest; with `lines`, code says it
    for debuggers.
    """
    if at == "nest":
        return _text(view(nest), places)
    kernel = lower(nest)
    if at == "kernel":
        return print_kernel(kernel)
    if at == "c":
        from tdl.compiler.backends.c.file import kernel_text

        return kernel_text(kernel)
    made = _llvm(kernel, lines)
    if at == "llvm-made":
        return made
    from tdl.compiler.backends.llvm.target import host, machine, optimise, parse

    target_machine = machine(host())
    module = optimise(parse(made, target_machine), target_machine, is_final=kernel.is_final)
    if at == "llvm":
        return str(module)
    target_machine.set_asm_verbosity(True)
    text: str = target_machine.emit_assembly(module)
    return text + _hot(text)


def _hot(assembly: str) -> str:
    """A comment that says which lines are the hot loop, and what it is made of."""
    from tdl.compiler.assembly import hot_loop

    loop = hot_loop(assembly)
    return "" if loop is None else f"\n# hot loop, lines {loop.first + 1} to {loop.last + 1}: {loop.summary()}\n"


def nest_view(program: Program) -> tuple[NestLine, ...]:
    """The nest line by line, each with the definition and the text it came from."""
    return view(automatic_nest(program))


def view(nest: Nest) -> tuple[NestLine, ...]:
    """A nest line by line."""
    return (*_head(nest.program), *_lines(with_initialisations(nest)))


def _head(program: Program) -> Iterator[NestLine]:
    inputs = ", ".join(_declared(program.tensors[name]) for name in program.inputs)
    outputs = ", ".join(_declared(program.tensors[name]) for name in program.outputs)
    yield NestLine(f"op {program.name}({inputs}) -> {outputs if len(program.outputs) == 1 else f'({outputs})'}")
    for tensor in program.tensors.values():
        if tensor.role == "intermediate":
            yield NestLine(f"let {_declared(tensor)}")


def _declared(tensor: Tensor) -> str:
    shape = f"[{', '.join(map(str, tensor.shape))}]" if tensor.shape else ""
    return f"{tensor.name}: {tensor.dtype}{shape}"


def _lines(nest: Nest) -> Iterator[NestLine]:
    for line in nest_lines(nest):
        yield NestLine(line.text, Origin(line.definition, line.span or NOWHERE, line.line), line.loop)


def _text(lines: tuple[NestLine, ...], places: Places | None) -> str:
    """The lines as one text: the names of loops in comments at the right, where lines came from at the left."""
    width = max(len(line.text) for line in lines if line.loop) + 4 if any(line.loop for line in lines) else 0
    texts = [f"{line.text:<{width}}# {line.loop}" if line.loop else line.text for line in lines]
    if places is not None:
        found = ["" if line.origin is None else places(line.origin) for line in lines]
        gutter = max(map(len, found))
        texts = [f"{place:>{gutter}} | {text}" for place, text in zip(found, texts)]
    return "".join(f"{text}\n" for text in texts)


def _llvm(kernel: Kernel, lines: Lines | None) -> str:
    from tdl.compiler.backends.llvm.kernel import kernel_text
    from tdl.compiler.backends.llvm.target import host

    return kernel_text(kernel, host(), lines).ir
