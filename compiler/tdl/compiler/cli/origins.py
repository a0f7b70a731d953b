"""Where a line of a printed nest comes from: the definition and the line of the schedule, as places in files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tdl.compiler.cli.programs import find_source
from tdl.language.frame import Fragment, Line

if TYPE_CHECKING:
    from tdl.compiler.kernel.tree import Origin
    from tdl.compiler.steps import Steps
    from tdl.language.analysis import Analysis
    from tdl.language.scope import Declaration
    from tdl.language.source import Source


def headline(made: Steps, step: int, analysis: Analysis) -> Line:
    """A line of the schedule, as it is written, and where."""
    from tdl.language import syntax

    schedule = made.schedule
    assert schedule is not None
    assert isinstance(schedule.item, syntax.Schedule)
    source = analysis.source if schedule.path == analysis.source.path else find_source(schedule.path)
    span = schedule.item.body[step - 1].span
    text, place = f"step {step}", ""
    if source is not None:
        start = schedule.offset + span.start
        text = source.text[start : schedule.offset + span.end]
        place = f"{schedule.path.rpartition('/')[2]}:{source.position(start).line}: "
    return (Fragment(place, "dim"), Fragment(text, "place"))


def finder(analysis: Analysis) -> Callable[[str], Source | None]:
    """Gives the text of a file: the one that the command was given, or one that it takes from."""
    return lambda path: analysis.source if path == analysis.source.path else find_source(path)


def places_of(made: Steps, op: Declaration, analysis: Analysis) -> Callable[[Origin], str]:
    """The line of the definition, then that of the schedule; with the file's name where it is another one."""
    from tdl.language import syntax

    def place(declaration: Declaration, offset: int) -> str:
        own = declaration.path == analysis.source.path
        source = analysis.source if own else find_source(declaration.path)
        if source is None:
            return ""
        line = source.position(declaration.offset + offset).line
        return str(line) if own else f"{declaration.path.rpartition('/')[2]}:{line}"

    def places(origin: Origin) -> str:
        found = [place(op, origin.span.start)] if origin.definition >= 0 else []
        if made.schedule is not None and origin.line >= 0:
            assert isinstance(made.schedule.item, syntax.Schedule)
            found.append(place(made.schedule, made.schedule.item.body[origin.line].span.start))
        return ", ".join(each for each in found if each)

    return places
