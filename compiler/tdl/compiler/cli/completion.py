"""What the shell offers behind Tab: error codes, and the ops of the file that was named before."""

from __future__ import annotations

import typer
from tdl.language.codes import CODES


def codes(incomplete: str) -> list[tuple[str, str]]:
    """Error codes with what they mean."""
    return [(code, meaning) for code, meaning in CODES.items() if code.startswith(incomplete)]


def ops(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The ops of the file on the command line, with the first line of their docs. Nothing where it cannot be read."""
    from tdl.compiler.cli.fault import Fault
    from tdl.compiler.cli.files import read_source
    from tdl.language import syntax
    from tdl.language.parse import parse_file

    try:
        source, _ = read_source(str(context.params.get("file", "")))
    except Fault:
        return []
    items = [placed.item for placed in parse_file(source).items]
    found = [item for item in items if isinstance(item, syntax.Op) and item.name.text.startswith(incomplete)]
    return [(item.name.text, (item.doc or "").partition("\n")[0]) for item in found]
