"""A program's own failure while it runs, drawn at the place in the program that raised it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdl.compiler.cli.programs import find_source
from tdl.compiler.cli.screen import Screen
from tdl.language.diagnostic import Diagnostic
from tdl.language.frame import Fragment
from tdl.language.render import render

if TYPE_CHECKING:
    from tdl.language.analysis import Analysis
    from tdl.language.failure import Failure
    from tdl.language.scope import Declaration


def show_failure(failure: Failure, op: Declaration, analysis: Analysis, screen: Screen) -> None:
    """Like a diagnostic, without a code: the program is right, its data are not."""
    source = analysis.source if op.path == analysis.source.path else find_source(op.path)
    head = (Fragment("error", "error"), Fragment(f": {failure}", "message"))
    if source is None:
        screen.write([head])
        return
    place = Diagnostic("run", str(failure), failure.span.shifted(op.offset))
    _, *picture = render(place, source, frame=screen.frame, width=screen.width)
    screen.write([head, *picture])
