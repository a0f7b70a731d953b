"""Ranges and facts that an op lacks: what an index runs over, which of two sizes is the less, what is read outside.

y = sum(X[0] for k)                         sum(X[0] for k in 0..N)
a[k] = 1.5                                  a[k] = 1.5 for k in 0..N
op dot(A: f32[M], B: f32[K]) -> y: f32      ... where M == K
X[i - 1]                                    X[i - 1 | 0] · X[i - 1 | edge] · ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from tdl.language import syntax
from tdl.language.diagnostic import Diagnostic
from tdl.language.module import Entry
from tdl.language.source import Span
from tdl.lsp.actions.candidate import QUICK_FIX, Candidate, Choice, Edit
from tdl.lsp.snapshot import Snapshot

_MOST = 6
"""Sizes that are tried for a range."""


def missing_ranges(snapshot: Snapshot, found: Diagnostic) -> Iterator[Choice]:
    """What would bound an index, or settle between two bounds."""
    entry = snapshot.entry_at(found.primary.start)
    if entry is None or not isinstance(entry.placed.item, syntax.Op):
        return
    match found.code:
        case "unbounded-index":
            yield from _ranges(entry, found)
        case "ambiguous-range":
            yield from _facts(entry, found)
        case "out-of-bounds":
            yield from _boundaries(entry, found)


def _fix(title: str, found: Diagnostic, *edits: Edit) -> Choice:
    return (Candidate("mend", title, QUICK_FIX, edits, mends=found),)


# ---- ranges


def _ranges(entry: Entry, found: Diagnostic) -> Iterator[Choice]:
    """Each size for an index, those first that it is a subscript of."""
    here = found.primary
    statement = _statement(entry, here)
    if statement is None:
        return
    name = _text(entry, Span(here.start - entry.placed.offset, here.end - entry.placed.offset))
    for size in list(dict.fromkeys((*_sizes_of(entry, statement, name), *_sizes(entry))))[:_MOST]:
        yield _fix(f"let `{name}` run over 0..{size}", found, _ranged(entry, statement, here, name, size))


def _ranged(entry: Entry, statement: syntax.Definition, here: Span, name: str, size: str) -> Edit:
    """The range behind the index where a reduction has it; of an index on the left, at the end of the definition."""
    is_left = any(_contains(target.span.shifted(entry.placed.offset), here) for target in statement.targets)
    clause = statement.clause
    end = statement.span.end + entry.placed.offset
    if not is_left:
        return Edit(Span(here.end, here.end), f" in 0..{size}")
    if clause is None or not clause.binders:
        return Edit(Span(end, end), f" for {name} in 0..{size}")
    last = clause.binders[-1].span.end + entry.placed.offset
    return Edit(Span(last, last), f", {name} in 0..{size}")


def _sizes_of(entry: Entry, statement: syntax.Definition, name: str) -> Iterator[str]:
    """The sizes of the axes that an index alone is a subscript of, of tensors that are declared."""
    for node in _walk(statement):
        if isinstance(node, syntax.Index):
            shape = _shapes(entry).get(node.base.text, ())
            for subscript, size in zip(node.subscripts, shape):
                if isinstance(subscript, syntax.Ref) and subscript.text == name:
                    yield size


def _sizes(entry: Entry) -> Iterator[str]:
    for shape in _shapes(entry).values():
        yield from shape


def _shapes(entry: Entry) -> dict[str, tuple[str, ...]]:
    """The sizes of the tensors in an op's head; those with a pack are left out."""
    item = entry.placed.item
    assert isinstance(item, syntax.Op)
    return {
        declared.name.text: tuple(_text(entry, size.span) for size in declared.type.shape)
        for declared in (*item.inputs, *item.outputs)
        if not any(isinstance(size, syntax.Pack) for size in declared.type.shape)
    }


# ---- facts


def _facts(entry: Entry, found: Diagnostic) -> Iterator[Choice]:
    """A fact that says which of the sizes an index is a subscript for is the less, or that they are the same."""
    statement = _statement(entry, found.primary)
    if statement is None:
        return
    offset = entry.placed.offset
    name = _text(entry, Span(found.primary.start - offset, found.primary.end - offset))
    sizes = list(dict.fromkeys(_sizes_of(entry, statement, name)))
    for position, first in enumerate(sizes):
        for second in sizes[position + 1 :]:
            for fact in (f"{first} == {second}", f"{first} <= {second}", f"{second} <= {first}"):
                yield _fix(f"state that {fact}", found, _stated(entry, fact))


def _stated(entry: Entry, fact: str) -> Edit:
    item, offset = entry.placed.item, entry.placed.offset
    assert isinstance(item, syntax.Op)
    last = item.facts[-1] if item.facts else item.outputs[-1] if item.outputs else item.name
    end = last.span.end + offset
    if item.facts:
        return Edit(Span(end, end), f", {fact}")
    brace = entry.placed.parsed.text.find("{", last.span.end) + offset
    text = entry.placed.parsed.text[last.span.end : brace - offset].rstrip()
    place = last.span.end + len(text) + offset
    return Edit(Span(place, place), f" where {fact}")


# ---- boundaries


def _boundaries(entry: Entry, found: Diagnostic) -> Iterator[Choice]:
    """What is read outside of a tensor, beside the 0 that the checker proposes."""
    text = _text(entry, Span(found.primary.start - entry.placed.offset, found.primary.end - entry.placed.offset))
    if text.endswith("]") and found.fixes:
        place = Span(found.primary.end - 1, found.primary.end - 1)
        for mode, title in (
            ("edge", "read the edge outside"),
            ("wrap", "wrap around"),
            ("mirror", "mirror at the edge"),
        ):
            yield _fix(title, found, Edit(place, f" | {mode}"))


# ---- the text of an op


def _statement(entry: Entry, here: Span) -> syntax.Definition | None:
    item = entry.placed.item
    assert isinstance(item, syntax.Op)
    for statement in item.body:
        if isinstance(statement, syntax.Definition) and _contains(statement.span.shifted(entry.placed.offset), here):
            return statement
    return None


def _contains(span: Span, other: Span) -> bool:
    return span.start <= other.start and other.end <= span.end


def _text(entry: Entry, span: Span) -> str:
    return entry.placed.parsed.text[span.start : span.end]


def _walk(node: object) -> Iterator[syntax.Node]:
    if isinstance(node, tuple):
        for each in node:
            yield from _walk(each)
    elif isinstance(node, syntax.Node):
        yield node
        for part in fields(node):
            yield from _walk(getattr(node, part.name))
