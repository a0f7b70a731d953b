"""`tdlc explain CODE`: the page of a diagnostic code."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer
from tdl.compiler.cli.completion import codes
from tdl.compiler.cli.fault import Fault
from tdl.compiler.cli.screen import Color, Screen, stdout
from tdl.compiler.pages import page_path
from tdl.language.codes import CODES
from tdl.language.frame import Fragment, Line


def explain(
    code: Annotated[
        str | None,
        typer.Argument(help="The word in brackets of an error; all are listed without one.", autocompletion=codes),
    ] = None,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Say what an error code means, with an example and how to mend it."""
    screen = stdout(color)
    if code is None:
        screen.write(_table())
        return
    code = code.strip().removeprefix("error").removeprefix("warning").strip("[]: ").lower()
    if code not in CODES:
        close = difflib.get_close_matches(code, CODES, 1)
        raise Fault(
            f"there is no error code `{code}`", f"did you mean `{close[0]}`?" if close else "see `tdlc explain`"
        )
    _show(page(code), screen)


def page(code: str) -> str:
    """The text of a page."""
    return page_path(code).read_text(encoding="utf-8")


def _show(text: str, screen: Screen) -> None:
    if not screen.colored:
        screen.print(text.rstrip("\n"))
        return
    from tdl.compiler.cli.markdown import draw

    screen.write([(), *draw(text, min(screen.width or 100, 100) - 2), ()])


def _table() -> list[Line]:
    width = max(map(len, CODES))
    return [(Fragment(code.ljust(width), "place"), Fragment(f"  {meaning}")) for code, meaning in CODES.items()]
