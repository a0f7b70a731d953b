"""`tdlc show`: an op on its way to code, as loops, as LLVM text or as assembly."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer
from tdl.compiler.cli.completion import ops
from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.ops import SET, find_op, refused
from tdl.compiler.cli.programs import checked_file
from tdl.compiler.cli.screen import Color, Screen, stdout
from tdl.compiler.cli.settings import Settings, read_settings
from tdl.language.frame import Fragment, Line

if TYPE_CHECKING:
    from tdl.language.scope import Declaration
    from tdl.language.tree import Program


class Stage(str, Enum):
    """The values of `--at`."""

    nest = "nest"
    kernel = "kernel"
    llvm_made = "llvm-made"
    llvm = "llvm"
    asm = "asm"


LEXERS = {Stage.llvm_made: "llvm", Stage.llvm: "llvm", Stage.asm: "gas"}


def show(
    file: Annotated[str, typer.Argument(help="A program; `-` is standard input.", metavar="FILE")],
    op: Annotated[str, typer.Argument(help="The name of an op in it.", metavar="OP", autocompletion=ops)],
    at: Annotated[
        Stage, typer.Option(help="Named loops, loops on flat buffers, LLVM text as made or as optimised, or assembly.")
    ] = Stage.nest,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=SET)] = None,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Print what the compiler makes of an op."""
    declaration = find_op(checked_file(file, color), op)
    program = instance(declaration, read_settings(set_ or [], declaration))
    if at is not Stage.nest:
        _require_values(program)
    from tdl.compiler.preview import render_stage

    _write(render_stage(program, at.value), at, stdout(color))


def instance(op: Declaration, settings: Settings) -> Program:
    """The op with what is set bound, and the rest symbolic."""
    from tdl.language.binding import BindError, instance_of
    from tdl.language.check import check_op

    try:
        checked = check_op(op, instance_of(op, settings.parameters, settings.sizes))
    except BindError as error:
        raise refused(op, error, {}) from None
    for diagnostic in checked.diagnostics:
        if diagnostic.severity == "error":
            raise Fault(f"{op.name}: {diagnostic.message}", "; ".join(diagnostic.notes), ERRORS)
    return checked.program


def _require_values(program: Program) -> None:
    """Code is made for one dtype and one value of each parameter; sizes may stay open."""
    open_ = [name for name, value in program.parameters.items() if value is None]
    if open_:
        raise Fault(f"`{program.name}` needs a value for {' and '.join(open_)} to become code", f"--set {open_[0]}=...")


def _write(text: str, at: Stage, screen: Screen) -> None:
    text = text.rstrip("\n")
    if not screen.colored:
        screen.print(text)
    elif at in (Stage.nest, Stage.kernel):
        screen.write(_nest_lines(text))
    else:
        from rich.console import Console
        from rich.syntax import Syntax

        code = Syntax(text, LEXERS[at], theme="ansi_dark", background_color="default")
        Console(file=screen.stream, force_terminal=True, width=screen.width or 160).print(code)


def _nest_lines(text: str) -> Iterator[Line]:
    """Loops in colour, their names dim."""
    for line in text.splitlines():
        code, mark, name = line.partition("  # ")
        body = code.lstrip()
        indent = Fragment(code[: len(code) - len(body)])
        word = body.partition(" ")[0]
        is_keyword = word in ("for", "op", "let", "if")
        head = Fragment(word, "place" if is_keyword else "")
        yield (indent, head, Fragment(body[len(word) :]), Fragment(mark + name, "dim"))
