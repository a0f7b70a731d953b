"""`analyse`: the one entry for everything that wants to know what a file means.

Parsing is memoised per item and checking per declaration, so analysing a file again after an edit costs what the edit
touches. Nothing is read from disk here: `read` gives the text of an imported file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath

from tdl.language import syntax
from tdl.language.cases import check_case
from tdl.language.check import check_op
from tdl.language.constants import check_constant
from tdl.language.decode import decode
from tdl.language.diagnostic import Diagnostic, Fix
from tdl.language.functions import check_function, check_reducer
from tdl.language.graphs import check_graph
from tdl.language.hardware import check_hardware, check_intrinsic
from tdl.language.module import Module, build_module
from tdl.language.parse import parse_file
from tdl.language.schedules.check import check_schedule
from tdl.language.schedules.tactics import check_tactic
from tdl.language.scope import Declaration, closest
from tdl.language.source import Source

Read = Callable[[str], "Source | str | None"]
"""The source at a path, why there is one that cannot be taken, or None where there is none."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """A checked file. `diagnostics` have absolute spans, in order of place."""

    source: Source
    file: syntax.File
    module: Module
    diagnostics: tuple[Diagnostic, ...]

    @property
    def has_errors(self) -> bool:
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


def analyse(source: Source, read: Read | None = None) -> Analysis:
    """Parse and check a file and what it imports. `read` is by default the file system."""
    return _Loader(read or read_import).analyse(source)


def read_file(path: str) -> Source | None:
    """The source on disk; None where it cannot be read as text."""
    found = read_import(path)
    return found if isinstance(found, Source) else None


def read_import(path: str) -> Source | str | None:
    """The source on disk; why it cannot be read, or None where there is no such file."""
    from pathlib import Path

    try:
        source, fault = decode(path, Path(path).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        return f"{error.strerror}: {path}"
    return source if fault is None else fault.message


MAX_IMPORTS = 50
"""Of modules that import each other in a chain."""


class _Loader:
    """Follows imports once each, and notices circles."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._done: dict[str, Analysis] = {}
        self._open: list[str] = []

    def analyse(self, source: Source) -> Analysis:
        self._open.append(str(PurePath(source.path)))
        file = parse_file(source)
        module = build_module(source, file, lambda path: self._import(path, source))
        self._open.pop()
        found = [*file.diagnostics, *module.diagnostics]
        for entry in module.entries:
            offset = entry.placed.offset
            found.extend(each.shifted(offset) for each in entry.placed.parsed.diagnostics)
            found.extend(each.shifted(offset) for each in diagnose_item(entry.declaration))
        found = [_suggested(each, source, module) for each in found]
        ordered = tuple(sorted(found, key=lambda each: (each.primary.start, each.primary.end)))
        return Analysis(source, file, module, ordered)

    def _import(self, path: str, importer: Source) -> Module | str:
        location = locate(path, importer.path)
        if location in self._open:
            return f"`{path}` imports this module in turn"
        if len(self._open) > MAX_IMPORTS:
            return f"imports nest more than {MAX_IMPORTS} deep"
        analysis = self._done.get(location)
        if analysis is None:
            source = self._read(location) if not path.startswith("std.") else standard(path)
            if source is None:
                return _missing(path, location)
            if isinstance(source, str):
                return f"`{path}` cannot be read: {source}"
            analysis = self.analyse(source)
            self._done[location] = analysis
        for diagnostic in analysis.diagnostics:
            if diagnostic.severity == "error":
                line = analysis.source.position(diagnostic.primary.start).line
                return f"`{path}` has an error on line {line}: {diagnostic.message}"
        return analysis.module


def locate(path: str, importer: str) -> str:
    """Where an import path points: beside the importing file, or into the standard library."""
    parts = path.split(".")
    if parts[0] == "std":
        return f"<{path}>"
    return str(PurePath(importer).parent.joinpath(*parts).with_suffix(".tdl"))


@lru_cache(maxsize=64)
def standard(path: str) -> Source | None:
    """A module of the standard library, which ships with the language."""
    from importlib.resources import files

    resource = files("tdl.language").joinpath("std")
    for part in path.split(".")[1:-1]:
        resource = resource.joinpath(part)
    resource = resource.joinpath(f"{path.split('.')[-1]}.tdl")
    return Source(f"<{path}>", resource.read_text(encoding="utf-8")) if resource.is_file() else None


def standard_modules() -> list[str]:
    """The names of all modules of the standard library."""
    from importlib.resources import files

    names = (entry.name for entry in files("tdl.language").joinpath("std").iterdir())
    return sorted(f"std.{name[:-4]}" for name in names if name.endswith(".tdl"))


def _missing(path: str, location: str) -> str:
    if path.startswith("std.") or path == "std":
        known = ", ".join(f"`{name}`" for name in standard_modules())
        return f"the standard library has no `{path}` (it has {known})"
    return f"there is no `{path}`: no file {location}"


def _suggested(diagnostic: Diagnostic, source: Source, module: Module) -> Diagnostic:
    """With the closest name of the module, where an unknown name is like none nearby.

    It is not found when the item is checked, as that depends only on what the item refers to, so as to be remembered.
    """
    if diagnostic.code != "unknown-name" or diagnostic.fixes:
        return diagnostic
    span = diagnostic.primary
    near = closest(source.text[span.start : span.end], module.names)
    if near is None:
        return diagnostic
    notes = (f"did you mean `{near}`?", *diagnostic.notes)
    return replace(diagnostic, notes=notes, fixes=(Fix(f"change to `{near}`", span, near),))


def diagnose_item(declaration: Declaration) -> list[Diagnostic]:
    """Everything wrong with one item beyond its syntax, that it is too deep to be checked included; spans in it."""
    try:
        return list(check_item(declaration))
    except RecursionError:
        return [Diagnostic("definition", f"`{declaration.name}` nests too deeply to be checked", declaration.span)]


def check_item(declaration: Declaration) -> Iterator[Diagnostic]:
    """Everything wrong with one item beyond its syntax; spans relative to it."""
    match declaration.item:
        case syntax.Const():
            yield from check_constant(declaration).diagnostics
        case syntax.Fn():
            yield from check_function(declaration).diagnostics
        case syntax.Reducer():
            yield from check_reducer(declaration).diagnostics
        case syntax.Op():
            yield from check_op(declaration).diagnostics
        case syntax.Test() | syntax.Bench():
            yield from check_case(declaration).diagnostics
        case syntax.Graph():
            yield from check_graph(declaration)
        case syntax.Schedule():
            yield from check_schedule(declaration)
        case syntax.Tactic():
            yield from check_tactic(declaration)
        case syntax.Intrinsic():
            yield from check_intrinsic(declaration)
        case syntax.Memory() | syntax.TargetItem():
            yield from check_hardware(declaration)
