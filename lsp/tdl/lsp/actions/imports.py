"""Names that another file declares, imported: those of the standard library, and of the programs beside this one.

Y[i] = relu(X[i])          from std.nn import relu
Y = std.nn.relu(X)         import std.nn
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePath

from tdl.language import syntax
from tdl.language.analysis import locate, standard, standard_modules
from tdl.language.diagnostic import Diagnostic
from tdl.language.parse import parse_file
from tdl.language.scope import NAMESPACES
from tdl.language.source import Source, Span
from tdl.lsp.actions.candidate import QUICK_FIX, Candidate, Choice, Edit, line_end
from tdl.lsp.snapshot import Snapshot

_CODES = ("unknown-name", "unknown-loop", "not-a-value")


def missing_imports(snapshot: Snapshot, found: Diagnostic) -> Iterator[Choice]:
    """Imports of what an unknown name may mean."""
    if found.code not in _CODES:
        return
    name = snapshot.source.text[found.primary.start : found.primary.end]
    head, _, last = name.rpartition(".")
    for path, source in _modules(snapshot):
        if last not in _declared(source):
            continue
        if head == path:
            edit = _new_import(snapshot, f"import {path}")
            yield (Candidate("import", f"import {path}", QUICK_FIX, (edit,), mends=found),)
        elif not head:
            edit = import_of(snapshot, path, last)
            yield (Candidate("import", f"import `{last}` from {path}", QUICK_FIX, (edit,), mends=found),)


def _modules(snapshot: Snapshot) -> Iterator[tuple[str, Source]]:
    """Import paths and the texts behind them."""
    for path in standard_modules():
        source = standard(path)
        if source is not None:
            yield path, source
    folder = PurePath(snapshot.source.path).parent
    for file in snapshot.workspace.files():
        path = _path_from(folder, file)
        source = snapshot.workspace.read(file) if path and file != snapshot.source.path else None
        if source is not None:
            yield path, source


def _path_from(folder: PurePath, file: str) -> str:
    """What a file beside or below a folder is imported by; empty for any other."""
    try:
        parts = PurePath(file).relative_to(folder).with_suffix("").parts
    except ValueError:
        return ""
    path = ".".join(parts)
    is_path = all(part.isidentifier() for part in parts) and parts[0] != "std"
    return path if is_path and locate(path, str(folder / "_")) == file else ""


@lru_cache(maxsize=256)
def _declared(source: Source) -> frozenset[str]:
    """The names that a file declares."""
    items = (placed.item for placed in parse_file(source).items)
    names = (getattr(item, "name", None) for item in items if type(item) in NAMESPACES)
    return frozenset(name.text for name in names if isinstance(name, syntax.Name))


# ---- where an import goes


def import_of(snapshot: Snapshot, path: str, *names: str) -> Edit:
    """Names added to what is imported from a module already, or an import of their own."""
    for placed in snapshot.analysis.file.items:
        item = placed.item
        if isinstance(item, syntax.Import) and item.path.text == path and item.names:
            end = item.names[-1].span.end + placed.offset
            return Edit(Span(end, end), "".join(f", {name}" for name in names))
    return _new_import(snapshot, f"from {path} import {', '.join(names)}")


def _new_import(snapshot: Snapshot, line: str) -> Edit:
    """A line below the last import; without any, above the first item."""
    items, end_of_line = snapshot.analysis.file.items, line_end(snapshot.source.text)
    imports = [placed for placed in items if isinstance(placed.item, syntax.Import)]
    if imports:
        end = imports[-1].item.span.shifted(imports[-1].offset).end
        return Edit(Span(end, end), f"{end_of_line}{line}")
    start = items[0].offset if items else 0
    return Edit(Span(start, start), f"{line}{end_of_line}{end_of_line}")
