"""`tdlc fmt`: the one layout of a file."""

from __future__ import annotations

import codecs
import difflib
import sys
from collections.abc import Iterator
from typing import Annotated

import typer
from tdl.compiler.cli.fault import ERRORS
from tdl.compiler.cli.files import STDIN, find_sources, read_bytes, read_text, replace_file
from tdl.compiler.cli.screen import Color, Screen, shown, stderr, stdout
from tdl.language.diagnostic import InternalError
from tdl.language.frame import Fragment, Line, Style
from tdl.language.source import Source


def fmt(
    files: Annotated[
        list[str], typer.Argument(help="Files or directories; `-` is standard input.", metavar="FILES...")
    ],
    check: Annotated[bool, typer.Option("--check", help="Change nothing; fail if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Change nothing; show what would change.")] = False,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Lay files out in the one standard way. A file that does not parse is left alone."""
    screen, errors, changed, refused = stdout(color), stderr(color), 0, 0
    for path in find_sources(files):
        source = read_text(path)
        result = lay_out(source, errors)
        if result is None:
            refused += 1
            result = source.text
        elif result != source.text:
            changed += 1
        if diff:
            screen.write(_diff(source, result))
        elif check and result != source.text:
            screen.write([(Fragment("would change ", "warning"), Fragment(shown(source.path)))])
        elif path == STDIN and not check:
            sys.stdout.buffer.write(result.encode("utf-8"))
        elif result != source.text and not check:
            replace_file(path, _mark(path) + result.encode("utf-8"))
            screen.write([(Fragment("formatted ", "good"), Fragment(shown(source.path)))])
    if refused or (changed and (check or diff)):
        raise typer.Exit(ERRORS)


def lay_out(source: Source, errors: Screen) -> str | None:
    """The text as it should be, or None after reporting why it does not parse."""
    from tdl.language.format import format_text
    from tdl.language.parse import parse_file

    parsed = parse_file(source)
    found = [
        *parsed.diagnostics,
        *(d.shifted(placed.offset) for placed in parsed.items for d in placed.parsed.diagnostics),
    ]
    if found:
        errors.diagnostics(found, source)
        return None
    result = format_text(source.text)
    if _ink(result) != _ink(source.text):
        raise InternalError(f"formatting {source.path} would lose or add characters, so it was left as it is")
    return result


def _mark(path: str) -> bytes:
    """The byte-order mark, if the file has one: decoding takes it off."""
    return codecs.BOM_UTF8 if read_bytes(path).startswith(codecs.BOM_UTF8) else b""


def _ink(text: str) -> str:
    """What must survive: every character but blanks, of which U+FEFF is one."""
    return "".join(text.replace("\ufeff", " ").split())


def _diff(source: Source, result: str) -> Iterator[Line]:
    before, after = source.text.splitlines(), result.splitlines()
    path = shown(source.path)
    styles: dict[str, Style] = {"+": "added", "-": "removed", "@": "frame"}
    for line in difflib.unified_diff(before, after, path, f"{path} (formatted)", lineterm=""):
        yield (Fragment(shown(line), "message" if line[:3] in ("---", "+++") else styles.get(line[:1], "")),)
