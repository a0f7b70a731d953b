"""`tdlc show`: an op on its way to code, as loops, C, LLVM text or assembly; after each line of its schedule."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer
from tdl.compiler.cli.completion import ops
from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.files import read_text
from tdl.compiler.cli.ops import SET, find_op, refused
from tdl.compiler.cli.origins import finder, headline, places_of
from tdl.compiler.cli.passes import kernel_after, require_pass, timing_lines, verify_all
from tdl.compiler.cli.programs import checked_source, find_source
from tdl.compiler.cli.screen import Color, Screen, stderr, stdout
from tdl.compiler.cli.settings import Settings, read_settings
from tdl.compiler.clock import Clock
from tdl.language.frame import Fragment, Line

if TYPE_CHECKING:
    from tdl.compiler.steps import Steps
    from tdl.language.analysis import Analysis
    from tdl.language.scope import Declaration
    from tdl.language.tree import Program


class Stage(str, Enum):
    """The values of `--at`."""

    nest = "nest"
    kernel = "kernel"
    c = "c"
    llvm_made = "llvm-made"
    llvm = "llvm"
    asm = "asm"


LEXERS = {Stage.c: "c", Stage.llvm_made: "llvm", Stage.llvm: "llvm", Stage.asm: "gas"}


def show(
    file: Annotated[str, typer.Argument(help="A program; `-` is standard input.", metavar="FILE")],
    op: Annotated[str, typer.Argument(help="The name of an op in it.", metavar="OP", autocompletion=ops)],
    at: Annotated[
        Stage,
        typer.Option(help="Named loops, loops on flat buffers, C, LLVM text as made or as optimised, or assembly."),
    ] = Stage.nest,
    step: Annotated[
        int | None, typer.Option(metavar="N", help="Only the first N lines of the schedule; by default all.")
    ] = None,
    diff: Annotated[bool, typer.Option("--diff", help="What the last of these lines changed.")] = False,
    lines: Annotated[
        bool, typer.Option("--lines", help="Which lines of the file each line of a nest, or each instruction, is for.")
    ] = False,
    scheduled: Annotated[
        bool, typer.Option("--schedule/--no-schedule", help="Under the schedule that holds, or as without any.")
    ] = True,
    after: Annotated[
        str | None, typer.Option("--after", "--dump-after", metavar="PASS", help="The kernel after a pass of lowering.")
    ] = None,
    time_passes: Annotated[
        bool, typer.Option("--time-passes", help="How long each phase takes, from text to machine code.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check the loops after each line, and the kernel after each pass.")
    ] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help=f"{SET} Also knobs.")] = None,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Print what the compiler makes of an op."""
    from tdl.compiler.lines import lines_of
    from tdl.compiler.preview import render_nest
    from tdl.language.parse import parse_file

    if time_passes:
        from tdl.compiler.timing import load_everything, time_code

        load_everything()
    clock = Clock()
    source = read_text(file)
    with clock.lap("parse"):
        parse_file(source)
    with clock.lap("check"):
        analysis = checked_source(source, color)
        declaration = find_op(analysis, op)
    with clock.lap("schedule"):
        made = steps(declaration, analysis if scheduled else None, read_settings(set_ or [], declaration))
    if after is not None:
        require_pass(after)
        at = Stage.kernel
    if at is not Stage.nest or time_passes:
        _require_values(made.program)
    if verify:
        verify_all(made, to_code=at is not Stage.nest)
    if time_passes:
        time_code(made.nest(step), clock, verified=verify)
        stdout(color).write(timing_lines(clock.laps))
        return
    last = len(made.steps) - 1 if step is None else step
    if not 0 <= last < len(made.steps):
        raise Fault(f"there is no step {last}: {_lines_of(made)}")
    if diff and last == 0:
        raise Fault(f"--diff shows what a line changed: {_lines_of(made)}", "--step 1 is the first")
    if at not in (Stage.nest, Stage.kernel, Stage.c):
        _check_texts(made, last, analysis, stderr(color))
    places = places_of(made, declaration, analysis) if lines else None

    debug = lines_of(declaration, made.schedule, finder(analysis)) if lines else None

    def render(count: int) -> str:
        if after is not None:
            return kernel_after(made.nest(count), after)
        return render_nest(made.nest(count), at.value, places, debug)

    text = render(last)
    if diff:
        stdout(color).write([headline(made, last, analysis)])
        _write_diff(render(last - 1), text, stdout(color))
    else:
        _write(text, at, stdout(color))
    if made.schedule is not None and made.refused:
        _refuse(made, made.schedule, analysis, stderr(color))


