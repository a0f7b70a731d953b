"""`tdlc schedule`: the schedule that the compiler writes for an op, as text to paste."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from tdl.compiler.cli.completion import ops
from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.ops import SET, find_op, refused
from tdl.compiler.cli.programs import checked_program
from tdl.compiler.cli.screen import Color, stdout
from tdl.compiler.cli.settings import read_settings
from tdl.language.frame import Fragment, Line


def schedule(
    file: Annotated[str, typer.Argument(help="A program; `-` is standard input.", metavar="FILE")],
    op: Annotated[str, typer.Argument(help="The name of an op in it.", metavar="OP", autocompletion=ops)],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=SET)] = None,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Write a schedule for an op, each line with its reason, to paste below it."""
    from tdl.compiler.schedule.check import cases_of
    from tdl.compiler.schedule.planner.automatic import automatic_schedule
    from tdl.compiler.schedule.planner.text import block
    from tdl.language.binding import BindError, instance_of
    from tdl.language.check import check_op

    analysis = checked_program(file, color)
    declaration = find_op(analysis, op)
    settings = read_settings(set_ or [], declaration)
    try:
        checked = check_op(declaration, instance_of(declaration, settings.parameters, settings.sizes))
        for diagnostic in checked.diagnostics:
            if diagnostic.severity == "error":
                raise Fault(f"{op}: {diagnostic.message}", "; ".join(diagnostic.notes), ERRORS)
        cases = cases_of(analysis, declaration)
        made = automatic_schedule(declaration, parameters=settings.parameters, sizes=settings.sizes, cases=cases)
    except BindError as error:
        raise refused(declaration, error, {}) from None
    screen = stdout(color)
    screen.write(map(_coloured, block(made).splitlines()))


def _coloured(line: str) -> Line:
    """The verb in colour, the reason dim."""
    code, mark, reason = line.partition("# ")
    body = code.lstrip()
    word = body.partition(" ")[0]
    return tuple(_parts(code[: len(code) - len(body)], word, body[len(word) :], mark + reason))


def _parts(indent: str, word: str, rest: str, comment: str) -> Iterator[Fragment]:
    yield Fragment(indent)
    yield Fragment(word, "place")
    yield Fragment(rest)
    yield Fragment(comment, "dim")
