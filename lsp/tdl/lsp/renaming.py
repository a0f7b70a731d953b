"""Renames, tried on a copy of the workspace before they are given to anybody.

A rename is right if afterwards every name means what it meant, and nothing more is wrong. So that is what is checked:
all files that change are analysed with the new name in them, and compared name by name. A clash or a capture is then a
refusal that says where.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from tdl.grammar.tables import load_tables
from tdl.language import occurrences, syntax
from tdl.language.analysis import Analysis
from tdl.language.diagnostic import Diagnostic
from tdl.language.occurrences import Definition, Occurrence
from tdl.language.source import Source, Span
from tdl.lsp.uris import import_path
from tdl.lsp.uses import uses
from tdl.lsp.workspace import Workspace

_NAME = re.compile(r"[^\W\d]\w*")


class CannotRename(Exception):
    """Why there is no rename, in words for the user."""


@dataclass(frozen=True)
class Rename:
    """The spans that change in each file, in order, and what stands there then."""

    spans: Mapping[str, tuple[Span, ...]]
    old: str
    new: str

    def moved(self, path: str, span: Span) -> Span:
        """Where a span of the old text is in the new one. One that changes stays whole."""
        return Span(self._moved(path, span.start), self._moved(path, span.end))

    def _moved(self, path: str, offset: int) -> int:
        before = sum(each.start < offset for each in self.spans.get(path, ()))
        return offset + before * (len(self.new) - len(self.old))

    def text(self, source: Source) -> str:
        text = source.text
        for span in reversed(self.spans.get(source.path, ())):
            text = text[: span.start] + self.new + text[span.end :]
        return text


def renamable(definitions: Collection[Definition]) -> Definition:
    """What a rename at a place would rename, or a refusal."""
    if not definitions:
        raise CannotRename("there is no name here that could be changed")
    for each in definitions:
        if each.is_builtin:
            raise CannotRename(f"`{each.name}` is the language's own")
        if import_path(each.path).startswith("<std"):
            raise CannotRename(f"`{each.name}` is of the standard library")
        if each.kind == "module":
            raise CannotRename(f"`{each.name}` is a file: rename that, and the paths that lead to it")
    return next(iter(definitions))


def rename(workspace: Workspace, definitions: Collection[Definition], new: str) -> Rename:
    """Rename what stands at a place, in all files; or say why not."""
    old = renamable(definitions).name
    if _NAME.fullmatch(new) is None:
        raise CannotRename(f"`{new}` is not a name: letters, digits and `_`, and no digit first")
    if new in load_tables().words["reserved"]:
        raise CannotRename(f"`{new}` is a reserved word")
    group = _group(workspace, definitions)
    renamable(group)
    if any(each.name != old for each in group):
        others = ", ".join(sorted({f"`{each.name}`" for each in group if each.name != old}))
        raise CannotRename(f"`{old}` also means {others} here: they would have to be renamed together")
    spans: dict[str, list[Span]] = {}
    for use in uses(workspace, group):
        spans.setdefault(use.source.path, []).append(use.occurrence.span)
    made = Rename({path: tuple(sorted(set(found), key=_start)) for path, found in spans.items()}, old, new)
    _check_before(workspace, made)
    _check_after(workspace, made, group)
    return made


def _start(span: Span) -> int:
    return span.start


def _group(workspace: Workspace, definitions: Collection[Definition]) -> frozenset[Definition]:
    """With everything that shares a place with them: a loop over an index of two definitions names both."""
    group: frozenset[Definition] = frozenset()
    more = frozenset(definitions)
    while more - group:
        group |= more
        more = frozenset(
            each.definition
            for use in uses(workspace, group)
            for each in occurrences.at(workspace.analysis(use.source), use.occurrence.span.start)
            if each.span == use.occurrence.span
        )
    return group


def _analysis(workspace: Workspace, path: str) -> Analysis:
    source = workspace.read(path)
    if source is None:
        raise CannotRename(f"{path} cannot be read any more")
    return workspace.analysis(source)


def _errors(analysis: Analysis) -> Iterable[Diagnostic]:
    return (each for each in analysis.diagnostics if each.severity == "error")


# ---- before and after


def _check_before(workspace: Workspace, made: Rename) -> None:
    """Refuse where an item that has the name has errors: what it means there may not be known."""
    word = re.compile(rf"\b{re.escape(made.old)}\b")
    for path in made.spans:
        analysis = _analysis(workspace, path)
        for error in _errors(analysis):
            for entry in analysis.module.entries:
                start, text = entry.placed.offset, entry.placed.parsed.text
                if start <= error.primary.start <= start + len(text) and word.search(text):
                    line = analysis.source.position(error.primary.start).line
                    where = f"line {line} of {path}"
                    raise CannotRename(f"what `{made.old}` means is not sure while there is an error on {where}")


def _check_after(workspace: Workspace, made: Rename, group: frozenset[Definition]) -> None:
    """Refuse where a name would mean something else, or something would be wrong that was not."""
    edited = workspace.with_texts({path: made.text(_analysis(workspace, path).source) for path in made.spans})
    for path in made.spans:
        before, after = _analysis(workspace, path), _analysis(edited, path)
        known = {(each.code, made.moved(path, each.primary).start) for each in before.diagnostics}
        for error in after.diagnostics:
            if (error.code, error.primary.start) not in known:
                line = after.source.position(error.primary.start).line
                raise CannotRename(f"`{made.new}` cannot be used here: line {line}: {error.message}")
        if len(before.module.entries) != len(after.module.entries):
            raise CannotRename(f"`{made.new}` would be the keyword of an item in {path}")
        for old, new in zip(before.module.entries, after.module.entries):
            if old.declaration == new.declaration and not isinstance(old.placed.item, syntax.Import):
                continue  # neither it nor what it refers to has changed
            expected = {_moved(each, path, made, group) for each in occurrences.of_item(before, old)}
            found = expected ^ set(occurrences.of_item(after, new))
            for each in sorted(found, key=lambda each: each.span.start):
                line = after.source.position(each.span.start).line
                raise CannotRename(f"`{made.new}` would mean something else on line {line} of {path}")


def _moved(occurrence: Occurrence, path: str, made: Rename, group: frozenset[Definition]) -> Occurrence:
    """An occurrence as it should be after the rename."""
    definition = occurrence.definition
    name = made.new if definition in group else definition.name
    place = definition.span if definition.is_builtin else made.moved(definition.path, definition.span)
    return Occurrence(made.moved(path, occurrence.span), replace(definition, name=name, span=place), occurrence.access)
