"""`tdlc build`: a file's ops as a library that needs neither this compiler nor Python."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from tdl.compiler.cli.fault import ERRORS, Fault
from tdl.compiler.cli.files import STDIN, replace_file, unreachable
from tdl.compiler.cli.ops import find_op, refused
from tdl.compiler.cli.programs import checked_file
from tdl.compiler.cli.screen import Color, stderr, stdout
from tdl.compiler.cli.settings import read_settings
from tdl.language.frame import Fragment

if TYPE_CHECKING:
    from tdl.compiler.library.instances import Extra
    from tdl.language.analysis import Analysis

_DEFAULT = "so"


def build(
    file: Annotated[str, typer.Argument(help="A program; `-` is standard input.", metavar="FILE")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="Where the files go.")] = ".",
    emit: Annotated[
        list[str] | None,
        typer.Option(metavar="KINDS", help="so, obj, header, c, llvm, asm, python; with commas. By default so."),
    ] = None,
    target: Annotated[
        str, typer.Option(metavar="CPU|TRIPLE", help="host, x86-64, x86-64-v3, aarch64, riscv64, wasm32, armv7-m, ...")
    ] = "host",
    op: Annotated[list[str] | None, typer.Option("--op", metavar="OP", help="Only this op; may be repeated.")] = None,
    instance: Annotated[
        list[str] | None,
        typer.Option(metavar="'OP NAME=VALUE...'", help="A function for these parameters, and ranks as S=[0,0], too."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The library's name; by default the file's.")
    ] = None,
    linker: Annotated[
        str | None, typer.Option(metavar="CMD", help="The linker for so; by default a C compiler for the target.")
    ] = None,
    color: Annotated[Color, typer.Option(help="When to use colours.")] = Color.auto,
) -> None:
    """Compile a program's ops to a library with a C interface."""
    from tdl.compiler.library.build import BuildError, build_files
    from tdl.compiler.library.plan import PlanError, plan_library
    from tdl.compiler.library.target import TargetError, find_target

    emits = _emits(emit)
    try:
        machine = find_target(target)
    except TargetError as error:
        raise Fault(str(error), error.remedy) from None
    library_name = _name(file, name)
    _make_directory(output)
    analysis = checked_file(file, color)
    wanted = [find_op(analysis, each).name for each in op or ()]
    extra = [_instance(analysis, words) for words in instance or ()]
    try:
        library = plan_library(library_name, analysis, machine, wanted, extra)
        files = build_files(library, machine, emits, linker)
    except PlanError as error:
        raise Fault(str(error.args[0]), "; ".join(error.args[1:]), ERRORS) from None
    except BuildError as error:
        raise Fault(str(error), error.remedy) from None
    for relative, content in files.items():
        path = Path(output, relative)
        _make_directory(str(path.parent))
        replace_file(str(path), content)
    stdout(color).write((Fragment(str(Path(output, relative))),) for relative in files)
    stderr(color).write((Fragment("note", "note"), Fragment(f": {note}")) for note in library.notes)


def _emits(given: list[str] | None) -> list[str]:
    from tdl.compiler.library.build import EMITS

    kinds = [kind.strip() for words in given or [_DEFAULT] for kind in words.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in EMITS:
            raise Fault(f"--emit has no `{kind}`", f"it has {', '.join(EMITS)}")
    if not kinds:
        raise Fault("--emit names nothing", f"it has {', '.join(EMITS)}")
    return list(dict.fromkeys(kinds))


def _name(file: str, given: str | None) -> str:
    """The library's name, which begins the names of its functions."""
    if given is not None and not re.fullmatch(r"[A-Za-z]\w*", given, re.ASCII):
        raise Fault(f"--name {given}: a name is letters, digits and _, and begins with a letter")
    stem = "tdl_ops" if file == STDIN else Path(file).stem
    name = given or re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if name[:1].isalpha() else f"lib{name}"


def _make_directory(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        raise Fault(f"-o {path}: that is a file, and libraries are several", "name a directory") from None
    except OSError as error:
        raise unreachable(path, error) from None
    if not os.access(path, os.W_OK):
        raise Fault(f"no permission to write into {path}")


def _instance(analysis: Analysis, words: str) -> Extra:
    """An instance of an op as it is written: `conv2d stride=2 T=f64`."""
    from tdl.language.binding import BindError, instance_of

    name, *rest = words.split() or [""]
    op = find_op(analysis, name)
    settings = read_settings(_joined(rest), op)
    try:
        return op, instance_of(op, settings.parameters, settings.sizes)
    except BindError as error:
        raise refused(op, error, {}) from None


def _joined(words: Sequence[str]) -> list[str]:
    """Lists that were written with blanks in them are one word."""
    found: list[str] = []
    for word in words:
        if found and found[-1].count("[") > found[-1].count("]"):
            found[-1] += word
        else:
            found.append(word)
    return found