def steps(op: Declaration, analysis: Analysis | None, settings: Settings) -> Steps:
    """The op with what is set bound and the rest symbolic, after each line of its schedule (none without a file)."""
    from tdl.compiler.schedule.choose import schedules_of
    from tdl.compiler.steps import steps_of
    from tdl.language.binding import BindError, instance_of
    from tdl.language.check import check_op

    schedules = [] if analysis is None else schedules_of(op, analysis.module.schedules)
    knobs = settings.take_knobs(schedules)
    try:
        checked = check_op(op, instance_of(op, settings.parameters, settings.sizes))
        for diagnostic in checked.diagnostics:
            if diagnostic.severity == "error":
                raise Fault(f"{op.name}: {diagnostic.message}", "; ".join(diagnostic.notes), ERRORS)
        return steps_of(op, schedules, parameters=settings.parameters, sizes=settings.sizes, knobs=knobs)
    except BindError as error:
        raise refused(op, error, {}) from None
    except ValueError as error:
        raise Fault(str(error)) from None


def _lines_of(made: Steps) -> str:
    if made.schedule is None:
        return f"no schedule of `{made.program.name}` holds"
    return f"the schedule of `{made.program.name}` has {len(made.steps) - 1} lines"


def _require_values(program: Program) -> None:
    """Code is made for one dtype and one value of each parameter; sizes may stay open."""
    open_ = [name for name, value in program.parameters.items() if value is None]
    if open_:
        raise Fault(f"`{program.name}` needs a value for {' and '.join(open_)} to become code", f"--set {open_[0]}=...")


def _check_texts(made: Steps, step: int, analysis: Analysis, screen: Screen) -> None:
    """End the command where the text of an intrinsic is nothing that LLVM takes."""
    from tdl.compiler.runtime.scheduled import ScheduleError, check_texts

    try:
        check_texts(made.nest(step), finder(analysis))
    except ScheduleError as error:
        screen.diagnostics(error.diagnostics, error.source, find_source)
        raise typer.Exit(ERRORS) from None


def _refuse(made: Steps, schedule: Declaration, analysis: Analysis, screen: Screen) -> None:
    """Show which lines were refused, and end the command."""
    from tdl.compiler.runtime.scheduled import ScheduleError

    found = [step.refusal for step in made.refused if step.refusal is not None]
    error = ScheduleError(schedule, found, finder(analysis))
    screen.diagnostics(error.diagnostics, error.source, find_source)
    raise typer.Exit(ERRORS)


# ---- writing


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
        before, bar, rest = line.rpartition(" | ")
        code, mark, name = rest.partition("  # ")
        body = code.lstrip()
        indent = Fragment(code[: len(code) - len(body)])
        word = body.partition(" ")[0]
        is_keyword = word in ("for", "op", "let", "if", "parallel", "unrolled", "vector", "lanes")
        head = Fragment(word, "place" if is_keyword else "")
        yield (Fragment(before + bar, "dim"), indent, head, Fragment(body[len(word) :]), Fragment(mark + name, "dim"))


def _write_diff(before: str, after: str, screen: Screen) -> None:
    """Every line of the text, those that went and those that came marked. How far right comments stand is no change."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, list(map(_unaligned, old)), list(map(_unaligned, new)), False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            screen.write((Fragment(f"  {line}"),) for line in new[start:end])
            continue
        screen.write((Fragment(f"- {line}", "removed"),) for line in old[first:last])
        screen.write((Fragment(f"+ {line}", "added"),) for line in new[start:end])


def _unaligned(line: str) -> str:
    return re.sub(r" {2,}# ", "  # ", line)
