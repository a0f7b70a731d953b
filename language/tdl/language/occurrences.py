"""Where the names of a file stand and what each means: what definition, references and rename in editors rest on.

    op relu(X: f32[N]) -> Y: f32[N] { Y[i] = max(X[i], 0) }
    schedule relu { split Y.i by 8 -> io, ii }

Here `i` occurs three times, and each time means the `i` of `Y[i]`; `io` is defined where the line makes it.

    at(analysis, offset)          the occurrences that touch an offset (several where a name means several things)
    of(analysis, definition)      all occurrences of one thing in a file, in order of place
    of_item(analysis, entry)      all occurrences in one item

Meanings are found by the checker's own rules, also in text that has errors elsewhere; a name that means nothing does
not occur. What a definition is does not depend on the file that asks, so occurrences in several files can be compared.
An item is looked through once, and again only when its text or the text of what it refers to changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tdl.language import syntax
from tdl.language.analysis import Analysis, locate
from tdl.language.mentions.data import Access, Kind, Meaning, item_meaning
from tdl.language.mentions.items import mentions
from tdl.language.module import SPACES, Entry
from tdl.language.scope import Declaration
from tdl.language.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Definition:
    """Something that has a name. `span` is absolute in the file `path`.

    A module is the whole file, with an empty span, and named by the last part of its path. What the language itself
    knows has no path, and `is_builtin`.
    """

    kind: Kind
    name: str
    path: str
    span: Span

    @property
    def is_builtin(self) -> bool:
        return not self.path


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in the text, by its absolute span, without what stands before its dot."""

    span: Span
    definition: Definition
    access: Access

    @property
    def is_declaration(self) -> bool:
        return self.access == "declare"


def at(analysis: Analysis, offset: int) -> tuple[Occurrence, ...]:
    """What stands at an offset; of two names that meet there, the one that begins there."""
    for entry in reversed(analysis.module.entries):
        if entry.placed.offset <= offset:
            found = [each for each in of_item(analysis, entry) if each.span.start <= offset <= each.span.end]
            start = max((each.span.start for each in found), default=0)
            return tuple(each for each in found if each.span.start == start)
    return ()


def of(analysis: Analysis, definition: Definition) -> Iterator[Occurrence]:
    """Every occurrence of one thing in a file."""
    for entry in analysis.module.entries:
        if definition.name in entry.placed.parsed.text:
            yield from (each for each in of_item(analysis, entry, definition.name) if each.definition == definition)


def of_item(analysis: Analysis, entry: Entry, name: str | None = None) -> Iterator[Occurrence]:
    """Every occurrence in one item, or those of things with one name."""
    item, offset = entry.placed.item, entry.placed.offset
    if isinstance(item, syntax.Import):
        yield from _of_import(item, offset, analysis)
        return
    for mention in mentions(entry.declaration):
        meaning = mention.meaning
        if name is None or meaning.name == name or meaning.kind == "module":
            definition = _definition(meaning, entry.declaration)
            if definition is not None:
                yield Occurrence(mention.span.shifted(offset), definition, mention.access)


def _definition(meaning: Meaning, declaration: Declaration) -> Definition | None:
    if meaning.is_builtin:
        return Definition(meaning.kind, meaning.name, "", NOWHERE)
    if meaning.kind == "module":
        return _module(meaning.name, declaration.path)
    holder: Declaration | None = declaration
    for key in meaning.via:
        holder = None if holder is None else holder.environment.find(*key)
    if holder is None:
        return None
    return Definition(meaning.kind, meaning.name, holder.path, meaning.span.shifted(holder.offset))


def _module(path: str, importer: str) -> Definition:
    return Definition("module", path.rpartition(".")[2], locate(path, importer), Span(0, 0))


def _of_import(item: syntax.Import, offset: int, analysis: Analysis) -> Iterator[Occurrence]:
    """The module that is imported, and what is taken from it by name."""
    module = _module(item.path.text, analysis.source.path)
    yield Occurrence(item.path.span.shifted(offset), module, "read")
    for name in item.names or ():
        for space in SPACES:
            declaration = analysis.module.exports.get((space, name.text))
            definition = None if declaration is None else _definition(item_meaning(declaration), declaration)
            if definition is not None:
                yield Occurrence(name.span.shifted(offset), definition, "read")
